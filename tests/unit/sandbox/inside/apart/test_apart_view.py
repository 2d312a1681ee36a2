"""Filters of system calls, run as the kernel runs them."""

from __future__ import annotations

import errno
import struct

import pytest

from inside import load_apart

filters = load_apart()["apart_view"]
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {"x86_64": {"ptrace": 101, "ioctl": 16, "getpid": 39}, "aarch64": {"ptrace": 117, "ioctl": 29, "getpid": 172}}
DENIED, UNKNOWN = filters.denied(errno.EPERM), filters.denied(errno.ENOSYS)
KILLED = 0x80000000


def answer(program: bytes, number: int, architecture: int, *arguments: int) -> int:
    """The answer of a program of BPF instructions to a call."""
    call = struct.pack("<IIQ6Q", number, architecture, 0, *(*arguments, *[0] * 6)[:6])
    steps = [struct.unpack_from("<HBBI", program, place) for place in range(0, len(program), 8)]
    place, held = 0, 0
    while True:
        operation, then, otherwise, value = steps[place]
        place += 1
        if operation == 0x20:
            (held,) = struct.unpack_from("<I", call, value)
        elif operation == 0x06:
            return value
        else:
            tests = {0x15: held == value, 0x25: held > value, 0x35: held >= value, 0x45: bool(held & value)}
            place += then if tests[operation] else otherwise


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_a_call_gets_what_the_filter_says(machine):
    tests = ((filters.SECOND, filters.EQUAL, 5, DENIED), (filters.FIRST, filters.ABOVE, 9, UNKNOWN))
    program = filters.assemble(
        [("ptrace", DENIED), ("no_such_call", DENIED)], [("ioctl", tests, filters.ALLOWED)], machine
    )
    architecture, numbers = ARCHITECTURES[machine], NUMBERS[machine]
    assert answer(program, numbers["ptrace"], architecture) == DENIED
    assert answer(program, numbers["getpid"], architecture, 10, 5) == filters.ALLOWED
    assert answer(program, numbers["ioctl"], architecture, 10, 5) == DENIED
    assert answer(program, numbers["ioctl"], architecture, 10, 4) == UNKNOWN
    assert answer(program, numbers["ioctl"], architecture, 9, 4) == filters.ALLOWED


def test_calls_of_other_architectures_are_none():
    program = filters.assemble([], [], "x86_64")
    assert answer(program, 39, ARCHITECTURES["aarch64"]) == KILLED
    assert answer(program, 0x40000000 + 39, ARCHITECTURES["x86_64"]) == UNKNOWN
    assert filters.assemble([], [], "riscv64") is None
