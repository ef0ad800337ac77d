"""T28: requests drawn from the OpenAPI document; no answer is a mistake of ours."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from lookalike.progress import Track, silent
from tests.web.asking import asker, fill
from tests.web.test_fuzz import LEFT_OUT as PATHS_LEFT_OUT
from tests.web.test_fuzz import drawn
from tests.web.test_guard import guarded
from trust.crowd import run_crowd
from trust.outcome import Outcome, share_of, tried

TITLE: Final = (
    "requests made from the OpenAPI document, allowed and not: no answer of 5xx, every refusal a sentence; "
    "50 clients at once during intake: no error"
)
RELEASE: Final = 2_500
LEFT_OUT: Final = f"paths that start long work or end with {', '.join(PATHS_LEFT_OUT)}"


def run(share: float = 1.0, seed: int = 0, track: Track = silent) -> Outcome:
    """One server, requests in any order; decisions of one are there for the next. Then a crowd."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, asker(fill(Path(folder) / "g.gallery")) as server:
        document = server.get("/api/openapi.json")
        known = document["components"]["schemas"]
        routes = [
            (method, path, about)
            for path, methods in document["paths"].items()
            for method, about in methods.items()
            if not path.endswith(PATHS_LEFT_OUT)
        ]
        answers: dict[int, int] = {}

        def ask(number: int) -> str | None:
            chance = random.Random(f"{seed} {number}")
            method, path, about = chance.choice(routes)
            place, body = _request(path, about, known, chance)
            said = server(method.upper(), place, body)
            answers[said.status] = answers.get(said.status, 0) + 1
            guarded(said)  # which says that it is no mistake of ours
            if said.status >= 500 or (said.status >= 400 and not said.error):
                return f"{method} {place[:100]}: {said.status} {said.body[:200]!r}"
            return None

        count = share_of(RELEASE, share)
        found = tried("T28", range(count), ask, track, total=count)
    note = ", ".join(f"{count} x {status}" for status, count in sorted(answers.items()))
    one_by_one = Outcome("T28", found.cases, found.failures, time.monotonic() - started, note)
    with tempfile.TemporaryDirectory() as folder:
        return one_by_one + run_crowd(Path(folder), share, seed, track)


def _request(
    path: str, about: dict[str, Any], known: dict[str, Any], chance: random.Random
) -> tuple[str, Any]:
    """A place and a body that the document allows, or with some chance does not."""
    place = path
    for one in about.get("parameters", ()):
        written = str(drawn(one["schema"], known, chance)).encode("utf-8", "replace").hex("%")
        written = f"%{written}" if written else ""
        if one["in"] == "path":
            place = place.replace(f"{{{one['name']}}}", written or "x")
        elif chance.random() < 0.5:
            place += f"{'&' if '?' in place else '?'}{one['name']}={written}"
    if "requestBody" not in about:
        return place, None
    return place, drawn(about["requestBody"]["content"]["application/json"]["schema"], known, chance)
