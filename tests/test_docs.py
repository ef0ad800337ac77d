"""Documentation cannot drift: it is held against the code, and every example in it runs."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest
import typer
import yaml
from typer.main import get_command

import lookalike
from lookalike import errors, registry
from lookalike.cli.app import app
from lookalike.parameters import PARAMETERS
from tests.cli_process import Ended, Ready
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]
FOLDERS = {"tutorial", "how-to", "reference", "explanation", "lab"}
FOUND = sorted((ROOT / "docs").rglob("*.md"))
DOCS = {page.name: page for page in FOUND}
PAGES = [ROOT / "README.md", *FOUND]
OTHERS = [ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")]

WHOLE = get_command(app)
EVERY = {name: WHOLE.get_command(None, name) for name in WHOLE.list_commands(None)}
COMMANDS = {name: one for name, one in EVERY.items() if not one.hidden}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED_FILE = re.compile(r"`((?:[\w.]+/)*[\w.]+\.py)(?::([\w.]+))?`")
# Put together here, so that this file does not hold what it forbids.
MACHINE_PATHS = re.compile("|".join(re.escape(f"/{name}/") for name in ("work", "root")))


def text_of(name: str) -> str:
    """Text of a page, by its file name: no two folders have pages of one name."""
    return DOCS[name].read_text(encoding="utf-8")


def blocks(page: Path) -> Iterator[tuple[str, str, int]]:
    """Kind, text and line of every fenced block."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        yield found[1], found[2], text[: found.start()].count("\n") + 2


def by_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_page_has_a_folder_and_a_name_of_its_own() -> None:
    assert len(DOCS) == len(FOUND), "two pages have one name"
    assert {page.parent.name for page in FOUND} == {"docs", *FOLDERS}
    top = {"index.md", "glossary.md", "faq.md", "troubleshooting.md"}
    assert {page.name for page in FOUND if page.parent.name == "docs"} == top


def test_every_page_is_in_the_menu_of_the_site() -> None:
    listed = re.findall(
        r"^ +- (?:\w+: )?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(listed) == sorted(page.relative_to(ROOT / "docs").as_posix() for page in FOUND)


def test_the_site_builds_without_a_warning_and_without_the_network(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    fetched = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"(https?:[^\"]*)")
    for page in (tmp_path / "site").rglob("*.html"):
        found = fetched.search(page.read_text(encoding="utf-8"))
        assert not found, f"{page.name} loads {found[1]}" if found else ""


def test_the_glossary_is_short_and_used() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", text_of("glossary.md"), re.MULTILINE)
    assert 10 < len(words) <= 20
    everything = " ".join(
        page.read_text(encoding="utf-8") for page in PAGES if page.name != "glossary.md"
    ).lower()
    assert [word for word in words if word not in everything] == []


# Words that the field does not use for these things. In code they are names that users know; pages of the lab
# have titles of runs in them.
FORMER = re.compile(r"\bfilms?\b|footage|second stage|\b(?:un)?barred\b", re.IGNORECASE)


@pytest.mark.parametrize(
    "page", [page for page in (*PAGES, *OTHERS) if page.parent.name != "lab"], ids=by_name
)
def test_one_word_a_thing(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return  # of earlier versions, in their words
    prose = re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", BLOCK.sub("", page.read_text(encoding="utf-8")))
    found = FORMER.search(prose)
    assert not found, f"{by_name(page)} says {found[0]!r}" if found else ""


def test_one_word_a_thing_in_help() -> None:
    for name, command in COMMANDS.items():
        for text in (command.help, *(given.help for given in command.params)):
            assert not FORMER.search(text), f"help of {name}: {text}"


def test_every_picture_is_shown_on_a_page() -> None:
    shown = {Path(picture).name for page in PAGES for picture in LINK.findall(page.read_text("utf-8"))}
    for folder in ("images", "lab/figures"):
        for picture in (ROOT / "docs" / folder).iterdir():
            assert picture.name in shown, f"no page shows {by_name(picture)}"


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "lab").glob("*.md")), ids=by_name)
def test_every_page_of_the_lab_says_how_when_and_by_which_version(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.search(r"`(make|python -m) [\w. -]+`", text), "by which command?"
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", text), "when?"
    assert re.search(r"\b0\.\d+\.\d+\b", text), "by which version?"


# Examples.


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    process = Ready()
    yield process
    process.close()


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_examples_run(page: Path, ready: Ready, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python blocks share a namespace and a folder; commands run in it too, and say what the page shows."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    for kind, text, line in blocks(page):
        if kind == "python":
            # Empty lines in front make a traceback point into the page.
            exec(compile("\n" * (line - 1) + text, str(page), "exec"), names)
        elif kind == "console":
            check_session(text, ready, tmp_path, f"{by_name(page)}, line {line}")


class Runs(Protocol):
    """Whatever runs the program."""

    def run(self, *words: str, cwd: Path) -> Ended:
        """What came of it."""


# What is said of long work every ten seconds, as on a machine that is busy with other tests.
PROGRESS = re.compile(r"^[a-z ]+: \d+( of \d+, about \d+ s left)?(; .*)?\n", re.MULTILINE)


def check_session(text: str, ready: Runs, folder: Path, where: str) -> None:
    """Run the commands of a session and compare what they say; `...` stands for anything."""
    ended = Ended(0, "", "")
    for entry in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, shown = entry.partition("\n")
        words = shlex.split(line)
        if words == ["echo", "$?"]:
            said = str(ended.code)
        else:
            assert words[0] == "lookalike", f"{where}: only lookalike is run here, not {line!r}"
            ended = ready.run(*words[1:], cwd=folder)
            said = PROGRESS.sub("", ended.err) + ended.out
        real, told = ("\n".join(row.rstrip() for row in both.strip().splitlines()) for both in (said, shown))
        pattern = re.escape(told).replace(re.escape("..."), ".*")
        assert re.fullmatch(pattern, real, re.DOTALL), (
            f"{where}: `{line}` says\n{real}\nbut the page shows\n{told}"
        )


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=by_name)
def test_example_scripts_run(script: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr


# Commands.


def options(command: str) -> list[typer.core.TyperOption]:
    return [given for given in COMMANDS[command].params if isinstance(given, typer.core.TyperOption)]


def section(page: str, heading: str) -> str:
    [found] = re.findall(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text_of(page), re.DOTALL | re.MULTILINE
    )
    return found


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_help_and_a_section_with_its_options(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    told = section("commands.md", name)
    assert f"`lookalike {name}" in told, "show how it is called"
    assert re.search(rf"lookalike {name}\s", "".join(re.findall(BLOCK, told)[0])), "show an example"
    table = "\n".join(row.split("|")[1] for row in told.splitlines() if row.startswith("| `-"))
    rows = re.findall(r"`(--?[\w-]+)[^`]*`", table)
    assert sorted(rows) == sorted(
        spelling for option in options(name) for spelling in (*option.opts, *option.secondary_opts)
    )
    usage = re.search(r"^`(lookalike [^`]*)`$", told, re.MULTILINE)
    assert usage
    for given in command.params:
        assert given.help, f"{given.name} has no help"
        # Rich takes what stands in square brackets for a style, and shows nothing.
        assert not re.search(r"\[[a-z]", given.help.replace("\\[", "")), f"help of {given.name} loses words"
        spelt = given.opts[0] if given.opts[0].startswith("-") else (given.metavar or "").strip("[].")
        assert spelt in usage[1], f"{spelt} is missing in how {name} is called"


def test_no_section_is_about_a_command_that_is_not_there() -> None:
    shown = set(re.findall(r"^`lookalike (\w+)", text_of("commands.md"), re.MULTILINE))
    assert shown == set(COMMANDS)
    for page in (*PAGES, *OTHERS):
        called = set(re.findall(r"`lookalike ([a-z]+)\b", page.read_text(encoding="utf-8")))
        assert called <= set(EVERY), f"{page.name} names commands that are not there"


SPOKEN = re.compile(r"(?:^|`)(?:\.venv/bin/)?(lookalike [a-z]+ [^`\n]*)", re.MULTILINE)


@pytest.mark.parametrize("page", [*PAGES, *OTHERS[:1]], ids=by_name)
def test_every_option_that_is_shown_is_there(page: Path) -> None:
    """Of commands that are shown and not run, too: the command and each of its options exist."""
    for line in SPOKEN.findall(page.read_text(encoding="utf-8")):
        name, _, rest = line.removeprefix("lookalike ").partition(" ")
        if name not in EVERY:
            continue  # a sentence; names of commands are held by the test above
        known = {spelt for one in EVERY[name].params for spelt in (*one.opts, *one.secondary_opts)} | {
            "--help"
        }
        given = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest.partition("  #")[0]))
        assert given <= known or EVERY[name].hidden, f"{by_name(page)}: `{line}` has {sorted(given - known)}"


def test_nothing_is_installed_by_a_name_that_is_not_ours() -> None:
    """No registry has this project: whoever types its name there gets something else."""
    for page in (*PAGES, *OTHERS):
        if page.name == "CHANGELOG.md":
            continue
        found = re.search(
            r"(?:pip|pipx|uv tool) install ['\"]?lookalike(?!\[\w+\] @)", page.read_text("utf-8")
        )
        assert not found, f"{by_name(page)} says {found[0]!r}" if found else ""


def test_every_option_of_the_program_itself() -> None:
    for option in get_command(app).params:
        assert option.help
        assert f"`lookalike {option.opts[0]}`" in text_of("commands.md")


def test_every_exit_code() -> None:
    shown = {int(code) for code in re.findall(r"^\| (\d+) \|", section("commands.md", "Exit codes"), re.M)}
    codes = {
        kind.exit_code
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, errors.LookalikeError)
    }
    assert shown == codes | {0, 2, 130}
    epilog = get_command(app).epilog
    assert {int(code) for code in re.findall(r"\d+", epilog)} >= shown - {1}


def test_every_environment_variable() -> None:
    package = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "lookalike").rglob("*.py"))
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    read = r"environ(?:\.get)?[\[(]\s*\"(LOOKALIKE_[A-Z]+)\""
    assert set(re.findall(read, package)) == set(re.findall(r"LOOKALIKE_[A-Z]+", text_of("commands.md")))
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert set(re.findall(read, tests)) == set(re.findall(r"LOOKALIKE_[A-Z]+", contributing))


# The method.


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_every_parameter_is_in_the_symbol_table(parameter: object) -> None:
    name, default, symbol, meaning = parameter
    row = f"| `{name}` | {default:g} | {symbol} | {meaning.replace('|', chr(92) + '|')} |"
    assert row in text_of("method.md").splitlines()


def definitions(path: Path) -> set[str]:
    """Names of what a file defines, with those of classes' methods behind a dot."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return found


def test_every_file_and_function_the_method_names_is_there() -> None:
    named = NAMED_FILE.findall(text_of("method.md"))
    named = [(file, name) for file, name in named if (file, name) != ("file.py", "name")]  # how to read them
    assert len(named) > 40
    for file, name in named:
        path = ROOT / "lookalike" / file
        assert path.is_file(), f"there is no {file}"
        assert not name or name in definitions(path), f"there is no {name} in {file}"


def test_the_method_names_every_file_that_holds_a_formula() -> None:
    named = {file for file, _ in NAMED_FILE.findall(text_of("method.md"))}
    folders = ("kernels", "method", "similarities", "preparations", "rerankers", "evaluation")
    held = {
        path.relative_to(ROOT / "lookalike").as_posix()
        for folder in folders
        for path in (ROOT / "lookalike" / folder).glob("*.py")
        if path.stem not in ("__init__", "drawing", "figures", "page", "report")
    }
    assert held <= named, f"docs/explanation/method.md does not say what {sorted(held - named)} hold"


# Parts.


def own_parts() -> Iterator[tuple[str, str, type]]:
    for kind in registry.KINDS:
        for name in registry.names(kind):
            yield kind, name, registry.part_class(kind, name)


def test_the_table_of_parts_lists_exactly_what_is_found() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| ([^|]*) \|", text_of("parts.md"), re.MULTILINE)
    expected = []
    for kind, name, cls in own_parts():
        known = inspect.signature(cls).parameters.values()
        told = ", ".join(f"`{option.name}={option.default}`" for option in known) or "none"
        expected.append((kind, name, told))
    assert sorted(rows) == sorted(expected)


def test_the_example_package_keeps_the_contract(tmp_path: Path) -> None:
    """The classes of the page, installed as its pyproject.toml says, pass the tests that ours pass."""
    found = {kind: text for kind, text, _ in blocks(DOCS["parts.md"]) if kind == "toml"}
    project = tomllib.loads(found["toml"])["project"]
    offered = project["entry-points"]
    assert set(offered) == {f"lookalike.{kind}" for kind in registry.KINDS}
    code = "".join(text for kind, text, _ in blocks(DOCS["parts.md"]) if kind == "python")
    kept = ast.Import | ast.ImportFrom | ast.ClassDef
    classes = [ast.unparse(node) for node in ast.parse(code).body if isinstance(node, kept)]
    package = tmp_path / "more_lookalike"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "parts.py").write_text("\n".join(classes), encoding="utf-8")
    facts = tmp_path / "more_lookalike-0.1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.1.0\n")
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in offered.items()
    )
    (facts / "entry_points.txt").write_text("\n".join(groups))
    names = " or ".join(name for points in offered.values() for name in points)
    tests = [f"tests/{kind}/test_contract.py" for kind in registry.KINDS]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-k", names, *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 40, done.stdout


# The Python interface.


@pytest.mark.parametrize("name", lookalike.__all__)
def test_every_public_name_is_documented(name: str) -> None:
    assert f"`{name}`" in text_of("python.md")
    public = getattr(lookalike, name)
    assert public.__doc__
    told = [public.__doc__, *(inspect.getdoc(one) or "" for one in vars(public).values() if callable(one))]
    assert not FORMER.search(re.sub(r"`[^`]*`", "", " ".join(told)))
    if inspect.isclass(public):
        for member, value in vars(public).items():
            if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                assert value.__doc__, f"{name}.{member} has no docstring"


def test_every_public_member_of_a_gallery_is_in_the_table() -> None:
    members = {name for name in dir(lookalike.Gallery) if not name.startswith("_")} - {"close"}
    rows = re.findall(r"^\| (`.*?) \|", section("python.md", "A gallery that lasts"), re.MULTILINE)
    assert members <= set(re.findall(r"`(\w+)", " ".join(rows)))


# The project.


def test_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[?(\d[\w.]*)\]? - \d{4}-\d\d-\d\d$", changes, re.MULTILINE)
    assert newest
    assert newest[1] == project["version"] == lookalike.__version__
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {newest[1]}\n" in cited


def anchors(page: Path) -> set[str]:
    """Fragments of a page's headings, as GitHub makes them."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=by_name)
def test_links_lead_somewhere(page: Path) -> None:
    """Links, anchors and pictures; every picture is one, and says what it shows."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for told, picture in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", text):
        assert told, f"{by_name(page)}: {picture} has no words for those who do not see it"
        start = (page.parent / picture).read_bytes()[:200]
        assert start.startswith((b"\x89PNG", b"<?xml", b"<svg")), picture
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, fragment = link.partition("#")
        target = page if not file else (page.parent / file).resolve()
        assert target.exists(), f"{page.name} points to {link}, which is not there"
        assert not fragment or fragment in anchors(target), f"{page.name} points to {link}: no such heading"


def test_the_layers_are_told_as_they_are() -> None:
    from tests.test_layers import LAYERS

    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for level, names in LAYERS.items():
        [row] = re.findall(rf"^\| {level} .*$", contributing, re.MULTILINE)
        told = {name.rstrip("/").replace("/", ".") for name in re.findall(r"`([\w/]+)`", row)}
        assert told == set(names)


def test_workflows_run_targets_that_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    pythons = set()
    for file in (ROOT / ".github" / "workflows").iterdir():
        for name, job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].items():
            assert set(job) <= {"runs-on", "timeout-minutes", "steps", "strategy"}, name
            pythons |= set(job.get("strategy", {}).get("matrix", {}).get("python", ()))
            for step in job["steps"]:
                assert ("uses" in step) != ("run" in step), f"{name}: {step}"
                made = re.findall(r"^make ([a-z-]+)", step.get("run", ""), re.MULTILINE)
                assert set(made) <= targets, f"{name} runs {made}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {f"Programming Language :: Python :: {one}" for one in pythons} <= set(project["classifiers"])


def test_no_file_names_a_folder_of_this_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("this is not a git checkout")
    tracked = {ROOT / os.fsdecode(name) for name in listed.stdout.split(b"\0") if name}
    for path in sorted({*tracked, *PAGES, *OTHERS}):
        if path.is_file() and path.suffix not in (".png", ".npz"):
            found = MACHINE_PATHS.search(path.read_text(encoding="utf-8", errors="replace"))
            assert not found, f"{by_name(path)} holds {found[0]!r}" if found else ""
