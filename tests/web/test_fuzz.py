"""Requests drawn from the OpenAPI document: whatever is sent, no answer is a mistake of ours."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from lookalike.web.catalogue import key_of
from tests.web.asking import asker, fill
from tests.web.test_guard import guarded

SEED = 28
COUNT = 60
ODD: list[Any] = [None, True, 0, -1, 1.5, 2**53, 2**63, 10**30, 1e308, "", "x", "\ud800", "\0", "é" * 300]
ODD += [[], {}, [[]], {"a": {}}, ["x"] * 50, "0" * 16, "a" * 5000]
# These change nothing for good, and take no time.
LEFT_OUT = ("/api/uploads", "/api/files", "/api/jobs", "/events", "/keep")


def drawn(schema: dict[str, Any], known: dict[str, Any], rng: random.Random) -> Any:
    """A value that a schema allows, or with some chance one that it does not."""
    if rng.random() < 0.15:
        return rng.choice(ODD)
    if "$ref" in schema:
        return drawn(known[schema["$ref"].rpartition("/")[2]], known, rng)
    if "anyOf" in schema:
        return drawn(rng.choice(schema["anyOf"]), known, rng)
    if "enum" in schema or "const" in schema:
        return rng.choice(schema.get("enum", [schema.get("const")]))
    kind = schema.get("type")
    if kind == "object":
        wanted = [name for name in schema.get("properties", {}) if rng.random() < 0.8]
        return {name: drawn(schema["properties"][name], known, rng) for name in wanted}
    if kind == "array":
        return [drawn(schema.get("items", {}), known, rng) for _ in range(rng.randrange(4))]
    if kind == "integer":
        return rng.choice([schema.get("minimum", 0), schema.get("maximum", 9), 1, 2, 3])
    if kind == "string":
        return (
            key_of(f"clip-{rng.randrange(20):03d}")
            if "pattern" in schema
            else rng.choice(["Ada", "auto", "Bo"])
        )
    return {"boolean": rng.random() < 0.5, "number": rng.random()}.get(str(kind))


def test_requests_from_the_schema(tmp_path: Path) -> None:
    rng, answered = random.Random(SEED), 0
    with asker(fill(tmp_path / "g.gallery")) as server:
        document = server.get("/api/openapi.json")
        known = document["components"]["schemas"]
        for path, methods in document["paths"].items():
            for method, about in methods.items():
                if any(path.endswith(end) for end in LEFT_OUT):
                    continue
                for _ in range(COUNT):
                    place = path
                    for one in about.get("parameters", ()):
                        value = drawn(one["schema"], known, rng)
                        written = str(value).encode("utf-8", "replace").hex("%")
                        written = f"%{written}" if written else ""
                        if one["in"] == "path":
                            place = place.replace(f"{{{one['name']}}}", written or "x")
                        elif rng.random() < 0.5:
                            place += f"{'&' if '?' in place else '?'}{one['name']}={written}"
                    body = None
                    if "requestBody" in about:
                        body = drawn(
                            about["requestBody"]["content"]["application/json"]["schema"], known, rng
                        )
                    said = server(method.upper(), place, body)
                    guarded(said)  # which says that it is no mistake of ours
                    answered += said.status == 200
                    if said.status >= 400:
                        assert said.error
    assert answered > 200


def test_the_document_describes_every_answer(tmp_path: Path) -> None:
    """Fields of answers are those of the document, and no more."""
    with asker(fill(tmp_path / "g.gallery")) as server:
        document = server.get("/api/openapi.json")
        known = document["components"]["schemas"]
        key = key_of("clip-000")
        target = server.post("/api/searches", {"set": key})["answers"][0]["set"]["key"]
        asked = [
            ("get", "/api/gallery", None),
            ("get", "/api/sets", None),
            ("post", "/api/searches", {"set": key}),
            ("post", "/api/searches/evidence", {"ask": {"set": key}, "target": target}),
            ("post", "/api/judgements", {"query": key, "targets": [target], "verdict": "same"}),
            ("get", "/api/judgements", None),
            ("post", "/api/people", {"name": "Ada", "sets": [key]}),
            ("get", "/api/people", None),
            ("get", "/api/jobs", None),
        ]
        for method, path, body in asked:
            schema = document["paths"][path][method]["responses"]["200"]["content"]["application/json"][
                "schema"
            ]
            told = server(method.upper(), path, body).json
            fields = known[schema["$ref"].rpartition("/")[2]]["properties"]
            assert told.keys() == fields.keys(), path
    assert "servers" not in document
