"""The server of the embedded model."""

import asyncio

import pytest

from greenloop.plugins.embedded import server


@pytest.fixture(scope="module", autouse=True)
def state(tmp_path_factory):
    """A separate server for these tests, which ends with them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield
        asyncio.run(server.stop())
