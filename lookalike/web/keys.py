"""Keys: what programs show instead of the cookie of a browser, what each may do, and how often."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from lookalike.errors import BadInput, readable, unreadable

READ, DECIDE, ADD = SCOPES = ("read", "decide", "add")
# 128 random bits take 22 letters; digits, letters, hyphens and underscores need no quotation marks anywhere.
KEY: Final = re.compile(r"[A-Za-z0-9_-]{22,200}")
# Names are shown in the history of decisions.
LONGEST_NAME: Final = 100
LINE: Final = 1000
# Requests that a key may make at once, and each second from then on.
BURST, RATE = 60, 20.0
MAKE: Final = "python -c 'import secrets; print(secrets.token_urlsafe(24))' makes one"


class Denied(NamedTuple):
    """Why a request with a key is refused; and how many seconds later it would not be, if time helps."""

    status: int
    words: str
    wait: float = 0.0


def scope_of(method: str, path: str) -> str | None:
    """What a key must be for to ask this; None if it is no matter of programs.

    An upload is looked through and forgotten: to read. Only what is kept of it is added.
    """
    if method in ("GET", "HEAD"):
        return READ if path.startswith(("/api/", "/pictures/", "/films/")) else None
    looking = re.fullmatch(r"/api/(searches(/evidence)?|uploads(/[^/]+/together)?)", path)
    if looking or (method == "DELETE" and path.startswith("/api/uploads/")):
        return READ
    if path.startswith(("/api/judgements", "/api/people", "/api/groups")):
        return DECIDE
    return ADD if path.startswith("/api/") else None


@dataclass
class Key:
    """A key as it is remembered: its name, its scopes, the hash of it, and how much it may ask just now."""

    name: str
    scopes: frozenset[str]
    digest: bytes
    left: float = BURST
    seen: float = 0.0

    def wait(self, now: float) -> float:
        """Count a request; how many seconds it comes too early, 0 if it does not."""
        self.left = min(BURST, self.left + RATE * (now - self.seen))
        self.seen = now
        if self.left < 1:
            return (1 - self.left) / RATE
        self.left -= 1
        return 0.0


class Keys:
    """The keys of a server, which has a clock of seconds that ever increase."""

    def __init__(self, keys: Iterable[Key] = (), clock: Callable[[], float] = time.monotonic) -> None:
        self._keys = {one.digest: one for one in keys}
        self._clock = clock

    def __bool__(self) -> bool:
        return bool(self._keys)

    def find(self, header: str) -> Key | None:
        """The key that a request shows (``Authorization: Bearer KEY``); None if there is no such key.

        Looked up by its hash: how long that takes says nothing of keys that are like it.
        """
        kind, _, given = header.partition(" ")
        found = self._keys.get(hashed(given.strip()))
        return found if kind.lower() == "bearer" else None

    def denied(self, key: Key, method: str, path: str) -> Denied | None:
        """Why a key does not open this; None if it does."""
        wait = key.wait(self._clock())
        if wait:
            said = f"This key asks too often: at most {BURST} at once and {RATE:.0f} a second. Wait a moment."
            return Denied(429, said, wait)
        scope = scope_of(method, path)
        if scope is None:
            return Denied(403, "Keys are for the interface of programs, /api/ and its pictures and videos.")
        if scope not in key.scopes:
            return Denied(403, f"This key may not do that: its line of the key file lacks {scope!r}.")
        return None


def hashed(key: str) -> bytes:
    """What is remembered of a key."""
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


def read_keys(path: Path) -> Keys:
    """Read a key file: on each line a name, scopes with commas between them, and the key.

    It is a text that nobody but its owner may read. Empty lines, and those that begin with ``#``, say
    nothing. Raises NotFound or BadInput if it cannot be read, others may read it, or a line is wrong; no
    sentence shows a key.
    """
    try:
        with path.open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise BadInput(
                    f"the key file {readable(path)!r} can be read or changed by others: "
                    f"`chmod 600` it, and make new keys if others may have read it"
                )
            lines = file.read(LINE * 1000).splitlines()
    except UnicodeDecodeError:
        raise BadInput(f"the key file {readable(path)!r} is no text in UTF-8: write it anew") from None
    except OSError as reason:
        raise unreadable(path, reason) from None
    found: list[Key] = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            found.append(_read_line(line, f"line {number} of the key file {readable(path)!r}"))
            if found[-1].name in [one.name for one in found[:-1]]:
                raise BadInput(f"line {number} of the key file {readable(path)!r} has a name that is taken")
    if not found:
        raise BadInput(f"the key file {readable(path)!r} has no key: write NAME SCOPES KEY; {MAKE}")
    if len({one.digest for one in found}) < len(found):
        raise BadInput(f"the key file {readable(path)!r} has one key twice: give everybody their own; {MAKE}")
    return Keys(found)


def _read_line(line: str, where: str) -> Key:
    pieces = line.split()
    if len(pieces) != 3:
        raise BadInput(
            f"{where} has {len(pieces)} words: write NAME SCOPES KEY, as in `nightly read,add ...`"
        )
    name, scopes, key = pieces
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise BadInput(
            f"{where} has a name that is not one of at most {LONGEST_NAME} letters that can be seen"
        )
    chosen = frozenset(scopes.split(","))
    if not chosen <= set(SCOPES):
        wrong = min(chosen - set(SCOPES))
        raise BadInput(f"{where} has the scope {wrong!r}: choose from {', '.join(SCOPES)}")
    if not KEY.fullmatch(key):
        raise BadInput(
            f"{where} has a key of {len(key)} characters: it takes 22 to 200 letters, digits, - and _; {MAKE}"
        )
    return Key(name, chosen, hashed(key))
