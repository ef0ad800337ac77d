"""The manual of the page, held against the server: its table of requests, its keys, and its curl examples."""

from __future__ import annotations

import ast
import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike import FaceSet, Gallery
from tests.frozen.page import DOCUMENT, NOT_OURS, document
from tests.waiting import PATIENCE

ROOT = Path(__file__).parents[1]
MANUAL = (ROOT / "docs" / "reference" / "page.md").read_text(encoding="utf-8")


def test_every_request_is_in_the_table(tmp_path: Path) -> None:
    from lookalike.web.app import create_app

    Gallery(tmp_path / "g", create=True).close()
    document = create_app(tmp_path / "g", "token", ["127.0.0.1:1"]).openapi()
    served = {
        (method.upper(), path)
        for path, methods in document["paths"].items()
        for method in methods
        if path.startswith("/api")
    }
    told = re.findall(r"`(GET|POST|DELETE) (/api/[^`]*)`", MANUAL)
    assert served == set(told)


def test_the_description_in_the_documentation_is_that_of_the_server() -> None:
    kept, served = json.loads(DOCUMENT.read_text(encoding="utf-8")), json.loads(document())
    for told in (kept, served):
        del told["openapi"]
        for name in NOT_OURS:
            told["components"]["schemas"].pop(name, None)
    assert kept == served, "write it again: python -m tests.frozen --accept"


def test_generators_of_clients_are_told_all_they_need() -> None:
    """`make client` generates one, and runs the example; this holds the two together without the network."""
    told = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    asked = [one for methods in told["paths"].values() for one in methods.values()]
    names = [one["operationId"] for one in asked]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)
    assert told["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert all(one["security"] == [{"key": []}] for one in asked)
    schemas = told["components"]["schemas"]
    for one in asked:
        body = one.get("requestBody", {}).get("content", {}).get("multipart/form-data")
        if body is not None:
            files = schemas[body["schema"]["$ref"].rpartition("/")[2]]["properties"]["files"]
            assert files["items"] == {"type": "string", "format": "binary"}
    tree = ast.parse((ROOT / "examples" / "client" / "add_and_find.py").read_text(encoding="utf-8"))
    used = {one.module: one.names for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
    assert {one.name for one in used["lookalike_client.api.default"]} <= set(names)
    # Those of a choice are called after the schema and the property that has it.
    known = {"".join(part[:1].upper() + part[1:] for part in name.split("_")): name for name in schemas}
    known |= {
        called + name.title(): name
        for called, schema in list(known.items())
        for name, held in schemas[schema].get("properties", {}).items()
        if "enum" in held
    }
    assert {one.name for one in used["lookalike_client.models"]} <= set(known)


def test_every_key_is_in_the_table() -> None:
    page = (ROOT / "lookalike" / "web" / "templates" / "review.html").read_text(encoding="utf-8")
    [table] = re.findall(r"^### Keys of the review\n(.*?)(?=^#)", MANUAL, re.DOTALL | re.MULTILINE)
    assert set(re.findall(r"<kbd>(\w)</kbd>", page)) == set(re.findall(r"`(\w)`", table))
    page = (ROOT / "lookalike" / "web" / "templates" / "people.html").read_text(encoding="utf-8")
    [table] = re.findall(r"^### Keys of the people\n(.*?)(?=^#)", MANUAL, re.DOTALL | re.MULTILINE)
    assert set(re.findall(r"<kbd>(\w)</kbd>", page)) == set(re.findall(r"`(\w)`", table))


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    rng = np.random.default_rng(0)
    people = rng.normal(size=(12, 64))
    with Gallery(tmp_path / "g", create=True) as gallery:
        for number in range(30):
            gallery.add(FaceSet(f"clip-{number:02d}", people[number % 12] + rng.normal(size=(4, 64))))
    command = [sys.executable, "-c", "from lookalike.cli import main; main()", "serve", str(tmp_path / "g")]
    with subprocess.Popen(
        [*command, "--port", "0", "--no-browser"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        yield next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
        server.send_signal(signal.SIGINT)
        assert server.wait(PATIENCE) == 0


def test_curl_examples_run(address: str, tmp_path: Path) -> None:
    for program in ("bash", "curl", "python3"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```$", MANUAL, re.DOTALL | re.MULTILINE))
    assert script.count("curl ") >= 6
    done = subprocess.run(
        [
            "bash",
            "-euo",
            "pipefail",
            "-c",
            script.replace("curl -s", "curl -s --fail-with-body --noproxy '*'"),
        ],
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "ADDRESS": address, "BASE": address.partition("/?")[0]},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert '"error":"' not in said.replace('"error":""', ""), said
    assert '"sets":30' in said.replace(" ", "")
    assert '"rank":3' in said.replace(" ", "")
    assert '"done"' in said
