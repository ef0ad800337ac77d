"""The commands there are."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, MutableMapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from lookalike import __version__
from lookalike.cli.output import Json, Progresses, Quiet

# Where the function of each command lies, by what it is for, in the order in which a newcomer needs them.
PANELS: Final = {
    "Start here": {"open": "serve.open_folder", "demo": "app.demo"},
    "Build a gallery": {
        "add": "add.add",
        "describe": "add.describe",
        "index": "gallery.index",
        "train": "gallery.train",
    },
    "Search": {
        "find": "find.find",
        "explain": "find.explain",
        "serve": "serve.serve",
        "mcp": "mcp.mcp",
        "export": "exchange.export",
    },
    "Say who is who": {
        "people": "people.people",
        "judge": "people.judge",
        "name": "people.name",
        "undo": "people.undo",
        "history": "backup.history",
        "import": "exchange.import_names",
    },
    "Keep a gallery": {
        "status": "gallery.status",
        "list": "gallery.list_sets",
        "remove": "gallery.remove",
        "forget": "gallery.forget",
        "verify": "backup.verify",
        "backup": "backup.backup",
        "restore": "backup.restore",
        "upgrade": "backup.upgrade",
        "merge": "gallery.merge",
        "split": "gallery.split",
    },
    "Measure and check": {
        "evaluate": "evaluate.evaluate",
        "compare": "evaluate.compare",
        "doctor": "app.doctor",
        "models": "app.models",
    },
}
PANEL_OF: Final = {name: panel for panel, commands in PANELS.items() for name in commands}
COMMANDS: Final = {name: function for commands in PANELS.values() for name, function in commands.items()}
# Options of `forget` as they were called before 0.14, which go on working.
FORMER: Final = {"bar": "block", "bar-alike": "block-alike", "barred": "blocked", "unbar": "unblock"}
SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "forget": {"context_settings": {"token_normalize_func": lambda token: FORMER.get(token, token)}},
    # There was a command of this name: it says what to do instead, whatever it is given.
    "split": {
        "hidden": True,
        "context_settings": {
            "allow_extra_args": True,
            "ignore_unknown_options": True,
            "help_option_names": [],
        },
    },
}


class Command(TyperCommand):
    """A command that takes plain words for what they are.

    Typer turns every word into a value by a library that takes longer to load than a query takes. It is left
    what is no text, path or whole number, and what is wrong.
    """

    def __init__(self, name: str | None, **settings: Any) -> None:
        super().__init__(name, **settings)
        _lighten_all(self)

    def get_help_option(self, ctx: Any) -> Any:
        """The option --help, which does nothing unless it is given."""
        return _bare(_lighten(super().get_help_option(ctx), _unless_given))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What a command needs behind its name; versions of Typer write it differently."""
        pieces = ["[OPTIONS]"]
        for one in self.params:
            word = one.metavar or ""
            if one.param_type_name == "argument":
                pieces.append(word if one.required or word[0] == "[" else f"[{word}]")
            elif one.required:
                pieces.append(f"{one.opts[0]} {word}")
        return pieces


def _lighten_all(command: Any) -> None:
    kinds = get_type_hints(inspect.unwrap(command.callback)) if command.callback else {}
    for one in command.params:
        _lighten(one, partial(_value, kinds.get(one.name or "")))
        if one.param_type_name == "argument" or one.is_flag:
            _bare(one)


def _bare(parameter: Any) -> Any:
    """Newer versions of Typer write <bool> behind a switch, as if a value had to be given."""
    if parameter is not None:
        parameter.display_type_rich = lambda ctx: None
    return parameter


def _lighten(parameter: Any, value: Callable[..., Any]) -> Any:
    """Have the value of a parameter told by a function that may ask Typer, its first argument."""
    if parameter is not None and not isinstance(parameter.process_value, partial):
        parameter.process_value = partial(value, parameter.process_value)
    return parameter


def _unless_given(process: Callable[..., Any], ctx: Any, given: Any) -> Any:
    return process(ctx, given) if given else given


def _value(kind: Any, process: Callable[..., Any], ctx: Any, given: Any) -> Any:
    """What words mean to a parameter of some kind; Typer is asked unless that is plain."""
    kinds = (kind, *get_args(kind))
    of = next((one for one in (str, Path) if list[one] in kinds), None)  # type: ignore[valid-type]
    if of is not None:
        values = [_plain(of, one) for one in given or ()]
        return values if values and None not in values else process(ctx, given)
    if type(given) in kinds:
        return given
    found = next((_plain(one, given) for one in (Path, int) if one in kinds and isinstance(given, str)), None)
    return process(ctx, given) if found is None else found


def _plain(kind: type, word: str) -> Any:
    """A word as text, path or whole number; None if it is not plainly one."""
    if kind is str:
        return word
    if kind is Path:
        return Path(word) if not os.path.exists(word) or os.access(word, os.R_OK) else None
    return int(word) if word.isascii() and word.isdecimal() else None


class Commands(TyperGroup):
    """The commands, each loaded when it is called: who asks need not wait for what reads videos."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        _lighten_all(self)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name; None if there is none."""
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            self.commands[cmd_name] = _command(cmd_name)
        elif cmd_name not in COMMANDS:
            self.list_commands(ctx)  # to say which name is nearest
        return self.commands.get(cmd_name)

    def get_help_option(self, ctx: Any) -> Any:
        """As of a command."""
        return _bare(_lighten(super().get_help_option(ctx), _unless_given))

    def list_commands(self, ctx: Any) -> list[str]:
        """All names."""
        known: MutableMapping[str, Any] = self.commands
        ordered = {name: known.get(name) or _command(name) for name in COMMANDS}
        self.commands = {**ordered, **known}
        return list(self.commands)


def _command(name: str) -> Any:
    module, _, function = COMMANDS[name].partition(".")
    alone = typer.Typer(add_completion=False)
    found = getattr(import_module(f"lookalike.cli.{module}"), function)
    alone.command(name, cls=Command, rich_help_panel=PANEL_OF[name], **SETTINGS.get(name, {}))(found)
    return typer.main.get_command(alone)


app = typer.Typer(
    cls=Commands,
    # Both are made by `lookalike.cli.manual`, without a question put to the program at every key.
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Find a person in videos and photos that nobody has labelled.",
    epilog="Exit codes: 0 done, 1 a bug, 2 wrong usage, 3 bad input, 4 not found, 5 conflict, "
    "6 unreadable gallery, 7 storage failed, 129 terminal closed, 130 interrupted, 143 terminated.",
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
    """Find a person in videos and photos that nobody has labelled."""
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
    folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for the drawn collection.")
    ] = Path("demo"),
    seed: Annotated[int, typer.Option(metavar="N", help="Seed; another one draws other people.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page at the end, if there is a screen.")
    ] = True,
    quiet: Quiet = False,
) -> None:
    """Take the tour in a minute: draw people who never existed, find one of them, open the page."""
    from lookalike.cli import serve
    from lookalike.cli.demo import run

    gallery = run(folder, seed, Progresses(quiet))
    if browser and serve.has_screen():
        print()
        serve.serve(gallery)


def doctor(json: Json = False) -> None:
    """Check what works on this machine, and say what to install for the rest."""
    from lookalike.cli.doctor import report_parts

    report_parts(json)


def models(json: Json = False) -> None:
    """List the model files: SHA-256, licence, source, training data, known weaknesses."""
    from lookalike.cli.doctor import report_models

    report_models(json)
