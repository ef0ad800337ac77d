"""Evidence: why a set is an answer, as chains of faces and sentences."""

from __future__ import annotations

from typing import Final

from lookalike.errors import BadInput
from lookalike.explanation import Explanation, Line, Relative, Witness, agreeing
from lookalike.ranking import Answer, percent
from lookalike.server.answering import Answering, Found
from lookalike.server.browsing import Browsing
from lookalike.server.models import (
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
from lookalike.server.relatives import did, effect, kin_of
from lookalike.server.searches import Searches
from lookalike.server.wording import counted

FEW = 5
# From how much on a number is called so; the last is for what is less.
# The five numbers in the words of the page: those of the method are for who reads the paper.
MEANINGS = (
    "who you asked for and the go-between are alike",
    "who you asked for and the answer are alike",
    "the go-between and the answer are alike",
    "who you asked for and the answer meet the go-between in the same face",
    "who you asked for and the go-between meet the answer in the same face",
)
WORDS = ((0.8, "almost the same"), (0.6, "very"), (0.4, "fairly"), (0.2, "a little"), (-2.0, "hardly"))


class Evidence:
    """Explains answers.

    Parameters
    ----------
    browsing : Browsing
    searches : Searches
    answering : Answering
    """

    def __init__(self, browsing: Browsing, searches: Searches, answering: Answering) -> None:
        self._browsing, self._searches, self._answering = browsing, searches, answering

    def view(self, ask: SearchAsk, key: str) -> EvidenceView:
        """Why the set of a key is an answer to a question.

        Raises
        ------
        LookalikeError
            If there is no such set or question, or the set is not searched yet.
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
            told = found.search.explain(found.question.asked if by_query else asker, target)
        answer = ranked.get(target, told.answer)
        asked = found.question.view if by_query else self._set(found, asker)

        def face(number: int) -> FaceView:
            return found.question.face(number) if by_query else self._face(found, asker, number)

        answered = self._answering.answer(found, answer)
        asker_words = "who you asked for" if by_query else asked.title
        same = {*found.refined.confirmed, own}
        shown = [(one.relative, one.rounded) for one in told.lines if one.relative is not None]
        words = [effect(one, amount, asker_words, same, found.refined.rejected) for one, amount in shown]
        return EvidenceView(
            query=found.question.view,
            asked=asked,
            answer=answered,
            direct=DirectView(
                query_face=face(told.query_face),
                target_face=self._face(found, target, told.target_face),
                baseline=told.answer.baseline,
            ),
            chains=[self._chain(found, told, one, face(one.query_face)) for one in told.witnesses],
            score=told.answer.score,
            terms=terms_of(told),
            relatives=[
                self._relative(found, target, one, face(one.query_face), said)
                for (one, _), said in zip(shown, words, strict=True)
            ],
            rank_alone=told.answer.rank,
            rank_before_kin=told.rank_before_kin,
            rank_before_lists=told.rank_before_lists,
            total=found.refined.ranking.total,
            sentences=_sentences(found, told, answer, asked, by_query, self._titles(found, told)),
        )

    def _chain(self, found: Found, told: Explanation, one: Witness, query_face: FaceView) -> ChainView:
        return ChainView(
            proxy=self._set(found, one.proxy),
            query_face=query_face,
            proxy_face_to_query=self._face(found, one.proxy, one.proxy_face_to_query),
            proxy_face_to_target=self._face(found, one.proxy, one.proxy_face_to_target),
            target_face=self._face(found, told.answer.id, one.target_face_to_proxy),
            numbers=[
                NumberView(name=f"s{place}", meaning=meaning, value=value, words=in_words(value))
                for place, (meaning, value) in enumerate(zip(MEANINGS, one.numbers, strict=True), start=1)
            ],
            regression=one.regression,
            belief=one.belief,
            decided=one.proxy == told.answer.through,
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

    def _titles(self, found: Found, told: Explanation) -> dict[str, str]:
        named = [told.answer.id, *([told.answer.through] if told.answer.through else [])]
        return {one: self._set(found, one).title for one in named if one in found.catalogue.facts}


def in_words(value: float) -> str:
    """How much a number between -1 and 1 is."""
    return next(word for least, word in WORDS if value >= least)


def _sentences(
    found: Found, told: Explanation, answer: Answer, asked: SetView, by_query: bool, titles: dict[str, str]
) -> list[str]:
    """What made the answer, for people."""
    ranking, target = found.refined.ranking, titles[answer.id]
    said = []
    if any(one.id == answer.id for one in ranking):
        said.append(f"{target} is answer {answer.rank} of {ranking.total}.")
    if not by_query:
        said.append(f"It was found through {asked.title}, which you confirmed to show the same person.")
    if answer.probability is not None:
        sure = percent(answer.probability)
        said.append(f"As far as this collection can tell, the chance that both are one person is {sure}.")
    if found.refined.confirmed or found.refined.rejected or answer.rank != told.answer.rank:
        # Chains are of this ranking, so their places cannot be told beside those of the one shown.
        said.append(
            f"If {asked.title} alone is asked with, and no decision counts, it is answer "
            f"{told.answer.rank} of {told.total}; the places told next are those of that list."
        )
    said.append(
        f"By themselves, the two are {told.answer.baseline:.2f} alike ({in_words(told.answer.baseline)}); by "
        f"that alone it would be answer {told.answer.baseline_rank}."
    )
    if told.alone is not None:
        said += _steps(told)
    elif told.answer.through is not None:
        proxy = titles.get(told.answer.through, told.answer.through)
        [best] = [one for one in told.witnesses if one.proxy == told.answer.through]
        said.append(
            f"What decided is {proxy}, which looks like both; without it, this would be answer "
            f"{best.rank_without}."
        )
    elif told.answer.score != told.answer.baseline:
        said.append("The clips around both were weighed as a whole; no single one decided.")
    else:
        said.append("Nothing but the likeness of the two decided.")
    return said


def _steps(told: Explanation) -> list[str]:
    """What strangers, kin and lists did to the place of an answer, one after the other, to that it has."""
    asked = {one.kind for one in told.influences}
    first = "How many others it looks like was taken into account"
    if "stranger" in asked:
        first = "What strangers who look alike explain was taken off"
    steps = [(first, told.rank_before_kin)]
    if "kin" in asked:
        kin = kin_of(told)
        clips = f"{counted(kin, 'clip')} that may show one of the two people"
        steps.append((f"Then {clips} {'was' if kin == 1 else 'were'} asked too", told.rank_before_lists))
    steps.append(("Then it was counted which clips are found near both", told.answer.rank))
    said, place = [], told.answer.baseline_rank
    for words, rank in steps:
        said.append(f"{words}, which {'leaves' if rank == place else 'makes'} it answer {rank}.")
        place = rank or place
    return said


# Amounts are shown to three places.
LEAST: Final = 0.0005


def terms_of(told: Explanation) -> list[TermView]:
    """What the score is the sum of; nothing if it is no sum."""
    if told.alone is None:
        return []
    lines = told.lines
    found = [_term(told, "alone", told.alone, 0, 0.0, lines)]
    for one in told.influences:
        found.append(_term(told, one.kind, one.moved, one.others, one.others_moved, lines))
    return found


def _term(
    told: Explanation, kind: str, moved: float, others: int, others_moved: float, lines: list[Line]
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
        words=_words(told, kind, amount, shown + others),
        others_words=f"{counted(others, 'other')} together {did(rest)}" if others else "",
    )


def _words(told: Explanation, kind: str, amount: float, count: int) -> str:
    """What a term is, for people who know no methods."""
    clips, trust = counted(count, "clip"), told.trust or 0.0
    like = "few others" if amount > 0 else "many others, so being alike says less"
    if abs(amount) < LEAST:
        like = "others no more than any clip does"
    near = agreeing(told).replace("sets", "clips")
    return {
        "alone": f"The two by themselves: how alike clips look counts {percent(1 - trust)} here",
        "everybody": f"The answer looks like {like}",
        "stranger": f"Somebody else who looks alike: {clips}",
        "kin": f"May show one of the two people: {clips}",
        "neighbour": f"Found near both: {near}, which counts {percent(trust)} here",
        "mutual": f"The two are {'' if amount > LEAST else 'not '}found near each other",
    }[kind]
