"""What dead owners left is removed."""

from __future__ import annotations

import os
from dataclasses import replace
from types import SimpleNamespace

from greenloop_sandbox.container import engine
from greenloop_sandbox.container.engine import BOOT_LABEL, LABEL, OWNER_LABEL, Engine

ENGINE = Engine(client=None, errors=(OSError,), name="Docker", version="1")


def test_only_what_dead_owners_of_this_boot_left_is_swept():
    removed = []

    def container(name: str, **labels: str) -> SimpleNamespace:
        return SimpleNamespace(labels={LABEL: "1", **labels}, remove=lambda **_: removed.append(name))

    mine = engine.container_labels()
    there = [
        container("mine", **mine),
        container("dead", **{**mine, OWNER_LABEL: "4194303/1.0"}),
        container("pid used again", **{**mine, OWNER_LABEL: f"{os.getpid()}/1.0"}),
        container("elsewhere", **{OWNER_LABEL: "4194303/1.0", BOOT_LABEL: "another"}),
        container("by hand"),
    ]
    client = SimpleNamespace(containers=SimpleNamespace(list=lambda **_: there))
    assert engine.remove_orphans(replace(ENGINE, client=client)) == 2
    assert removed == ["dead", "pid used again"]
