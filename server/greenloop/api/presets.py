"""The presets that a user may choose. Light: loads nothing else of the engine."""

from __future__ import annotations

from greenloop.engine.presets import IMPROVE, offered_presets
