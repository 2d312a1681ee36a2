"""The filter of system calls."""

from __future__ import annotations

import struct

import pytest

from greenloop_sandbox.backends import _seccomp


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_a_whole_program(machine):
    data = _seccomp.program(machine)
    steps = [struct.unpack_from("<HBBI", data, offset) for offset in range(0, len(data), 8)]
    for number, (operation, then, otherwise, _value) in enumerate(steps):
        if operation & 7 == 5:  # a jump stays inside
            assert number + 1 + max(then, otherwise) < len(steps)
    assert (steps[-1][0], steps[-1][3]) == (6, 0x7FFF0000)


def test_unknown_machines_have_no_filter():
    assert _seccomp.program("riscv64") is None
