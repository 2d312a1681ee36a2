"""Files are those of the client where it lets them be read and written."""

from __future__ import annotations

import pytest
from acp.schema import ReadTextFileResponse

from acp_turn import FILES, RIGHT, WRONG, FakeClient, ask, found


class LineEditor(FakeClient):
    """Reads the lines of its buffers: joined by line feeds, and without one at the end."""

    async def read_text_file(self, session_id: str, path: str) -> ReadTextFileResponse:
        return ReadTextFileResponse(content="\n".join(self.buffers[path].splitlines()))


async def test_the_editor_writes_where_it_can_and_unsaved_text_is_tested(root, use):
    path = str(root / "m.py")
    unsaved = WRONG.replace("\n", "\r\n")
    fake = use(found({"m.py": unsaved}, {"m.py": RIGHT.replace("\n", "\r\n")}))
    client = FakeClient(buffers={path: unsaved})
    await ask(root, client, capabilities=FILES)
    assert fake.requests[0].buffers == {"m.py": unsaved.encode()}
    assert client.buffers[path] == RIGHT.replace("\n", "\r\n")
    assert (root / "m.py").read_text() == WRONG


async def test_a_file_that_the_editor_did_not_write_gives_the_others_back(root, use):
    (root / "n.py").write_text("A = 1\n")
    use(found({"m.py": WRONG, "n.py": "A = 1\n"}, {"m.py": RIGHT, "n.py": "A = 2\n"}))
    buffers = {str(root / "m.py"): WRONG, str(root / "n.py"): "A = 1\n"}
    client = FakeClient(buffers=dict(buffers))
    client.ignored = {"n.py"}
    await ask(root, client, capabilities=FILES)
    assert client.buffers == buffers
    assert "Your client did not write n.py." in client.said
    assert client.calls("edit") == [("Apply the verified change of m.py, n.py", "failed")]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_an_editor_that_gives_lines_instead_of_bytes_has_no_other_text(root, use, end):
    before, after = (text.replace("\n", end) for text in (WRONG, RIGHT))
    (root / "m.py").write_bytes(before.encode())
    fake = use(found({"m.py": before}, {"m.py": after}))
    client = LineEditor(buffers={str(root / "m.py"): before})
    await ask(root, client, capabilities=FILES)
    assert fake.requests[0].buffers == {}
    assert fake.reverified == []
    assert client.buffers == {str(root / "m.py"): after}
    assert client.calls("edit") == [("Apply the verified change of m.py", "completed")]
