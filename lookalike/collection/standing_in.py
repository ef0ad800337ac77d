"""Standing in: an empty file for every shard that cannot be reached, so that the others can be read."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from lookalike import disk
from lookalike.collection import connections, membership
from lookalike.collection.failures import in_words
from lookalike.collection.membership import Membership


class StandIns:
    """Empty shards of a collection in a folder of their own, which is deleted when they are closed.

    Parameters
    ----------
    told : Membership
        Of the collection.
    places : sequence of int
        Which shards they stand in for.
    """

    def __init__(self, told: Membership, places: tuple[int, ...]) -> None:
        self._folder = disk.temporary_folder("lookalike-") if places else None
        self.paths: dict[int, Path] = {}
        try:
            for place in places:
                assert self._folder is not None
                self.paths[place] = _empty(self._folder, told, place)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Delete them; twice does nothing."""
        if self._folder is not None:
            disk.delete_tree(self._folder)
            self._folder = None


def _empty(folder: Path, told: Membership, place: int) -> Path:
    path = folder / membership.file_name(place)
    connections.create(path)
    with in_words(path), closing(connections.connect(path, 0.0)) as shard:
        shard.execute("BEGIN IMMEDIATE")
        membership.join(shard, told, place)
        shard.execute("COMMIT")
    return path
