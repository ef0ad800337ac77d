"""The command that lets programs which speak the Model Context Protocol ask a gallery, and change nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

from lookalike.cli.output import GalleryPath
from lookalike.errors import BadInput, LookalikeError, NotFound
from lookalike.ranking import media_type

if TYPE_CHECKING:
    from mcp.server.mcpserver import Image, MCPServer

    from lookalike import Gallery, Search

# Answers, people and pictures that one call may ask for: what a model reads costs.
MOST: Final = 50
INSTRUCTIONS: Final = (
    "A gallery of face sets: each set is the faces of one person in one video or album. Sets go by ids, "
    "people by names if somebody named them. A probability says how likely two sets show the same person, "
    "as far as the gallery itself can tell. Nothing can be changed here. Do not guess who somebody is from "
    "a picture."
)


def mcp(gallery: GalleryPath) -> None:
    """Serve read-only tools to MCP clients over stdio: search, explain, people, status."""
    from lookalike import open_gallery

    try:
        import mcp.server.mcpserver  # noqa: F401
    except ModuleNotFoundError as reason:
        raise BadInput(
            f"this needs {reason.name!r}, which is not installed: `pip install 'lookalike[mcp]'`"
        ) from reason
    with open_gallery(gallery) as opened:
        server_of(opened).run("stdio")


class Tools:
    """What can be asked of a gallery; each answer is text in JSON, then pictures with a line before each.

    Parameters
    ----------
    gallery : Gallery
    """

    def __init__(self, gallery: Gallery) -> None:
        self._gallery = gallery
        self._opened: tuple[str, Search] | None = None

    def search(self, query: str, top: int = 10, pictures: bool = True) -> list[Any]:
        """Find the sets that most probably show the same person, best first, with probabilities.

        The query is the id of a set or the name of a person; top is how many answers, at most 50; pictures
        is whether a face of each is shown.
        """
        asked, confirmed = self._asked(query)
        found = self._search().find(asked, _checked(top), confirmed)
        shown = [(f"query: {asked}", asked, None)]
        shown += [(f"answer {one.rank}: {one.id} ({one.sure})", one.id, None) for one in found]
        return [
            _text(found.to_dict() | {"reading": found.reading}),
            *self._pictures(shown if pictures else ()),
        ]

    def explain(self, query: str, target: str, pictures: bool = True) -> list[Any]:
        """Say why a set is an answer to a query, or why it is none: the evidence in numbers.

        The query is the id of a set or the name of a person, the target the id of a set; pictures is whether
        the two faces that are most alike are shown.
        """
        asked, confirmed = self._asked(query)
        found = self._search().explain(asked, target, confirmed)
        shown = [
            (f"the query's face {found.query_face}", found.asked or asked, found.query_face),
            (f"the target's face {found.target_face}", target, found.target_face),
        ]
        return [_text(found.to_dict()), *self._pictures(shown if pictures else ())]

    def people(self, top: int = 20, pictures: bool = False) -> list[Any]:
        """Tell who is in the gallery: named people, and groups of sets that are proposed as one person.

        At most 50 of them, top, the largest first; pictures is whether a face of each is shown.
        """
        from lookalike.cli.people import as_json
        from lookalike.indexing.people import census

        told, most = as_json(census(self._gallery)), _checked(top)
        shown = [
            (f"{one['name'] or 'no name'}, {one['handle']}", one["faces"][0]["set"], one["faces"][0]["face"])
            for one in told["people"][:most]
        ]
        said = {"total": len(told["people"]), "people": told["people"][:most], "pairs": told["pairs"][:most]}
        return [_text(said), *self._pictures(shown if pictures else ())]

    def status(self) -> list[Any]:
        """Say what the gallery holds, in numbers, and which of its tables are up to date."""
        from lookalike.indexing.build import index_states

        return [_text({**self._gallery.facts(), "tables": index_states(self._gallery)})]

    def _asked(self, query: str) -> tuple[str, list[str]]:
        """The set that asks, and others of the same person; no path is ever read here."""
        from lookalike.gallery.decisions import person_called

        if query in self._gallery:
            return query, []
        try:
            first, *others = person_called(self._gallery, query).sets
        except NotFound as reason:
            raise NotFound(f"there is neither a set nor a person {query!r}: see people") from reason
        return first, others

    def _search(self) -> Search:
        """The gallery as it is now, ready to be asked."""
        from lookalike import open_search

        version = self._gallery.fingerprint()
        if self._opened is None or self._opened[0] != version:
            self._opened = version, open_search(self._gallery)
        return self._opened[1]

    def _pictures(self, shown: Iterable[tuple[str, str, int | None]]) -> Iterable[str | Image]:
        """A line and a picture for each set that has pictures: of a face, or of the one in the middle."""
        from mcp.server.mcpserver import Image

        for words, set_id, face in shown:
            held = self._gallery.get(set_id, pictures=True).pictures
            if held:
                picture = held[len(held) // 2 if face is None else face]
                kind = (media_type(picture) or "image/png").removeprefix("image/")
                yield words
                yield Image(data=picture, format=kind)


def server_of(gallery: Gallery) -> MCPServer[Any]:
    """A server of the tools of a gallery; its transport is up to the caller."""
    from mcp.server.mcpserver import MCPServer
    from mcp_types import ToolAnnotations

    from lookalike import __version__

    server: MCPServer[Any] = MCPServer(
        "lookalike", instructions=INSTRUCTIONS, version=__version__, log_level="ERROR"
    )
    tools = Tools(gallery)
    for tool in (tools.search, tools.explain, tools.people, tools.status):
        told = ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False)
        server.add_tool(_in_words(tool), annotations=told, structured_output=False)
    return server


def _in_words(tool: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """The same, with mistakes of whoever asks told in a sentence."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    def told(*given: Any, **named: Any) -> list[Any]:
        try:
            return tool(*given, **named)
        except LookalikeError as reason:
            raise ToolError(str(reason)) from None

    return told


def _checked(top: int) -> int:
    if not 1 <= top <= MOST:
        raise BadInput(f"top must be a whole number from 1 to {MOST}, got {top}")
    return top


def _text(said: Any) -> str:
    return json.dumps(said, ensure_ascii=False, allow_nan=False)
