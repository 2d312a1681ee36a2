"""A verification that ends as the test says."""

from __future__ import annotations

import pytest

from greenloop.cli.commands import verify as command


@pytest.fixture
def answer(project, monkeypatch):
    """Makes the verification return or raise what it is given; what was asked for is in the list."""
    asked = []

    def set_(result):
        async def verify(request, *, settings, report_status, report_left):
            asked.append((request, settings))
            report_status("running")
            if isinstance(result, Exception):
                raise result
            return result

        monkeypatch.setattr(command, "verify", verify)
        return asked

    return set_
