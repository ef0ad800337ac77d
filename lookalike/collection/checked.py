"""Checked: in which state the files of a table were found good, so that they are not read on every start.

A file whose inode, size and times are those of a file that was read and found good has not been written
since. The note that remembers them lies beside the arrays; it can only save reading, never vouch for damage:
one that is not readable, too old or not about these very files is passed over, and the arrays are read.

The same note remembers that somebody looked through what the arrays say, which is more than that they are
what was saved.
"""

from __future__ import annotations

import json
import re
import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from lookalike import disk
from lookalike.collection import manifest
from lookalike.collection.manifest import Manifest
from lookalike.errors import BadInput
from lookalike.kernels.threads import in_order

NAME: Final = "checked.json"
# The note itself, or what a killed process left of one.
FILE: Final = re.compile(r"checked\.json(\.[0-9a-f]{16})?")
# Disks lose bits without telling the file system: after a week it is time to read again.
SECONDS_OF_TRUST: Final = 7 * 24 * 3600.0
# Times of files move in ticks of up to 10 ms: a second change within one tick would not show.
TICK: Final = 0.02
LOOKED: Final = "looked through"


def damaged(folder: Path, described: Manifest) -> list[str]:
    """Names of the arrays whose bytes are not those that were saved; unless noted as good, all are read."""
    found = _state(folder, described)
    if found is not None and _is_noted(folder, found):
        return []
    is_settled = found is not None and _age(found) > TICK
    names = list(described.arrays)
    fit = list(in_order(lambda name: manifest.fits(folder, described.arrays[name]), names))
    # What changed while we read, or so lately that another change might not show, is read again next time.
    if all(fit) and found is not None and is_settled and found == _state(folder, described):
        _write(folder, found)
    return [name for name, fits in zip(names, fit, strict=True) if not fits]


def contradicted(folder: Path, described: Manifest, look: Callable[[], Iterable[str]]) -> str | None:
    """What is wrong with what the arrays say, or why that could not be told; None if nothing is.

    Files that were looked through, and found good, are not looked through again while they are noted as good.
    """
    found = _state(folder, described)
    if found is not None and _is_noted(folder, {**found, LOOKED: True}):
        return None
    try:
        wrong = next(iter(look()), None)
    except (BadInput, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return repr(error)
    if wrong is None and found is not None and _is_noted(folder, found):
        _write(folder, {**found, LOOKED: True})
    return wrong


def note(folder: Path, described: Manifest) -> None:
    """Note that files just written are good: what was saved is what was hashed."""
    found = _state(folder, described)
    if found is not None:
        time.sleep(max(0.0, TICK - _age(found)))
        _write(folder, found)


def _state(folder: Path, described: Manifest) -> dict[str, Any] | None:
    """All that the file system changes when a file is written or replaced; None if a file is missing."""
    files = {}
    try:
        for entry in described.arrays.values():
            one = (folder / entry.file).lstat()
            files[entry.file] = [one.st_ino, one.st_size, one.st_mtime_ns, one.st_ctime_ns]
    except OSError:
        return None
    return {"manifest": manifest.digest(described), "files": files}


def _age(found: dict[str, Any]) -> float:
    """Seconds since one of the files was last changed; 0 if a clock says that this is still to come."""
    changed = max((times[-1] for times in found["files"].values()), default=0)
    return max(0.0, time.time() - changed / 1e9)


def _is_noted(folder: Path, found: dict[str, Any]) -> bool:
    try:
        noted = json.loads((folder / NAME).read_bytes())
        age = time.time() - noted.pop("checked")
        return bool(noted | found == noted and 0 <= age < SECONDS_OF_TRUST)
    except Exception:  # no note, or none that says anything
        return False


def _write(folder: Path, found: dict[str, Any]) -> None:
    working = folder / f"{NAME}.{secrets.token_hex(8)}"
    # Where we may not write, or there is no room, nothing is remembered. Nor does a note that a power cut
    # takes back do harm, so nobody waits for the disk.
    with suppress(OSError):
        try:
            content = json.dumps({"checked": time.time(), **found}).encode()
            disk.write_new(working, content, durable=False)
            disk.rename(working, folder / NAME)
        except BaseException:
            disk.delete(working)
            raise
