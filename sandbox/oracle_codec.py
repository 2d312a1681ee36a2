"""Encodes plain data for the split oracle's two processes, by exact type: never objects, never code."""

import json
import os
import struct

MAX_MESSAGE_BYTES = 8 << 20  # bytes of one message
_HEADER = struct.Struct(">I")
_CONTAINERS = {"l": list, "t": tuple, "s": set, "z": frozenset}
_TAGS = {kind: tag for tag, kind in _CONTAINERS.items()}


class CannotCrossError(BaseException):
    """A value cannot cross between the processes.

    A `BaseException`, so that no `except Exception` of a test takes it for an answer of the candidate.
    """


def encode(value):
    """Encodes plain data as JSON. Raises `CannotCrossError` for anything else, subclasses of these types included."""
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
    raise CannotCrossError("a value of type %s" % kind.__name__[:60])


def decode(value):
    """Decodes what `encode` made. Raises `CannotCrossError` for anything that `encode` never makes."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is not dict or len(value) != 1:
        raise CannotCrossError("an answer of unknown form")
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
        raise CannotCrossError("an answer of unknown form") from error
    raise CannotCrossError("an answer of unknown form")


def send(fd, message):
    body = json.dumps(message).encode()
    if len(body) > MAX_MESSAGE_BYTES:
        raise CannotCrossError("a value of %d bytes" % len(body))
    data = _HEADER.pack(len(body)) + body
    while data:
        data = data[os.write(fd, data) :]


def receive(fd):
    """The next message. Raises `EOFError` when the other side is gone or its message is too large."""
    size = _HEADER.unpack(_read_exactly(fd, _HEADER.size))[0]
    if size > MAX_MESSAGE_BYTES:
        raise EOFError
    return json.loads(_read_exactly(fd, size))


def _read_exactly(fd, size):
    data = b""
    while len(data) < size:
        part = os.read(fd, size - len(data))
        if not part:
            raise EOFError
        data += part
    return data
