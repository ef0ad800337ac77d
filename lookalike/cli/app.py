"""The commands there are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lookalike import __version__
from lookalike.cli import asking, filling, forgetting, keeping, measuring, serving, trusting
from lookalike.cli.options import Json, Quiet
from lookalike.cli.terminal import Progresses

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Show me everything with this person in it: find face sets in an unlabelled collection.",
    epilog="Exit codes: 0 done, 1 a mistake of ours, 2 wrong usage, 3 bad input, 4 not found, 5 conflict, "
    "6 unreadable gallery, 7 storage failed, 130 interrupted, 143 ended.",
)


@app.callback(invoke_without_command=True)
def start(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Find face sets in an unlabelled collection."""
    if version:
        print(f"lookalike {__version__}")
        raise typer.Exit


def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where to put the collection.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Another seed draws other people.")] = 0,
    quiet: Quiet = False,
) -> None:
    """Draw a collection of people who never existed, and find them: the whole tour in a minute."""
    from lookalike.cli.demo import run

    run(folder, seed, Progresses(quiet))


def doctor(json: Json = False) -> None:
    """Say which parts work on this machine, and what to install for the others."""
    from lookalike.cli.doctor import report

    report(json)


def models(json: Json = False) -> None:
    """Name every model file: its SHA-256, licence, source, what it was trained on, for whom it is weak."""
    from lookalike.cli.models import report

    report(json)


# In the order in which a newcomer needs them.
app.command()(demo)
app.command()(filling.add)
app.command()(filling.describe)
app.command()(keeping.index)
app.command()(keeping.train)
app.command()(asking.find)
app.command()(asking.explain)
app.command()(serving.serve)
app.command()(measuring.evaluate)
app.command()(measuring.compare)
app.command()(keeping.status)
app.command("list")(keeping.list_sets)
app.command()(keeping.remove)
app.command()(forgetting.forget)
app.command()(keeping.export)
app.command()(keeping.merge)
app.command(
    hidden=True,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)(keeping.split)
app.command()(trusting.verify)
app.command()(trusting.backup)
app.command()(trusting.restore)
app.command()(trusting.upgrade)
app.command()(trusting.history)
app.command()(doctor)
app.command()(models)
