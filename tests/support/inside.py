"""Loads a module that runs inside the sandbox."""

from __future__ import annotations

import importlib.util

from greenloop.sandboxes import payload


def load(name):
    spec = importlib.util.spec_from_file_location(name, payload.folder() / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
