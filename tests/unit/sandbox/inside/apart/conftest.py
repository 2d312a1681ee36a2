"""A project that both sides of a conversation have."""

from __future__ import annotations

import pytest

from two_sides import shop_module


@pytest.fixture
def shop():
    with shop_module() as module:
        yield module
