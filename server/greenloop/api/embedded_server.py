"""The server of an embedded model, which is started by hand or by the first run that needs it."""

from __future__ import annotations

from greenloop.models.embedded.server import start, status, stop
