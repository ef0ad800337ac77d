"""Decision log: what the user said about sets and people, which only grows, as rows of a gallery."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from lookalike.errors import BadInput, damaged_rows
from lookalike.gallery import history, media, schema, set_rows
from lookalike.gallery.media import Pair

# What can be said of two sets, a query and an answer to it.
VERDICTS: Final = ("same", "different", "unsure")
# What can be said of proposed people: all of them are one person, they are not, some are not the others.
PROPOSALS: Final = ("join", "reject", "part")
KINDS: Final = (*VERDICTS, "name", "rename", "merge", "split", *PROPOSALS, "undo")
LONGEST_NAME: Final = 200
# Controls, half characters and ends of lines: they would break tables, and nobody is called so.
NO_LETTERS: Final = ("Cc", "Cs", "Zl", "Zp")
# What turns the direction of writing, and so could make a name look like another, or the text around it.
TURNING: Final = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
# Of these alone nothing is seen, or nothing by itself: blanks, marks on a letter, joiners and other formats.
UNSEEN: Final = ("Cf", "Mn", "Mc", "Me", "Zs")
# So it is with a few letters and signs: fillers of Hangul, blank Braille, an empty note.
BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")
ADVICE: Final = "restore it from a backup"


@dataclass(frozen=True)
class Decision:
    """One entry of the log.

    Of a verdict, `sets` are the query and the answer; of a ``join`` those that show one person, of a
    ``reject`` those of a proposal that do not, of a ``part`` first those that leave and then those that
    stay; else the sets that were named or split off. A ``name`` without a person makes one, and so does a
    ``split`` with a name: the person's number is that of the decision. A ``split`` without a name takes the
    sets out of the person, and that is all. `other` is the person into whom ``merge`` leads, the decision
    that ``undo`` takes back, or how many of the sets of a ``part`` leave.
    """

    number: int  # as they are made, and none is used twice; 0 while it is not stored
    made: str  # when, in UTC; empty while it is not stored
    kind: str  # one of `KINDS`
    sets: tuple[str, ...] = ()
    person: int | None = None  # the person spoken of
    name: str = ""
    other: int | None = None
    undone: bool = False  # whether a later decision took it back
    # What the key is called with which a program made it, as events tell; empty if nobody showed one.
    by: str = ""

    @property
    def makes_person(self) -> bool:
        """Whether it makes a person, whose number is its own."""
        return self.person is None if self.kind == "name" else self.kind == "split" and self.name != ""

    @property
    def sides(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Of a ``part``, the sets that leave and those that stay."""
        return self.sets[: self.other], self.sets[self.other :]


def draft(
    kind: str,
    sets: tuple[str, ...] = (),
    person: int | None = None,
    name: str = "",
    other: int | None = None,
) -> Decision:
    """A decision that is not stored yet."""
    return Decision(0, "", kind, sets, person, name, other)


def checked_name(name: object) -> str:
    """A name as it is stored, without blanks around it; refuse what cannot be a name."""
    if not isinstance(name, str):
        raise BadInput(f"a name is text, got {type(name).__name__}")
    found = unicodedata.normalize("NFC", " ".join(name.split()))
    if not found or len(found) > LONGEST_NAME:
        raise BadInput(f"a name has from 1 to {LONGEST_NAME} letters, got {len(found)}")
    if any(unicodedata.category(letter) in NO_LETTERS for letter in found):
        raise BadInput(f"a name is one line of ordinary text, got {found!r}: leave out control characters")
    if any(unicodedata.bidirectional(letter) in TURNING for letter in found):
        raise BadInput(
            f"a name may not turn the direction of writing, got {found!r}: leave those characters out"
        )
    if all(letter in BLANK or unicodedata.category(letter) in UNSEEN for letter in found):
        raise BadInput(f"a name needs a letter that can be seen, got {found!a}: write one at least")
    return found


Make = Callable[[list[Decision], list[Pair]], Sequence[Decision]]


# The log in the file.


def everything(connection: sqlite3.Connection, path: Path) -> list[Decision]:
    """Every decision, in the order in which they were made; none in a gallery of an older format."""
    if schema.found(connection) < 3:
        return []
    sets: dict[int, list[str]] = {}
    # An id that leads to no set is none.
    join = "id = set_id" if schema.found(connection) >= schema.NAMES_IDS else "sets.number = set_number"
    asked = f"SELECT decision, id FROM decision_sets LEFT JOIN sets ON {join} ORDER BY decision, position"
    for number, set_id in connection.execute(asked):
        sets.setdefault(number, []).append(set_id)
    asked = "SELECT number, made, kind, person, name, other, checksum FROM decisions ORDER BY number"
    found = []
    for number, made, kind, person, name, other, checksum in connection.execute(asked):
        decision = Decision(number, made, kind, tuple(sets.pop(number, ())), person, name, other)
        if not _is_whole(decision) or checksum != _checksum(decision):
            raise damaged_rows(path, f"decision {number!r} does not fit its checksum", ADVICE)
        found.append(decision)
    if sets:
        raise damaged_rows(path, f"decision {next(iter(sets))!r} is lost, but not its sets", ADVICE)
    if not found:
        return []
    undone = {decision.other for decision in found if decision.kind == "undo"}
    by = history.makers(connection)
    return [replace(one, undone=one.number in undone, by=by.get((one.number, one.made), "")) for one in found]


def write(connection: sqlite3.Connection, decision: Decision) -> None:
    """Write what may change in a stored decision: all but its kind and when it was made."""
    connection.execute(
        "UPDATE decisions SET person = ?, name = ?, other = ?, checksum = ? WHERE number = ?",
        (decision.person, decision.name, decision.other, _checksum(decision), decision.number),
    )
    connection.execute("DELETE FROM decision_sets WHERE decision = ?", (decision.number,))
    connection.executemany(
        "INSERT INTO decision_sets VALUES (?, ?, ?)",
        ((decision.number, place, set_id) for place, set_id in enumerate(decision.sets)),
    )


def _is_whole(decision: Decision) -> bool:
    """Whether it has the shape of a decision: a stranger may fit a checksum to anything."""
    whole = all(value is None or isinstance(value, int) for value in (decision.person, decision.other))
    texts = all(
        isinstance(text, str) for text in (decision.made, decision.kind, decision.name, *decision.sets)
    )
    if not (isinstance(decision.number, int) and whole and texts and decision.kind in KINDS):
        return False
    if decision.kind == "part" and not 0 < (decision.other or 0) < len(decision.sets):
        return False
    return decision.kind not in VERDICTS or len(set(decision.sets)) == len(decision.sets) == 2


def _checksum(decision: Decision) -> bytes:
    """SHA-256 of all that was said, and the ids of the sets: numbers would not show that one leads astray."""
    said = [
        decision.number,
        decision.made,
        decision.kind,
        decision.person,
        decision.name,
        decision.other,
        decision.sets,
    ]
    return hashlib.sha256(json.dumps(said).encode()).digest()


class OpenLog:
    """The log of a gallery in a transaction that writes, so that nobody else decides meanwhile.

    `decisions` are in the order in which they were made, those that were added behind the others; `new` are
    these alone. `apart` are pairs of sets that are certainly of different people.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        log: tuple[Decision, ...],
        apart: tuple[Pair, ...],
        by: str = "",
    ) -> None:
        self._connection, self._path, self._by = connection, path, by
        self._made = schema.now()
        self.decisions, self.apart = log, apart
        self.new: list[Decision] = []

    def check(self, ids: Iterable[str]) -> None:
        """Raise NotFound for a set that is not there, with those that are called nearly so."""
        for set_id in ids:
            if not set_rows.has(self._connection, set_id):
                raise set_rows.unknown(self._connection, self._path, set_id)

    def add(self, drafts: Iterable[Decision]) -> list[Decision]:
        """Store decisions about sets that are there; they get their numbers, and all of a log one time."""
        stored = [self._insert(draft) for draft in drafts]
        self.new += stored
        undone = {one.other for one in stored if one.kind == "undo"}
        whole = (*self.decisions, *stored)
        self.decisions = tuple(replace(one, undone=True) if one.number in undone else one for one in whole)
        return stored

    def sign(self) -> None:
        """Write with whose key the decisions that were added were made, if with any; once, after the last."""
        if self._by and self.new:
            numbers = [one.number for one in self.new]
            history.insert_makers(self._connection, self._by, numbers, self._made)

    def _insert(self, draft: Decision) -> Decision:
        self.check(draft.sets)
        number = self._connection.execute(
            "INSERT INTO decisions (made, kind, person, name, other, checksum) VALUES (?, ?, ?, ?, ?, x'')",
            (self._made, draft.kind, draft.person, draft.name, draft.other),
        ).lastrowid
        stored = replace(draft, number=int(number or 0), made=self._made, by=self._by)
        write(self._connection, stored)
        return stored


class RememberedLog:
    """Decisions and pairs apart as they were last read: a page asks for them again and again."""

    def __init__(self) -> None:
        self._log: tuple[Decision, ...] = ()
        self._apart: tuple[Pair, ...] = ()
        # The versions of the gallery that they are of.
        self._log_version: set_rows.Version | None = None
        self._apart_version: set_rows.Version | None = None

    def read_log(self, connection: sqlite3.Connection, path: Path) -> tuple[Decision, ...]:
        """All decisions; while they do not change, the same object."""
        version = set_rows.version(connection)
        if version != self._log_version:
            log = tuple(everything(connection, path))
            self._log = self._log if log == self._log else log
            self._log_version = version
        return self._log

    def read(
        self, connection: sqlite3.Connection, path: Path
    ) -> tuple[tuple[Decision, ...], tuple[Pair, ...]]:
        """All decisions and all pairs apart, of which a gallery may have many; the same objects, as above."""
        version = set_rows.version(connection)
        if version != self._apart_version:
            apart = tuple(media.pairs_apart(connection, path))
            self._apart = self._apart if apart == self._apart else apart
            self._apart_version = version
        return self.read_log(connection, path), self._apart

    def renew(self, log: tuple[Decision, ...], version: set_rows.Version) -> None:
        """Know that nothing but the log has changed, which was read for writing just before."""
        self._log, self._log_version, self._apart_version = log, version, version
