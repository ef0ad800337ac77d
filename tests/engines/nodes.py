"""Clusters on this machine, for tests that need one which somebody else started."""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from lookalike.engines.ray import Ray
from tests.waiting import PATIENCE


def settle() -> None:
    """Set what Ray asks for once in a process, when it is loaded; clusters and who asks them must agree.

    A secret, without which whoever reaches this machine could use it; and that Ray uses the loopback address,
    which no change of this machine's network takes away.
    """
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")


def new_cluster(processors: int = 2, port: int | None = None) -> Any:
    """A cluster of one node, at a port of its own unless one is given; it ends with this process."""
    from ray.cluster_utils import Cluster

    about = {"num_cpus": processors, "include_dashboard": False} | ({"gcs_server_port": port} if port else {})
    return Cluster(initialize_head=True, head_node_args=about)


@contextmanager
def one_node(processors: int = 2, port: int | None = None) -> Iterator[Any]:
    """A cluster of one node, for as long as the block."""
    cluster = new_cluster(processors, port)
    try:
        yield cluster
    finally:
        cluster.shutdown()


def kill_head(cluster: Any) -> None:
    """Kill the process that leads a cluster; those that hold slices live on for a while."""
    os.kill(cluster.head_node.all_processes["gcs_server"][0].process.pid, signal.SIGKILL)


class Nodes:
    """Two nodes, of which the second may be lost and replaced.

    Parameters
    ----------
    cluster : Cluster
        Of one node, of one processor.
    env : mapping of str to str, optional
        What the processes of the second node find in their environment besides.
    """

    def __init__(self, cluster: Any, env: Mapping[str, str] | None = None) -> None:
        self.cluster, self.env = cluster, dict(env or {})
        self.replace_it()
        self.engine = Ray(cluster.address)

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def lose_one(self) -> None:
        self.cluster.remove_node(self.second, allow_graceful=False)

    def replace_it(self) -> None:
        self.second = self.cluster.add_node(num_cpus=1, env_vars=self.env, wait=False)
        self.cluster.wait_for_nodes(PATIENCE)
        end = time.monotonic() + PATIENCE
        # Until it is known what the node has to offer, everything would be put on the other.
        while self.cluster.global_state.cluster_resources().get("CPU", 0) < 2:
            assert time.monotonic() < end, "the second node offers nothing"
            time.sleep(0.1)


@contextmanager
def two_nodes(env: Mapping[str, str] | None = None) -> Iterator[Nodes]:
    """A cluster of two nodes."""
    with one_node(1) as cluster:
        found = Nodes(cluster, env)
        with found.engine:
            yield found
