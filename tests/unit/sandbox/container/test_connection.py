"""The conversation with a container."""

from __future__ import annotations

import socket
import struct
import time
from types import SimpleNamespace

import pytest

from greenloop_sandbox import Limits, payload
from greenloop_sandbox.container import hardening
from greenloop_sandbox.container.connection import ContainerConnection, ContainerError
from greenloop_sandbox.container.engine import Engine

SHAPE = hardening.ContainerConfig(image="img", root="/root/a b", limits=Limits(), network=False, variables={})


class Container:
    """What a box asks its container."""

    def __init__(self, state: dict | None) -> None:
        self.state, self.attrs = state, {}

    def reload(self) -> None:
        if self.state is None:
            error = OSError("404 Client Error")
            error.response = SimpleNamespace(status_code=404)  # type: ignore[attr-defined]
            raise error
        self.attrs = {"State": self.state}

    def remove(self, **_: object) -> None:
        pass


ENGINE = Engine(client=None, errors=(OSError,), name="Docker", version="1")


def boxed(state: dict | None = None) -> tuple[ContainerConnection, socket.socket]:
    here, there = socket.socketpair()
    return ContainerConnection(
        engine=ENGINE, config=SHAPE, container=Container(state), attached=here, socket_=here
    ), there


def frame(stream: int, data: bytes) -> bytes:
    return struct.pack(">BxxxI", stream, len(data)) + data


def packed(message: dict) -> bytes:
    return payload.protocol().pack(message)


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_stdout_is_taken_out_of_the_frames_and_stderr_kept(size):
    box, there = boxed()
    answer = packed({"kind": "done", "text": "x" * 50})
    whole = frame(1, answer[:7]) + frame(2, b"warning\n") + frame(1, answer[7:])
    for start in range(0, len(whole), size):
        there.sendall(whole[start : start + size])
    assert box.ask({"kind": "run"}, "done", 5)["text"] == "x" * 50
    assert box.stderr() == "warning\n"
    box.close()
    there.close()


def test_stderr_is_bounded():
    box, there = boxed()
    there.sendall(
        b"".join(frame(2, b"a" * 5000) for _ in range(4)) + frame(2, b"end") + frame(1, packed({"kind": "done"}))
    )
    box.ask({"kind": "run"}, "done", 5)
    assert len(box.stderr()) == 8192
    assert box.stderr().endswith("end")
    box.close()
    there.close()


@pytest.mark.parametrize(
    ("state", "sent", "said"),
    [
        (None, b"", "is gone"),
        (
            {"Running": False, "ExitCode": 3},
            frame(2, b"Traceback\nKeyError: 'x'\n"),
            "status 3. Last output: KeyError: 'x'",
        ),
        ({"Running": False, "ExitCode": 137}, b"", "killed from outside"),
        ({"Running": False, "OOMKilled": True}, b"", "ran out of memory"),
        ({"Running": True}, b"", "connection to the sandbox's container was lost"),
        ({"Running": True}, frame(1, b"\xff\xff\xff\xff"), "invalid message"),
        ({"Running": True}, frame(1, packed({"kind": "broken", "reason": "No space."})), "No space."),
    ],
)
def test_the_end_of_the_conversation_is_explained(state, sent, said):
    box, there = boxed(state)
    there.sendall(sent)
    there.shutdown(socket.SHUT_WR)
    with pytest.raises(ContainerError, match=said.replace(".", r"\.")):
        box.ask({"kind": "run"}, "done", 5)
    box.close()
    box.close()
    there.close()


def test_silence_is_given_up_in_time():
    box, there = boxed()
    began = time.monotonic()
    with pytest.raises(ContainerError, match="did not answer in time"):
        box.ask({"kind": "run"}, "done", 0.1)
    assert time.monotonic() - began < 2
    there.close()
