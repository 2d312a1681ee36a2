"""Targets in files that the tests do not see as they are, by the adapter of a plugin or package. Light."""

from __future__ import annotations

from greenloop.engine.target_adapters import (
    UNADAPTED,
    AdaptedTarget,
    Unadapted,
    adapt,
    find_adapter,
    label_past,
    of_run,
    title,
)
