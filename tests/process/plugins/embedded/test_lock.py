"""A lock ends with its process."""

from __future__ import annotations

import os
import subprocess
import sys

from greenloop.plugins.embedded import lock


def test_a_lock_ends_with_its_process(tmp_path):
    path = tmp_path / "lock"
    code = f"from pathlib import Path; from greenloop.plugins.embedded import lock; lock.take(Path({str(path)!r})); print('has', flush=True); input()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout.readline() == b"has\n"
        assert lock.held(path)
        assert lock.take(path) is None
        holder.kill()
        holder.wait()
        assert not lock.held(path)
        os.close(lock.take(path))
