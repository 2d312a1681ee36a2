"""The exceptions that greenloop raises on purpose.

    GreenloopError                one sentence and its remedy; the command line exits with `exit_code`
    ├── UsageError              2: the user named something that does not exist or cannot be read
    │   └── SettingsError
    ├── CannotVerifyError              3: no sandbox, no interpreter, a missing package
    │   ├── BaselineChangedError       the tests changed while a run was under way
    │   ├── OutOfTimeError             the run's time was over before there was anything to search in
    │   └── SandboxBrokenError          the sandbox itself failed during a run
    ├── ModelError              3: unreachable, refused, out of quota
    │   └── ContextTooLongError
    └── WorkspaceError          1: the result could not be written; it stays in the history

A failing test, an unparsable answer or a timeout is data (`core.records`), never an exception.
"""

from __future__ import annotations

import re

from greenloop_sandbox import CannotVerifyError as CannotVerifyError  # noqa: PLC0414
from greenloop_sandbox import GreenloopError as GreenloopError  # noqa: PLC0414
from greenloop_sandbox import SandboxBrokenError as SandboxBrokenError  # noqa: PLC0414


class UsageError(GreenloopError):
    exit_code = 2
    kind = "usage"


class SettingsError(UsageError):
    kind = "settings"


class BaselineChangedError(CannotVerifyError):
    pass


class OutOfTimeError(CannotVerifyError):
    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The run's {seconds:g} s (`seconds`) were over before the tests of the unchanged code had finished.",
            remedy="Allow more time, or name a single test.",
        )


class ModelError(GreenloopError):
    exit_code = 3
    kind = "model"


class ContextTooLongError(ModelError):
    pass


# How providers and editors say that a prompt is too long for their model.
TOO_LONG = re.compile(
    r"context[ _](length|size|window)|maximum context|prompt is too long|too many (input )?tokens|input token count",
    re.IGNORECASE,
)


class WorkspaceError(GreenloopError):
    exit_code = 1
