"""The commands there are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lookalike import __version__
from lookalike.cli import add, backup, decisions, evaluate, exchange, find, gallery, mcp, people, serve
from lookalike.cli.output import Json, Progresses, Quiet

app = typer.Typer(
    # Both are made by `lookalike.cli.manual`, without a question put to the program at every key.
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Show me everything with this person in it: find face sets in an unlabelled collection.",
    epilog="Exit codes: 0 done, 1 a mistake of ours, 2 wrong usage, 3 bad input, 4 not found, 5 conflict, "
    "6 unreadable gallery, 7 storage failed, 129 terminal closed, 130 interrupted, 143 ended.",
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    completion: Annotated[
        str | None, typer.Option(metavar="SHELL", help="Print the completion script of bash, zsh or fish.")
    ] = None,
    manual: Annotated[bool, typer.Option("--manual", help="Print the man page.")] = False,
) -> None:
    """Find face sets in an unlabelled collection."""
    if not (version or completion is not None or manual) and context.invoked_subcommand:
        return
    from lookalike.cli import manual as made

    if version:
        print(f"lookalike {__version__}")
    elif completion is not None:
        print(made.completion(context.command, completion), end="")
    elif manual:
        print(made.manual(context.command), end="")
    else:
        print(made.FIRST, end="")
    raise typer.Exit


def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where to put the collection.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Another seed draws other people.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page at the end, if there is a screen.")
    ] = True,
    quiet: Quiet = False,
) -> None:
    """Draw a collection of people who never existed, and find them: the whole tour in a minute."""
    from lookalike.cli.demo import run

    gallery = run(folder, seed, Progresses(quiet))
    if browser and serve.has_screen():
        print()
        serve.serve(gallery)


def doctor(json: Json = False) -> None:
    """Say which parts work on this machine, and what to install for the others."""
    from lookalike.cli.doctor import report_parts

    report_parts(json)


def models(json: Json = False) -> None:
    """Name every model file: its SHA-256, licence, source, what it was trained on, for whom it is weak."""
    from lookalike.cli.doctor import report_models

    report_models(json)


# Options of `forget` as they were called before 0.14, which go on working.
FORMER = {"bar": "block", "bar-alike": "block-alike", "barred": "blocked", "unbar": "unblock"}

# In the order in which a newcomer needs them.
app.command("open")(serve.open_folder)
app.command()(demo)
app.command()(add.add)
app.command()(add.describe)
app.command()(gallery.index)
app.command()(gallery.train)
app.command()(find.find)
app.command()(find.explain)
app.command()(people.people)
app.command()(decisions.judge)
app.command()(decisions.name)
app.command()(decisions.undo)
app.command()(serve.serve)
app.command()(mcp.mcp)
app.command()(evaluate.evaluate)
app.command()(evaluate.compare)
app.command()(gallery.status)
app.command("list")(gallery.list_sets)
app.command()(gallery.remove)
app.command(context_settings={"token_normalize_func": lambda token: FORMER.get(token, token)})(gallery.forget)
app.command()(exchange.export)
app.command("import")(exchange.import_names)
app.command()(gallery.merge)
app.command(
    hidden=True,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)(gallery.split)
app.command()(backup.verify)
app.command()(backup.backup)
app.command()(backup.restore)
app.command()(backup.upgrade)
app.command()(backup.history)
app.command()(doctor)
app.command()(models)
