"""The container, as far as it can be held against the program without an engine that builds it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from typer.main import get_command

from lookalike.cli.app import app

ROOT = Path(__file__).parents[1]
CONTAINER = (ROOT / "Containerfile").read_text(encoding="utf-8")
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")


def test_what_it_copies_and_installs_is_there() -> None:
    for line in re.findall(r"^COPY (.*)$", CONTAINER, re.MULTILINE):
        assert all((ROOT / name).exists() for name in line.split()[:-1]), line
    [extras] = re.findall(r'"\.\[(.*)\]"', CONTAINER)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    # Hatchling wants these to build.
    assert {project["readme"], *project["license-files"]} <= set(CONTAINER.split())
    [python] = re.findall(r"^FROM docker.io/library/python:([\d.]+)-slim$", CONTAINER, re.MULTILINE)
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]


def test_the_pages_that_it_names_are_there() -> None:
    for text in (CONTAINER, COMPOSE):
        assert all((ROOT / name).exists() for name in re.findall(r"docs/[\w/]+\.md", text))
        assert "docs/" in text


def test_what_it_runs_is_a_command_with_these_options() -> None:
    [words] = re.findall(r"^CMD (.*)$", CONTAINER, re.MULTILINE)
    name, *given = json.loads(words)
    command = get_command(app).get_command(None, name)  # type: ignore[attr-defined]
    asked = command.make_context(name, given).params
    assert (asked["host"], asked["port"], asked["browser"]) == ("0.0.0.0", 8417, False)
    # Compose puts there what the command looks for, at the port that it listens at.
    for path in (asked["gallery"].parent, asked["key_file"]):
        assert re.search(rf"^\s*- \./\w+:{path}(:ro)?$", COMPOSE, re.MULTILINE), path
    assert f'"127.0.0.1:{asked["port"]}:{asked["port"]}"' in COMPOSE
    assert f"EXPOSE {asked['port']}" in CONTAINER
