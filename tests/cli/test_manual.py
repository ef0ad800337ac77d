"""Man page, shell completion, and what is said to whoever gives no command."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from lookalike.cli.app import app
from lookalike.cli.manual import FIRST, SHELLS, completion, manual
from lookalike.errors import BadInput
from tests.cli_process import works
from tests.waiting import PATIENCE

GROUP = get_command(app)
COMMANDS = {name: GROUP.get_command(None, name) for name in GROUP.list_commands(None)}
SHOWN = {name: command for name, command in COMMANDS.items() if not command.hidden}


def spellings(name: str) -> list[str]:
    params = (param for param in SHOWN[name].params if param.opts[0].startswith("-"))
    return [spelt for param in params for spelt in (*param.opts, *param.secondary_opts)]


@pytest.mark.parametrize("name", SHOWN)
def test_every_command_and_option_is_in_the_man_page(name: str) -> None:
    page = manual(GROUP)
    [part] = re.findall(rf"^\.SS lookalike {name}\b.*?(?=^\.S[SH] )", page, re.MULTILINE | re.DOTALL)
    told = re.findall(r"^\.B (.*)$", part, re.MULTILINE)
    assert all(any(spelt.replace("-", "\\-") in line for line in told) for spelt in spellings(name))


def test_the_man_page_is_one() -> None:
    page = manual(GROUP)
    assert page.startswith(".TH LOOKALIKE 1 ")
    assert [line for line in page.splitlines() if line.startswith("'")] == []
    assert [line for line in page.splitlines() if not line.strip()] == []
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True, timeout=PATIENCE
        )
        assert (done.returncode, done.stderr) == (0, "")
        shown = re.sub(r"\x1b\[\d*m|.\x08", "", done.stdout)
        assert "lookalike add GALLERY SOURCE..." in " ".join(shown.split())
        assert "Exit codes: 0 done" in " ".join(shown.split())


def complete(*words: str) -> list[str]:
    """What bash offers behind these words."""
    script = completion(GROUP, "bash") + '\n_lookalike; printf "%s\\n" "${COMPREPLY[@]}"'
    before = f"COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}\n"
    done = subprocess.run(
        ["bash", "-c", before + script], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert not done.stderr
    return done.stdout.split()


def test_bash_offers_commands_and_the_options_of_each() -> None:
    assert complete("lookalike", "ex") == ["explain", "export"]
    assert set(complete("lookalike", "")) == {*SHOWN, *complete("lookalike", "--")}
    assert complete("lookalike", "forget", "g", "--bl") == ["--block", "--block-alike", "--blocked"]
    assert complete("lookalike", "find", "g", "") == [], "left to bash, which offers files"


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_knows_every_command(shell: str) -> None:
    script = completion(GROUP, shell)
    assert all(re.search(rf"\b{name}\b", script) for name in SHOWN)
    assert "unblock" in script


def test_another_shell_is_refused() -> None:
    with pytest.raises(BadInput, match="no completion for 'tcsh': give bash, zsh or fish"):
        completion(GROUP, "tcsh")


def test_without_a_command_the_first_one_is_told(tmp_path: Path) -> None:
    assert works(cwd=tmp_path).out == FIRST
    for command in re.findall(r"^  lookalike (\w+)", FIRST, re.MULTILINE):
        assert command in SHOWN


def test_options_of_before_go_on_working() -> None:
    from lookalike.cli.app import FORMER

    known = {spelt.removeprefix("--") for spelt in spellings("forget")}
    assert set(FORMER.values()) <= known
    assert not set(FORMER) & known, "they are not listed any more"
    context = COMMANDS["forget"].make_context("forget", ["g", "a", "--bar", "--unbar", "3"])
    assert context.params["bar"] is True
    assert context.params["unbar"] == 3
