"""The command line with one command more, which waits for a slice that does not answer."""

from __future__ import annotations

import sys

from lookalike import cli
from lookalike.cli.app import app
from lookalike.engines import _ray_cluster
from lookalike.engines.contract import Label
from lookalike.engines.ray import Ray
from tests.engines import places


@app.command("wait")
def wait(address: str, begun: str, silence: float = _ray_cluster.SILENCE) -> None:
    """Wait for ever, or until the head of the cluster has been silent for so many seconds."""
    _ray_cluster.SILENCE = silence  # type: ignore[misc]
    with Ray(address) as engine:
        labels = [Label("waiting", "a", "kind", "1")]
        engine.hold(places.opened, [("a", [1, 2])], labels).ask_all(places.waiting, begun, "/nowhere")


if __name__ == "__main__":
    sys.argv[0] = "lookalike"
    cli.main()
