"""Decision: what the user said about sets and people, one event of a log that only grows."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final

from lookalike.errors import BadInput

# What can be said of two sets, a query and an answer to it.
VERDICTS: Final = ("same", "different", "unsure")
KINDS: Final = (*VERDICTS, "name", "rename", "merge", "split", "undo")
LONGEST_NAME: Final = 200
# Controls, half characters and ends of lines: they would break tables, and nobody is called so.
NO_LETTERS: Final = ("Cc", "Cs", "Zl", "Zp")
# What turns the direction of writing, and so could make a name look like another, or the text around it.
TURNING: Final = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
# Of these alone nothing is seen, or nothing by itself: blanks, marks on a letter, joiners and other formats.
UNSEEN: Final = ("Cf", "Mn", "Mc", "Me", "Zs")
# So it is with a few letters and signs: fillers of Hangul, blank Braille, an empty note.
BLANK: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")


@dataclass(frozen=True)
class Decision:
    """One thing that was said.

    Attributes
    ----------
    number : int
        Decisions are numbered as they are made, and no number is used twice; 0 while it is not stored.
    made : str
        When, in UTC; empty while it is not stored.
    kind : str
        One of `KINDS`.
    sets : tuple of str
        Of a verdict the query and the answer; else the sets that were named or split off.
    person : int or None
        The person spoken of. A ``name`` without one makes a person, and so does a ``split`` with a name: the
        person's number is that of the decision.
    name : str
        The name given; a ``split`` without one takes the sets out of the person, and that is all.
    other : int or None
        The person into whom ``merge`` leads, or the decision that ``undo`` takes back.
    undone : bool
        Whether a later decision took it back.
    """

    number: int
    made: str
    kind: str
    sets: tuple[str, ...] = ()
    person: int | None = None
    name: str = ""
    other: int | None = None
    undone: bool = False

    @property
    def makes_person(self) -> bool:
        """Whether it makes a person, whose number is its own."""
        return self.person is None if self.kind == "name" else self.kind == "split" and self.name != ""


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
    """A name as it is kept, without blanks around it; refuse what cannot be one."""
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
