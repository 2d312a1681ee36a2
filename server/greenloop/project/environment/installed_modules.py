"""Which top-level modules an environment has, by its files. Nothing of it is imported."""

from __future__ import annotations

from greenloop.project.environment.interpreters import site_packages
from greenloop_sandbox import Environment


def has_other_module(environment: Environment, name: str, data: bytes) -> bool:
    """Is a module or package of this name installed, other than one with this content?

    A project that is installed from the workspace itself has the same content there.
    """
    for folder in site_packages(environment.prefix, environment.version):
        for file in (folder / name / "__init__.py", folder / f"{name}.py"):
            if file.is_file():
                return file.read_bytes() != data
        if any(folder.glob(f"{name}.*.so")) or any(folder.glob(f"{name}.*.pyd")):
            return True
    return False
