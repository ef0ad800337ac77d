"""Man page and shell completion, made of the commands as they are: nothing in them is typed by hand."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any, Final

from lookalike import __version__
from lookalike.errors import BadInput

FIRST: Final = """\
lookalike finds every clip and photo of a person in a collection that nobody has labelled.

  lookalike open FOLDER   your own videos and photos: a page opens, and people appear on it
  lookalike demo          no folder at hand? drawn people who never existed
  lookalike --help        all commands
"""
SHELLS: Final = ("bash", "zsh", "fish")


def completion(group: Any, shell: str) -> str:
    """Script that completes commands and options of the program (a click group) in a shell.

    Raises BadInput unless that is bash, zsh or fish.
    """
    if shell not in SHELLS:
        raise BadInput(f"there is no completion for {shell!r}: give {', '.join(SHELLS[:-1])} or {SHELLS[-1]}")
    if shell == "fish":
        return "\n".join(_fish(group)) + "\n"
    known = {name: " ".join(_spellings(command)) for name, command in _commands(group)}
    cases = "\n".join(f"    {name}) words={_quoted(options)} ;;" for name, options in known.items())
    script = textwrap.dedent("""\
        _lookalike() {
          local words="" at="${COMP_WORDS[COMP_CWORD]}"
          case "${COMP_WORDS[1]}" in
        CASES
          esac
          COMPREPLY=()
          if [ "$COMP_CWORD" -eq 1 ]; then
            COMPREPLY=($(compgen -W FIRST -- "$at"))
          elif [ "${at#-}" != "$at" ]; then
            COMPREPLY=($(compgen -W "$words" -- "$at"))
          fi
        }
        complete -o default -F _lookalike lookalike
        """)
    script = script.replace("CASES", cases).replace("FIRST", _quoted(" ".join([*known, *_spellings(group)])))
    before = "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"
    return before + script if shell == "zsh" else script


def manual(group: Any) -> str:
    """The man page lookalike(1) of the program (a click group), in the language of troff."""
    page = [
        f'.TH LOOKALIKE 1 "" "lookalike {__version__}" "User Commands"',
        ".SH NAME",
        "lookalike \\- " + _troff("find a person in an unlabelled collection of videos and photos"),
        ".SH SYNOPSIS",
        ".B lookalike\n.I COMMAND\n[\n.I OPTION\n\\&... ]",
        ".SH DESCRIPTION",
        _troff(group.help),
        ".SH OPTIONS",
        *_options(group),
        ".SH COMMANDS",
    ]
    for name, command in _commands(group):
        words = [param.metavar or param.name.upper() for param in command.params if not _is_option(param)]
        page += [".SS " + _troff(" ".join(["lookalike", name, *words])), _troff(command.help)]
        page += [
            part
            for param in command.params
            if not _is_option(param)
            for part in (".TP", f".I {_troff(param.metavar or param.name.upper())}", _troff(param.help))
        ]
        page += _options(command)
    page += [".SH EXIT STATUS", _troff(group.epilog)]
    return "\n".join(page) + "\n"


def _commands(group: Any) -> list[tuple[str, Any]]:
    named = ((name, group.get_command(None, name)) for name in group.list_commands(None))
    return [(name, command) for name, command in named if not command.hidden]


def _is_option(param: Any) -> bool:
    return bool(param.opts[0].startswith("-"))


def _spellings(command: Any) -> list[str]:
    found = [
        spelt for param in command.params if _is_option(param) for spelt in param.opts + param.secondary_opts
    ]
    return [*(spelt for spelt in found if spelt.startswith("--")), "--help"]


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish(group: Any) -> Iterator[str]:
    for name, command in _commands(group):
        yield f"complete -c lookalike -n __fish_use_subcommand -a {name} -d {_quoted(_plain(command.help))}"
        for param in command.params:
            if _is_option(param):
                for spelt in (*param.opts, *param.secondary_opts):
                    kind = f"-l {spelt[2:]}" if spelt.startswith("--") else f"-s {spelt[1:]}"
                    seen = f"'__fish_seen_subcommand_from {name}'"
                    yield f"complete -c lookalike -n {seen} {kind} -d {_quoted(_plain(param.help))}"
    for spelt in _spellings(group):
        yield f"complete -c lookalike -n __fish_use_subcommand -l {spelt[2:]}"


def _options(command: Any) -> list[str]:
    page = []
    for param in command.params:
        if _is_option(param):
            shown = ", ".join([*param.opts, *param.secondary_opts])
            value = "" if param.is_flag else " " + (param.metavar or "VALUE")
            page += [".TP", f".B {_troff(shown + value)}", _troff(param.help + _default(param))]
    return page


def _default(param: Any) -> str:
    """The default of an option, if it has one that its help does not name."""
    named = param.is_flag or param.default in (None, "") or callable(param.default) or "default" in param.help
    return "" if named else f" [default: {param.default}]"


def _plain(text: str | None) -> str:
    """Words of a help text in one line, without what Rich would read in them."""
    return " ".join((text or "").replace("\\[", "[").split())


def _troff(text: str | None) -> str:
    """A line that troff shows as it is."""
    line = _plain(text).replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", line)
