"""Loads a module that runs inside the sandbox."""

from __future__ import annotations

import functools
import importlib.util

from greenloop_sandbox import payload


def load(name):
    paths = [payload.folder() / room / f"{name}.py" for room in payload.ROOMS]
    spec = importlib.util.spec_from_file_location(name, next(path for path in paths if path.exists()))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def load_apart():
    """Loads the modules of greenloop_sandbox/inside/apart, which import each other, by their names."""
    return load("supervisor").Siblings()
