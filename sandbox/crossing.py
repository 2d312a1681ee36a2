"""Plain data between the two processes of the split oracle, rebuilt by exact type: never an object, never code."""

import json
import os
import struct

FRAME = 8 << 20  # bytes of one message
_HEAD = struct.Struct(">I")
_CONTAINERS = {"l": list, "t": tuple, "s": set, "z": frozenset}
_TAGS = {kind: tag for tag, kind in _CONTAINERS.items()}


class Unfit(BaseException):
    """Something cannot cross. No `except Exception` of a test may take it for an answer of the candidate."""


def encode(value):
    """Plain data as JSON says it. Raises `Unfit` for anything else; subclasses are something else."""
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -(1 << 53) < value < 1 << 53 else {"i": hex(value)}
    if kind is float:
        return {"f": value.hex()}
    if kind is bytes:
        return {"b": value.hex()}
    if kind in _TAGS:
        return {_TAGS[kind]: [encode(item) for item in value]}
    if kind is dict:
        return {"d": [[encode(name), encode(item)] for name, item in value.items()]}
    raise Unfit("a value of type %s" % kind.__name__[:60])


def decode(value):
    """The data of `encode`. Raises `Unfit` for what `encode` never gives."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is not dict or len(value) != 1:
        raise Unfit("an answer of no known form")
    ((tag, data),) = value.items()
    try:
        if tag in _CONTAINERS and type(data) is list:
            return _CONTAINERS[tag](decode(item) for item in data)
        if tag == "d":
            return {decode(name): decode(item) for name, item in data}
        if tag == "i":
            return int(data, 16)
        if tag == "f":
            return float.fromhex(data)
        if tag == "b":
            return bytes.fromhex(data)
    except (TypeError, ValueError, OverflowError) as error:
        raise Unfit("an answer of no known form") from error
    raise Unfit("an answer of no known form")


def send(fd, message):
    body = json.dumps(message).encode()
    if len(body) > FRAME:
        raise Unfit("a value of %d bytes" % len(body))
    data = _HEAD.pack(len(body)) + body
    while data:
        data = data[os.write(fd, data) :]


def receive(fd):
    """The next message. Raises `EOFError` when the other side is gone or sends more than it may."""
    size = _HEAD.unpack(_exactly(fd, _HEAD.size))[0]
    if size > FRAME:
        raise EOFError
    return json.loads(_exactly(fd, size))


def _exactly(fd, size):
    data = b""
    while len(data) < size:
        part = os.read(fd, size - len(data))
        if not part:
            raise EOFError
        data += part
    return data
