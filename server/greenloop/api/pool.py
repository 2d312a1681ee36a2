"""The open sandboxes that several calls share. Light: loads nothing of the engine."""

from __future__ import annotations

from greenloop_sandbox import SandboxPool
