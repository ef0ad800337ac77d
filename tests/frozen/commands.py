"""What the command line says: a session of every command that has ``--json``, help texts, refusals."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import typer

from lookalike.cli.app import app
from tests.cli_process import Ready

# In this order, in one folder: what a command does is there for the next.
SESSION = """
add people.gallery people.npz --array embeddings
add people.gallery people.npz --array embeddings
add crops.gallery crops --cropped
add films.gallery film.mp4 photos --dry-run
add films.gallery film.mp4 photos
describe crops.gallery --descriptor lbp:radius=1
list crops.gallery
index people.gallery
index people.gallery --prepare within --similarity max_max:samples=5
train people.gallery --reranker learnt
find people.gallery 22c --top 5
find people.gallery asked.npz --top 3 --reranker csls
find people.gallery 22c --top 3 --reranker learnt --seed 1
explain people.gallery 22c 22f
explain people.gallery 22c 22f --reranker learnt
explain people.gallery asked.npz 22f --reranker geometric_mean
evaluate people.gallery --labels labels.csv --rerankers auto,csls
evaluate people.gallery --labels labels.csv --rerankers csls --split
status people.gallery
status crops.gallery
status old.gallery
verify people.gallery
backup people.gallery copy.gallery
remove people.gallery 00a 01a
find people.gallery 22c --top 3
forget people.gallery 02a 03a --bar
forget people.gallery --barred
add people.gallery people.npz --array embeddings
forget people.gallery --unbar 1
restore copy.gallery restored.gallery
history people.gallery
export people.gallery out.npz 22a 22b
history judged.gallery
export judged.gallery ada --person Ada
forget judged.gallery --person Ada --bar
history judged.gallery
list films.gallery --files
list films.gallery
status films.gallery
upgrade old.gallery
upgrade old.gallery
status old.gallery
history old.gallery
verify old.gallery
"""

# Refused, or ended otherwise, in the folder that the session left.
CALLS = """
--version
--nonsense
nonsense
find people.gallery
find people.gallery 22c --top 0
find people.gallery nobody
find missing.gallery 22c
find labels.csv 22c
find people.gallery 22c --reranker nonsense
find people.gallery 22c --reranker learnt:nonsense=1
find people.gallery 22c --prepare nonsense
find people.gallery 22c --engine nonsense
find people.gallery 22c --seed -1
find people.gallery people.npz
find people.gallery people.npz --set nobody
find people.gallery broken.npz
find damaged.gallery 22c
find newer.gallery 22c
explain people.gallery 22c nobody
explain people.gallery 22c 22c
add people.gallery
add people.gallery ''
add people.gallery missing.npz
add people.gallery broken.npz
add people.gallery conflicting.npz
add people.gallery crops --cropped
add new.gallery crops --cropped --descriptor nonsense
add new.gallery crops --cropped --most 0
describe people.gallery --descriptor lbp
index empty.gallery
evaluate people.gallery
evaluate people.gallery --labels missing.csv
evaluate people.gallery --labels labels.csv --split --queries asked.npz
evaluate people.gallery --labels labels.csv --seeds 0
compare labels.csv labels.csv
status missing.gallery
remove people.gallery nobody
forget people.gallery
forget people.gallery nobody
forget people.gallery --person Nobody
forget people.gallery --unbar 99
export people.gallery out.npz
export people.gallery other.npz nobody
verify missing.gallery
verify damaged.gallery
backup people.gallery copy.gallery
restore missing.gallery again.gallery
restore copy.gallery people.gallery
upgrade newer.gallery
serve missing.gallery
serve people.gallery --port 99999999
doctor nonsense
demo --out crops
"""

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)")
# Sizes and hashes of files, and how long things took: other versions of SQLite and of encoders give others.
LEFT_OUT = {"bytes": "(bytes)", "seconds": "(seconds)", "size": "(size)", "content": "(hash)"}


def session(ready: Ready, folder: Path) -> dict[str, Any]:
    """What each command of the session prints with ``--json``."""
    said: dict[str, Any] = {}
    for number, line in enumerate(SESSION.strip().splitlines(), start=1):
        ended = ready.run(*shlex.split(line), "--json", cwd=folder)
        told = ended.json if ended.out.strip() else None
        told = plain(told, folder)
        said[f"{number}. {line}"] = told if ended.code == 0 else {"exit code": ended.code, "printed": told}
    for line in ("doctor", "models"):
        told = ready.works(line, "--json", cwd=folder).json
        # What is installed here is nobody's promise.
        said[f"{line} (names only)"] = _names_only(told)
    return said


def exit_codes(ready: Ready, folder: Path) -> str:
    """Code and command, one a line."""
    calls = CALLS.strip().splitlines()
    return "".join(
        f"{ready.run(*shlex.split(line), cwd=folder).code} {line}".strip() + "\n" for line in calls
    )


def help_texts() -> str:
    """Every command with its arguments and options; how a terminal lays them out is not recorded."""
    whole = typer.main.get_command(app)
    lines = ["lookalike", f"  {whole.help}", f"  {whole.epilog}", *_parameters(whole)]
    for name in whole.list_commands(None):
        command = whole.get_command(None, name)
        lines += ["", f"lookalike {name}", f"  {command.help}", *_parameters(command)]
    return "\n".join(lines) + "\n"


def plain(value: Any, folder: Path) -> Any:
    """Leave out what differs from day to day, from folder to folder, or with versions of libraries."""
    if isinstance(value, dict):
        return {key: LEFT_OUT.get(key) or plain(one, folder) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one, folder) for one in value]
    if isinstance(value, str):
        return TIME.sub("(time)", value.replace(str(folder), "(folder)"))
    return value


def _names_only(told: dict[str, Any]) -> dict[str, Any]:
    """The names of fields, and the first field of each row, which is the name of what it is about."""
    [(key, rows)] = told.items()
    return {"fields": list(rows[0]), key: [next(iter(one.values())) for one in rows]}


def _parameters(command: Any) -> list[str]:
    return [line for one in command.params for line in _parameter(one)]


def _parameter(one: Any) -> list[str]:
    names = " ".join([*one.opts, *one.secondary_opts])
    if one.metavar and one.metavar != names:
        names += f" {one.metavar}"
    is_told = one.default is not None and one.default is not False and not callable(one.default)
    default = f" [default: {one.default}]" if is_told else ""
    required = " [required]" if one.required else ""
    return [f"  {names}{required}{default}", f"      {one.help or ''}".rstrip()]
