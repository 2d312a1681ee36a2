"""Messages between this machine and a node: packed values, and the reason of a node that refuses."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

from greenloop.core.errors import CannotVerifyError, GreenloopError, ModelError, UsageError

_ERRORS = {error.__name__: error for error in (UsageError, CannotVerifyError, ModelError)}


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Reason why a node cannot do what it was asked for: a sentence and its remedy."""

    kind: str
    sentence: str
    remedy: str

    @classmethod
    def of(cls, error: GreenloopError) -> Refusal:
        kind = next((name for name, each in _ERRORS.items() if isinstance(error, each)), "")
        return cls(kind=kind, sentence=str(error), remedy=error.remedy)

    def error(self) -> GreenloopError:
        return _ERRORS.get(self.kind, GreenloopError)(self.sentence, remedy=self.remedy)


def pack(value: Any) -> bytes:
    return pickle.dumps(value)


def unpack(data: bytes) -> Any:
    """Restores a packed value, on a machine with the same greenloop: a cluster's nodes believe each other."""
    return pickle.loads(data)  # noqa: S301 - see above
