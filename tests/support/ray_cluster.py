"""A real Ray cluster on this machine: a head without processors, and nodes with one each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STORE = 100_000_000  # bytes of each node's object store


@contextmanager
def start_cluster(nodes: int = 2) -> Iterator[Any]:
    """Ray's own `Cluster`; this process has left it at the end."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(nodes):
            made.add_node(num_cpus=1, object_store_memory=STORE)
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def kill_node(cluster: Any, node: Any) -> None:
    """Kills all processes of a node at once, as a power cut does."""
    cluster.worker_nodes.discard(node)
    node.kill_all_processes(check_alive=False, allow_graceful=False)
