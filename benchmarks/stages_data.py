"""The configurations of the study of re-rankers: collections described, prepared and compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.real_faces import collections
from lookalike import FaceSet, Gallery, index
from lookalike.evaluation.labels import Labels, read_labels
from lookalike.faceset import evenly
from lookalike.indexing.transform import prepare_sets
from lookalike.ingest.add import add
from lookalike.method.tables import Tables

YTF, YALE, CK = "ytf_dev", "extyaleb_sets, by light", "ck48_sequences"
EMBEDDINGS = "embeddings"


class Configuration(NamedTuple):
    """One collection, described, prepared and compared in one way."""

    name: str
    collection: str  # as `collections` calls it
    array: str | None  # numbers in the file that take the place of its pictures
    preparation: str
    similarity: str
    faces: int | None = None  # so many of a set are compared, evenly picked


CONFIGURATIONS = (
    Configuration("ytf LBP ex", YTF, None, "none", "max_max"),
    Configuration("ytf LBP sub4", YTF, None, "none", "max_correlation:dimension=4"),
    Configuration("ytf wpca ex", YTF, None, "whitened:root=true,dimension=200", "max_max"),
    Configuration("ytf wccn ex", YTF, None, "within:root=true,dimension=200", "max_max"),
    Configuration("ytf dlib ex", YTF, EMBEDDINGS, "none", "max_max"),
    Configuration("ytf dlib wccn", YTF, EMBEDDINGS, "within:dimension=128", "max_max"),
    Configuration("yale LBP ex", YALE, None, "none", "max_max", 10),
    Configuration("yale LBP sub6", YALE, None, "none", "max_correlation:dimension=6"),
    Configuration("yale wccn ex", YALE, None, "within:root=true,dimension=100", "max_max", 10),
    Configuration("ck LBP ex", CK, None, "none", "max_max"),
    Configuration("ck wccn ex", CK, None, "within:root=true,dimension=100", "max_max"),
)


class Case(NamedTuple):
    """A configuration whose faces are at hand."""

    name: str
    tables: Tables
    labels: Labels


class Cases:
    """The collections in a folder, taken in once each; galleries are kept in another folder."""

    def __init__(self, data: Path, folder: Path) -> None:
        self.folder = folder
        self.known = {one.name: one for one in collections(data, None, folder)}

    def __iter__(self) -> Iterator[Case]:
        """Every configuration whose collection is there."""
        return (self._case(one) for one in self.configurations())

    def configurations(self) -> list[Configuration]:
        """Those whose collection is there, nothing of them described yet."""
        return [one for one in CONFIGURATIONS if one.collection in self.known]

    def case(self, name: str) -> Case:
        """One configuration by its name."""
        [one] = (one for one in self.configurations() if one.name == name)
        return self._case(one)

    def gallery(self, collection: str, array: str | None = None) -> Path:
        """A collection as a gallery."""
        path = self.folder / f"{collection} {array}.gallery"
        if not path.exists():
            add(path, [self.known[collection].source], array=array)
        return path

    def labels(self, collection: str) -> Labels:
        """Who is on each set."""
        return read_labels(self.known[collection].labels)

    def _case(self, one: Configuration) -> Case:
        with Gallery(self.gallery(one.collection, one.array)) as gallery:
            sets = list(gallery.sets(gallery.ids()))
        tables = indexed(sets, one)
        labels = self.labels(one.collection)
        return Case(one.name, tables, {id: labels[id] for id in tables.ids})


def indexed(sets: list[FaceSet], one: Configuration) -> Tables:
    """Prepare and compare sets; a preparation learns from all faces, also those that are not compared."""
    learnt = prepare_sets(sets, one.preparation)
    fewer = (FaceSet(each.id, learnt.apply(each.faces[evenly(len(each), one.faces)])) for each in sets)
    return index(fewer, one.similarity, preparation="none")
