"""Any history of a gallery leaves what a dictionary would hold, and its sets answer as they would alone."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lookalike import FaceSet, Gallery, find, index, registry
from lookalike.errors import BadInput, Conflict, NotFound
from lookalike.gallery.forget import remove
from lookalike.indexing.store import TableStore
from tests.gallery.samples import QUICK
from tests.indexing.test_build import same_bits

# Few ids, so that they are used again; in an order that is not that of their code points by accident.
IDS = st.sampled_from(["b", "a", "ä/1", "[red]", "Z 9", "名"])
SEEDS = st.integers(0, 5)
SIMILARITIES = st.sampled_from(registry.names("similarities"))
# Learning takes longer than everything else here: few references are enough to notice a difference.
RERANKERS = st.sampled_from(["baseline", "geometric_mean", "learnt:references=2"])


def made(id: str, seed: int) -> FaceSet:
    rng = np.random.default_rng(seed)
    faces = rng.normal(size=(1 + seed % 3, 5)) + 0.5
    pictures = [b"picture %d" % seed] * len(faces) if seed % 2 else []
    return FaceSet(id, faces, f"{id} from {seed}", pictures=pictures)


class GalleryHistories(RuleBasedStateMachine):
    """A gallery in a file, beside a dictionary of what it should hold."""

    @initialize(seeds=st.dictionaries(IDS, SEEDS), similarity=SIMILARITIES)
    def start(self, seeds: dict[str, int], similarity: str) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=QUICK))
        self.path = self.folder / "x.gallery"
        self.gallery = self.opened(create=True)
        self.model: dict[str, FaceSet] = {}
        self.indexed: set[str] = set()
        self.add_several(seeds)
        self.index(similarity)

    def opened(self, create: bool = False) -> Gallery:
        return Gallery(self.path, create)

    @rule(id=IDS, seed=SEEDS)
    def add(self, id: str, seed: int) -> None:
        """New, the same again, or other content under a used id."""
        given, there = made(id, seed), self.model.get(id)
        if there is None:
            assert self.gallery.add(given)
            self.model[id] = given
        elif there.content_hash() == given.content_hash():
            assert not self.gallery.add(given)
        else:
            with pytest.raises(Conflict, match="already has a set"):
                self.gallery.add(given)

    @rule(seeds=st.dictionaries(IDS, SEEDS, min_size=2))
    def add_several(self, seeds: dict[str, int]) -> None:
        for id, seed in seeds.items():
            if id not in self.model:
                self.add(id, seed)

    @precondition(lambda self: self.model)
    @rule(wide=st.booleans())
    def add_what_does_not_fit(self, wide: bool) -> None:
        faces = np.eye(3, 6 if wide else 5)
        with pytest.raises(Conflict, match="6 numbers|have 6" if wide else "made by 'other'"):
            self.gallery.add(FaceSet("new", faces), "array" if wide else "other")

    @rule(ids=st.lists(IDS, min_size=1, max_size=3), everywhere=st.booleans())
    def remove(self, ids: list[str], everywhere: bool) -> None:
        """By the verb, or from the gallery alone, as an older program would."""
        asked = (lambda: remove(self.gallery, ids)) if everywhere else (lambda: self.gallery.remove(ids))
        if set(ids) <= self.model.keys():
            assert asked() == list(dict.fromkeys(ids))
            for id in set(ids):
                del self.model[id]
        else:
            with pytest.raises(NotFound, match="has no set"):
                asked()

    @precondition(lambda self: self.model)
    @rule(everywhere=st.booleans())
    def remove_everything(self, everywhere: bool) -> None:
        self.remove(list(self.model), everywhere)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), seed=SEEDS)
    def replace(self, data: st.DataObject, seed: int) -> None:
        """Other content under a used id, before any table hears that the old one was removed."""
        id = data.draw(st.sampled_from(sorted(self.model)))
        self.remove([id], everywhere=False)
        self.add(id, seed)
        self.bring_up_to_date()

    @rule(similarity=SIMILARITIES)
    def index(self, similarity: str) -> None:
        self.indexed.add(similarity)
        self.bring_up_to_date()

    @rule()
    def bring_up_to_date(self) -> None:
        for name in sorted(self.indexed):
            if self.model:
                same_bits(index(self.gallery, name), index(self.model.values(), name))
            else:
                with pytest.raises(BadInput, match="holds no sets"):
                    index(self.gallery, name)

    @precondition(lambda self: len(self.model) > 1)
    @rule(data=st.data(), similarity=SIMILARITIES, reranker=RERANKERS)
    def find_member(self, data: st.DataObject, similarity: str, reranker: str) -> None:
        query = data.draw(st.sampled_from(sorted(self.model)))
        found = find(query, self.gallery, similarity, reranker)
        assert found == find(query, list(self.model.values()), similarity, reranker)
        assert sorted(found.ids) == sorted(self.model.keys() - {query})

    @precondition(lambda self: self.model)
    @rule(seed=SEEDS, similarity=SIMILARITIES, reranker=RERANKERS)
    def find_from_outside(self, seed: int, similarity: str, reranker: str) -> None:
        query = made("asked", seed)
        found = find(query, self.gallery, similarity, reranker)
        assert found == find(query, list(self.model.values()), similarity, reranker)
        assert sorted(found.ids) == sorted(self.model)

    @rule(tables_are_lost=st.booleans())
    def reopen(self, tables_are_lost: bool) -> None:
        self.gallery.close()
        if tables_are_lost:
            TableStore.beside(self.path).drop()
        self.gallery = self.opened()

    @invariant()
    def holds_what_it_should(self) -> None:
        assert self.gallery.ids() == sorted(self.model)
        assert self.gallery.contents() == {id: self.model[id].content_hash() for id in sorted(self.model)}
        assert len(self.gallery) == len(self.model)
        for id, expected in self.model.items():
            found = self.gallery.get(id, pictures=True)
            np.testing.assert_array_equal(found.faces, expected.faces)
            assert (found.origin, found.pictures) == (expected.origin, expected.pictures)

    @invariant()
    def looks_freshly_made(self) -> None:
        with tempfile.TemporaryDirectory(dir=QUICK) as folder, Gallery(f"{folder}/g", create=True) as fresh:
            for faceset in self.model.values():
                fresh.add(faceset)
            assert self.gallery.fingerprint() == fresh.fingerprint()

    def teardown(self) -> None:
        if hasattr(self, "gallery"):
            self.gallery.close()
            shutil.rmtree(self.folder)


TestGalleryHistories = GalleryHistories.TestCase
TestGalleryHistories.settings = settings(
    max_examples=25,
    stateful_step_count=15,
    deadline=None,
    derandomize=True,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.too_slow],
)
