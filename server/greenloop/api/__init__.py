"""The public Python API: refine until tests pass, verify a change, run and explain tests, check the machine.

Everything is asynchronous, as the engine is. Errors are those of `greenloop.core.errors`: each has one sentence, a
`remedy` and an `exit_code`. Importing this package loads nothing of the engine; the first use of a name, or of a
module such as `api.history`, does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenloop.api import generated_tests as generated_tests
    from greenloop.api import health as health
    from greenloop.api import history as history
    from greenloop.api import models as models
    from greenloop.api import session as session
    from greenloop.api import target_adapters as target_adapters
    from greenloop.api import targets as targets
    from greenloop.api import workspace as workspace
    from greenloop.api.health import DoctorFinding as DoctorFinding
    from greenloop.api.health import doctor as doctor
    from greenloop.api.pool import SandboxPool as SandboxPool
    from greenloop.api.result_files import DiskFiles as DiskFiles
    from greenloop.api.result_files import FileChange as FileChange
    from greenloop.api.result_files import Files as Files
    from greenloop.api.session import RefineRequest as RefineRequest
    from greenloop.api.session import RefineSession as RefineSession
    from greenloop.api.settings import Settings as Settings
    from greenloop.api.settings import load_settings as load_settings
    from greenloop.api.state import SessionState as SessionState
    from greenloop.api.testing import Explanation as Explanation
    from greenloop.api.testing import SuiteReport as SuiteReport
    from greenloop.api.testing import explain as explain
    from greenloop.api.testing import run_tests as run_tests
    from greenloop.api.verification import Verification as Verification
    from greenloop.api.verification import VerifyRequest as VerifyRequest
    from greenloop.api.verification import verify as verify

_NAMES = {
    "health": ("DoctorFinding", "doctor"),
    "pool": ("SandboxPool",),
    "result_files": ("DiskFiles", "FileChange", "Files"),
    "session": ("RefineSession", "RefineRequest"),
    "settings": ("Settings", "load_settings"),
    "state": ("SessionState",),
    "testing": ("Explanation", "SuiteReport", "explain", "run_tests"),
    "verification": ("Verification", "VerifyRequest", "verify"),
}
# Modules that are loaded at their first use, as attributes of this package.
_MODULES = {
    *_NAMES,
    "generated_tests",
    "history",
    "models",
    "target_adapters",
    "targets",
    "workspace",
}
__all__ = sorted(name for names in _NAMES.values() for name in names)  # noqa: PLE0605 - a list


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    home = next((home for home, names in _NAMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
