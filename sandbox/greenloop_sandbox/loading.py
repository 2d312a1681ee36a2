"""Makes a back end by its name, and describes the Python that runs this program."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from greenloop_sandbox.errors import CannotVerifyError
from greenloop_sandbox.ports import Sandbox
from greenloop_sandbox.records import Environment

KINDS = ("bubblewrap", "docker", "none")


@dataclass(frozen=True, kw_only=True)
class _Settings:
    image: str
    runtime: str
    unsafe: bool


def load_sandbox(kind: str = "bubblewrap", *, image: str = "", runtime: str = "", unsafe: bool = False) -> Sandbox:
    """A back end that has not been tested: `probe` says whether it works here.

    `image` and `runtime` are those of a container engine; `unsafe` is your consent to `none`, which isolates nothing.
    Raises `CannotVerifyError` for an unknown kind.
    """
    if kind not in KINDS:
        raise CannotVerifyError(f"There is no sandbox named '{kind}'.", remedy=f"Choose one of: {', '.join(KINDS)}.")
    module = import_module(f"greenloop_sandbox.backends.{kind}")
    sandbox: Sandbox = module.create(_Settings(image=image, runtime=runtime, unsafe=unsafe))
    return sandbox


def own_environment() -> Environment:
    """The Python that runs this program, with its packages."""
    return Environment(
        executable=Path(sys.executable),
        prefix=Path(sys.prefix),
        base=Path(sys.base_prefix),
        version=sys.version_info[:2],
        source="this program",
        has_pytest=True,
    )
