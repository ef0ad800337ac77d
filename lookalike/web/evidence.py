"""Evidence: why a set is an answer, and who else had a say, as chains of faces and sentences."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from lookalike.errors import BadInput
from lookalike.ranking import Answer, percent
from lookalike.search.explain import Explanation, Line, Relative, Witness, agreeing
from lookalike.web.answers import Answering, Found
from lookalike.web.models import (
    ChainView,
    DirectView,
    EvidenceView,
    FaceView,
    NumberView,
    RelativeView,
    SearchAsk,
    SetView,
    TermView,
)
from lookalike.web.search import Searches
from lookalike.web.sets import Browsing
from lookalike.web.wording import counted

FEW = 5
# The five numbers in the words of the page: those of the method are for who reads the paper.
MEANINGS = (
    "who you asked for and the go-between are alike",
    "who you asked for and the answer are alike",
    "the go-between and the answer are alike",
    "who you asked for and the answer meet the go-between in the same face",
    "who you asked for and the go-between meet the answer in the same face",
)
# From how much on a likeness is called so; the last is for what is less.
WORDS = ((0.8, "almost the same"), (0.6, "very"), (0.4, "fairly"), (0.2, "a little"), (-2.0, "hardly"))

# Amounts are shown to three places.
LEAST: Final = 0.0005
# What a list of the page is called, and what it says of those in it.
LISTS: Final = {
    "kin": (
        "Others that may show one of the two people",
        "They were asked too, and what they say is averaged with what the two say: the likelier one is the "
        "same person, the more it counts. Who fits better than the two raises the score, who fits less well "
        "lowers it.",
    ),
    "neighbour": (
        "Found near both",
        "Around who is asked for and around the answer there are clips that are near to them, and to each "
        "other. What is found around both ties the two together, though they may not look alike. A clip that "
        "may show one of the two people is told here again, for what it did here.",
    ),
    "stranger": (
        "Somebody else who looks alike",
        "Near one of the two, and probably neither. If both are like a stranger, being alike says little, "
        "and the score is lowered; if only one is, it says more.",
    ),
}


class Evidence:
    """Explains answers."""

    def __init__(self, browsing: Browsing, searches: Searches, answering: Answering) -> None:
        self._browsing, self._searches, self._answering = browsing, searches, answering

    def view(self, ask: SearchAsk, key: str) -> EvidenceView:
        """Why the set of a key is an answer to a question.

        Raises LookalikeError if there is no such set or question, or the set is not searched yet.
        """
        found = self._answering.find(ask, deep=True)
        target = found.catalogue.id(key)
        if target not in found.search.tables.numbers:
            raise BadInput("This clip was added a moment ago: ask again when it can be searched.")
        if target == found.question.set_id:
            raise BadInput("This is the query itself: choose one of its answers.")
        ranked = {one.id: one for one in found.refined.ranking}
        # What was decided on is in no ranking: its likeness to the query itself is told.
        asker = found.refined.asked.get(target, "")
        own = found.question.set_id if found.question.set_id is not None else found.question.view.id
        by_query = asker in ("", own)
        with self._searches.turn(found.search):
            explanation = found.search.explain(found.question.asked if by_query else asker, target)
        answer = ranked.get(target, explanation.answer)
        asked = found.question.view if by_query else self._set(found, asker)

        def face(number: int) -> FaceView:
            return found.question.face(number) if by_query else self._face(found, asker, number)

        answered = self._answering.answer(found, answer)
        asker_words = "who you asked for" if by_query else asked.title
        ranking = found.refined.ranking
        same, others = ({one.id for one in some} for some in (ranking.confirmed, ranking.rejected))
        shown = [(one.relative, one.rounded) for one in explanation.lines if one.relative is not None]
        words = [effect(one, amount, asker_words, {*same, own}, others) for one, amount in shown]
        named = filter(None, (explanation.answer.id, explanation.answer.through))
        titles = {one: self._set(found, one).title for one in named if one in found.catalogue.facts}
        return EvidenceView(
            query=found.question.view,
            asked=asked,
            answer=answered,
            direct=DirectView(
                query_face=face(explanation.query_face),
                target_face=self._face(found, target, explanation.target_face),
                baseline=explanation.answer.baseline,
            ),
            chains=[
                self._chain(found, explanation, one, face(one.query_face)) for one in explanation.witnesses
            ],
            score=explanation.answer.score,
            terms=terms_of(explanation),
            relatives=[
                self._relative(found, target, one, face(one.query_face), said)
                for (one, _), said in zip(shown, words, strict=True)
            ],
            rank_alone=explanation.answer.rank,
            rank_before_kin=explanation.rank_before_kin,
            rank_before_lists=explanation.rank_before_lists,
            total=ranking.total,
            sentences=_sentences(found, explanation, answer, asked, by_query, titles),
        )

    def _chain(self, found: Found, explanation: Explanation, one: Witness, query_face: FaceView) -> ChainView:
        return ChainView(
            proxy=self._set(found, one.proxy),
            query_face=query_face,
            proxy_face_to_query=self._face(found, one.proxy, one.proxy_face_to_query),
            proxy_face_to_target=self._face(found, one.proxy, one.proxy_face_to_target),
            target_face=self._face(found, explanation.answer.id, one.target_face_to_proxy),
            numbers=[
                NumberView(name=f"s{place}", meaning=meaning, value=value, words=in_words(value))
                for place, (meaning, value) in enumerate(zip(MEANINGS, one.numbers, strict=True), start=1)
            ],
            regression=one.regression,
            belief=one.belief,
            decided=one.proxy == explanation.answer.through,
            rank_without=one.rank_without,
        )

    def _relative(
        self, found: Found, target: str, one: Relative, query_face: FaceView, words: str
    ) -> RelativeView:
        return RelativeView(
            set=self._set(found, one.id),
            kind=one.kind,  # type: ignore[arg-type]  # one of the three
            of=one.of,  # type: ignore[arg-type]  # one of the three
            chance=one.chance,
            moved=one.moved,
            words=words,
            query_face=query_face,
            face_to_query=self._face(found, one.id, one.face_to_query),
            face_to_target=self._face(found, one.id, one.face_to_target),
            target_face=self._face(found, target, one.target_face),
        )

    def _set(self, found: Found, set_id: str) -> SetView:
        return self._browsing.show(found.catalogue, found.known, set_id, FEW)

    def _face(self, found: Found, set_id: str, number: int) -> FaceView:
        return self._browsing.faces(found.catalogue, set_id, [number])[0]


def in_words(value: float) -> str:
    """How much a number between -1 and 1 is."""
    return next(word for least, word in WORDS if value >= least)


def _sentences(
    found: Found,
    explanation: Explanation,
    answer: Answer,
    asked: SetView,
    by_query: bool,
    titles: dict[str, str],
) -> list[str]:
    """What made the answer, for people."""
    ranking, target, likeness = found.refined.ranking, titles[answer.id], explanation.answer.baseline
    said = []
    for words, some in (
        ("the same person, and is part of the query", ranking.confirmed),
        ("somebody else", ranking.rejected),
    ):
        said += [
            f"{target} is no answer: it shows {words} ({one.reason})." for one in some if one.id == answer.id
        ]
    if any(one.id == answer.id for one in ranking):
        said.append(f"{target} is answer {answer.rank} of {ranking.total}.")
    if not by_query:
        said.append(f"It was found through {asked.title}, which you confirmed to show the same person.")
    if answer.probability is not None:
        sure = percent(answer.probability)
        said.append(f"As far as this collection can tell, the chance that both are one person is {sure}.")
    if ranking.confirmed or ranking.rejected or answer.rank != explanation.answer.rank:
        # Chains are of this ranking, so their places cannot be told beside those of the one shown.
        said.append(
            f"With {asked.title} alone as the query, and without decisions, it is answer "
            f"{explanation.answer.rank} of {explanation.total}; the places told next are those of that list."
        )
    said.append(
        f"By themselves, the two are {likeness:.2f} alike ({in_words(likeness)}); by that alone it would be "
        f"answer {explanation.answer.baseline_rank}."
    )
    if explanation.alone is not None:
        said += _steps(explanation)
    elif explanation.answer.through is not None:
        proxy = titles.get(explanation.answer.through, explanation.answer.through)
        [best] = [one for one in explanation.witnesses if one.proxy == explanation.answer.through]
        said.append(
            f"What decided is {proxy}, which looks like both; without it, this would be answer "
            f"{best.rank_without}."
        )
    elif explanation.answer.score != explanation.answer.baseline:
        said.append("The clips around both were weighed as a whole; no single one decided.")
    else:
        said.append("Nothing but the likeness of the two decided.")
    return said


def _steps(explanation: Explanation) -> list[str]:
    """What strangers, kin and lists did to the place of an answer, one after the other, to that it has."""
    asked = {one.kind for one in explanation.influences}
    first = "How many others it looks like was taken into account"
    if "stranger" in asked:
        first = "What strangers who look alike explain was taken off"
    steps = [(first, explanation.rank_before_kin)]
    if "kin" in asked:
        kin = kin_of(explanation)
        clips = f"{counted(kin, 'clip')} that may show one of the two people"
        steps.append(
            (f"Then {clips} {'was' if kin == 1 else 'were'} asked too", explanation.rank_before_lists)
        )
    steps.append(("Then it was counted which clips are found near both", explanation.answer.rank))
    said, place = [], explanation.answer.baseline_rank
    for words, rank in steps:
        said.append(f"{words}, which {'leaves' if rank == place else 'makes'} it answer {rank}.")
        place = rank or place
    return said


def terms_of(explanation: Explanation) -> list[TermView]:
    """What the score is the sum of; nothing if it is no sum."""
    if explanation.alone is None:
        return []
    lines = explanation.lines
    found = [_term(explanation, "alone", explanation.alone, 0, 0.0, lines)]
    for one in explanation.influences:
        found.append(_term(explanation, one.kind, one.moved, one.others, one.others_moved, lines))
    return found


def _term(
    explanation: Explanation, kind: str, moved: float, others: int, others_moved: float, lines: list[Line]
) -> TermView:
    own = [one for one in lines if one.kind == kind]
    amount = sum(one.rounded for one in own)
    rest = sum(one.rounded for one in own if one.relative is None)
    shown = sum(one.relative is not None for one in own)
    return TermView(
        kind=kind,  # type: ignore[arg-type]  # one of those
        moved=moved,
        others=others,
        others_moved=others_moved,
        amount=f"{amount:+.3f}".replace("-", "\N{MINUS SIGN}"),
        words=_words(explanation, kind, amount, shown + others),
        others_words=f"{counted(others, 'other')} together {did(rest)}" if others else "",
    )


def _words(explanation: Explanation, kind: str, amount: float, count: int) -> str:
    """What a term is, for people who know no methods."""
    clips, trust = counted(count, "clip"), explanation.trust or 0.0
    like = "few others" if amount > 0 else "many others, so being alike says less"
    if abs(amount) < LEAST:
        like = "others no more than any clip does"
    near = agreeing(explanation).replace("sets", "clips")
    return {
        "alone": f"The two by themselves: how alike clips look counts {percent(1 - trust)} here",
        "everybody": f"The answer looks like {like}",
        "stranger": f"Somebody else who looks alike: {clips}",
        "kin": f"May show one of the two people: {clips}",
        "neighbour": f"Found near both: {near}, which counts {percent(trust)} here",
        "mutual": f"The two are {'' if amount > LEAST else 'not '}found near each other",
    }[kind]


# Relatives: who else had a say in an answer.


class Listed(NamedTuple):
    """One list of relatives on the page, and what those did that there is no row for."""

    name: str
    title: str
    words: str
    rows: list[RelativeView]
    rest: str


def kin_of(explanation: Explanation) -> int:
    """How many were asked who may show one of the two people."""
    shown = sum(one.kind == "kin" for one in explanation.relatives)
    return shown + sum(one.others for one in explanation.influences if one.kind == "kin")


def did(amount: float) -> str:
    """What somebody did to the score; the amount is rounded."""
    return f"{'raised' if amount >= 0 else 'lowered'} the score by {abs(amount):.3f}"


def effect(
    one: Relative, amount: float, asker: str, same: Collection[str], different: Collection[str]
) -> str:
    """What somebody was taken for and did to the score, in words.

    The amount is rounded so that what is shown adds up; `asker` is what the page calls whoever asked. The
    user said of some sets that they show the person who is asked for, and of others that they show
    somebody else.
    """
    if one.kind == "neighbour":
        return f"found near both: {did(amount)}"
    of, other = {
        "query": (asker, "the answer"),
        "target": ("the answer", asker),
        "both": ("both", "the other"),
    }[one.of]
    if one.kind == "stranger":
        if one.of == "both":
            fits = "less than one would expect" if amount >= 0 else "so being alike says less"
        else:
            fits = f"less like {other}" if amount >= 0 else f"like {other} too"
        return f"looks like {of}, {fits}: {did(amount)}"
    fits = f"is like {other} too" if amount >= 0 else f"is not so like {other}"
    said = f"{percent(one.chance)} likely the same as {of}"
    if one.of != "target" and one.id in same:
        said = f"you said it is the same person ({percent(one.chance)} likely by its faces alone)"
    elif one.of != "target" and one.id in different:
        said = f"you said it is somebody else ({percent(one.chance)} likely the same by its faces alone)"
    return f"{said}; {fits}: {did(amount)}"


def listed(evidence: EvidenceView) -> list[Listed]:
    """The lists of the page; kinds that nobody stands out of are in the sum alone."""
    rest = {one.kind: one.others_words for one in evidence.terms}
    groups = [
        (kind, [one for one in evidence.relatives if one.kind == kind]) for kind in LISTS if kind in rest
    ]
    return [Listed(kind, *LISTS[kind], rows, rest[kind]) for kind, rows in groups if rows]
