"""Builds a small seccomp filter without a library: system calls that tests never need fail with EPERM.

It complements the namespaces and does not replace them: it narrows the kernel's attack surface.
"""

from __future__ import annotations

import errno
import platform
import struct

_COMMON = {  # the same numbers on every architecture since Linux 5.1
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "quotactl_fd": 443,
}
_DENIED = {
    "x86_64": {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "unshare": 272, "setns": 308,
        "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "bpf": 321, "userfaultfd": 323,
        "perf_event_open": 298, "keyctl": 250, "add_key": 248, "request_key": 249, "kexec_load": 246,
        "kexec_file_load": 320, "init_module": 175, "finit_module": 313, "delete_module": 176, "swapon": 167,
        "swapoff": 168, "reboot": 169, "acct": 163, "quotactl": 179, "syslog": 103, "open_by_handle_at": 304,
        "name_to_handle_at": 303, "personality": 135, "iopl": 172, "ioperm": 173, "modify_ldt": 154,
        "clock_settime": 227, "settimeofday": 164, "sethostname": 170, "setdomainname": 171, "vhangup": 153,
    },
    "aarch64": {
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "unshare": 97, "setns": 268,
        "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "bpf": 280, "userfaultfd": 282,
        "perf_event_open": 241, "keyctl": 219, "add_key": 217, "request_key": 218, "kexec_load": 104,
        "kexec_file_load": 294, "init_module": 105, "finit_module": 273, "delete_module": 106, "swapon": 224,
        "swapoff": 225, "reboot": 142, "acct": 89, "quotactl": 60, "syslog": 116, "open_by_handle_at": 265,
        "name_to_handle_at": 264, "personality": 92, "clock_settime": 112, "settimeofday": 170,
        "sethostname": 161, "setdomainname": 162, "vhangup": 58,
    },
}  # fmt: skip
_CLONE3 = 435
_CLONE = {"x86_64": 56, "aarch64": 220}
# Files in memory that no folder shows, and segments that outlive their processes: the supervisor cannot count them.
_MEMFD = {"x86_64": (319, 447), "aarch64": (279, 447)}  # memfd_create, memfd_secret
_SHMGET = {"x86_64": 29, "aarch64": 194}
_SEGMENT = (
    16 << 10
)  # bytes; what databases use as a lock is smaller, and the total of the 4096 possible segments stays limited
_PRLIMIT = {"x86_64": 302, "aarch64": 261}
_IOCTL = {"x86_64": 16, "aarch64": 29}
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NAMESPACES = 0x7E020000  # the CLONE_NEW* flags
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

_LOAD, _EQUAL, _ABOVE, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_NUMBER, _ARCH, _FIRST_ARGUMENT, _SECOND_ARGUMENT, _SECOND_UPPER = 0, 4, 16, 24, 28


def program(machine: str = "") -> bytes | None:
    """The filter as an array of BPF instructions; None on a machine whose call numbers are not listed here."""
    machine = machine or platform.machine()
    if machine not in _DENIED:
        return None
    code = [
        _step(_LOAD, _ARCH),
        _step(_EQUAL, _ARCHITECTURE[machine], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":  # the x32 calls are the same calls under other numbers
        code += [_step(_AT_LEAST, 0x40000000, 0, 1), _fail(errno.ENOSYS)]
    for number in sorted({**_COMMON, **_DENIED[machine]}.values()):
        code += [_step(_EQUAL, number, 0, 1), _fail(errno.EPERM)]
    # clone3 hides its flags in memory: denied as unknown, so that the C library falls back to clone.
    code += [_step(_EQUAL, _CLONE3, 0, 1), _fail(errno.ENOSYS)]
    for number in _MEMFD[machine]:
        code += [_step(_EQUAL, number, 0, 1), _fail(errno.ENOSYS)]
    code += [  # limits of other processes: a changed limit of the supervisor would hold for the next run
        _step(_EQUAL, _PRLIMIT[machine], 0, 4),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_EQUAL, 0, 0, 1),
        _step(_RETURN, _ALLOW),
        _fail(errno.EPERM),
        _step(_EQUAL, _SHMGET[machine], 0, 6),
        _step(_LOAD, _SECOND_UPPER),
        _step(_EQUAL, 0, 0, 3),
        _step(_LOAD, _SECOND_ARGUMENT),
        _step(_ABOVE, _SEGMENT, 1, 0),
        _step(_RETURN, _ALLOW),
        _fail(errno.ENOMEM),
    ]
    code += [
        _step(_EQUAL, _CLONE[machine], 0, 4),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_ANY_BIT, _NAMESPACES, 0, 1),
        _fail(errno.EPERM),
        _step(_RETURN, _ALLOW),
        _step(_EQUAL, _IOCTL[machine], 0, 4),
        _step(_LOAD, _SECOND_ARGUMENT),
        _step(_EQUAL, _TIOCSTI, 1, 0),
        _step(_EQUAL, _TIOCLINUX, 0, 1),
        _fail(errno.EPERM),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(code)


def _step(operation: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", operation, then, otherwise, value)


def _fail(number: int) -> bytes:
    return _step(_RETURN, 0x00050000 | number)
