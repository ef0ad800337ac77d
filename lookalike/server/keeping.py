"""Keeping: put everybody in an upload into the gallery, and take out again what was put there."""

from __future__ import annotations

from dataclasses import replace

from lookalike.collection.gallery import Gallery
from lookalike.removing import remove
from lookalike.server.catalogue import key_of
from lookalike.server.dropped import Upload


def keep(gallery: Gallery, upload: Upload) -> list[str]:
    """Add everybody in an upload who is not kept already; the keys of all of them.

    Parameters
    ----------
    gallery : Gallery
    upload : Upload
        Remembers the ids, and which of them are new.
    """
    kept = upload.kept or [""] * len(upload.people)
    ids = [one if one and one in gallery else "" for one in kept]
    new = []
    for place, person in enumerate(upload.people):
        if not ids[place]:
            ids[place] = upload.free_id(place, gallery, ids)
            new.append(replace(person, id=ids[place]))
    if gallery.descriptor is None and upload.model_file:
        gallery.set_hint("model_file", upload.model_file)
    beside = [(ids[one], ids[other]) for one, other in upload.apart]
    gallery.add_together(new, beside, upload.descriptor)
    upload.kept, upload.added = ids, {one.id: one.content_hash() for one in new}
    return [key_of(one) for one in ids]


def take_back(gallery: Gallery, upload: Upload) -> list[str]:
    """Remove the sets that the last `keep` added; their keys.

    What was removed since is passed over, and so is another set that has got the id of one of them.
    """
    there = gallery.contents()
    ids = [one for one, content in upload.added.items() if there.get(one) == content]
    if ids:
        remove(gallery, ids)
    upload.kept = ["" if one in ids else one for one in upload.kept]
    upload.added = {}
    return [key_of(one) for one in ids]
