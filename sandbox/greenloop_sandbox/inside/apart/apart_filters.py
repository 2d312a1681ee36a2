"""Assembles filters of system calls (seccomp) without a library: a table of numbers, and what one filter denies.

The host builds that of a worker with it, the code's process its own. It must not know which calls are denied.
"""

import errno
import platform
import struct

_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# The same numbers on every architecture since Linux 5.1.
_COMMON = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_open": 434, "clone3": 435,
    "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447,
    "setxattrat": 463, "removexattrat": 466,
}  # fmt: skip
_NUMBERS = {
    "x86_64": {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "unshare": 272, "setns": 308,
        "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "bpf": 321, "userfaultfd": 323,
        "perf_event_open": 298, "keyctl": 250, "add_key": 248, "request_key": 249, "kexec_load": 246,
        "kexec_file_load": 320, "init_module": 175, "finit_module": 313, "delete_module": 176, "swapon": 167,
        "swapoff": 168, "reboot": 169, "acct": 163, "quotactl": 179, "syslog": 103, "open_by_handle_at": 304,
        "name_to_handle_at": 303, "personality": 135, "iopl": 172, "ioperm": 173, "modify_ldt": 154,
        "clock_settime": 227, "settimeofday": 164, "sethostname": 170, "setdomainname": 171, "vhangup": 153,
        "clone": 56, "memfd_create": 319, "shmget": 29, "prlimit64": 302, "ioctl": 16, "socket": 41, "msgget": 68,
        "semget": 64, "mq_open": 240, "link": 86, "linkat": 265, "symlink": 88, "symlinkat": 266, "setxattr": 188,
        "lsetxattr": 189, "fsetxattr": 190, "kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129,
        "rt_tgsigqueueinfo": 297,
    },
    "aarch64": {
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "unshare": 97, "setns": 268,
        "mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51, "bpf": 280, "userfaultfd": 282,
        "perf_event_open": 241, "keyctl": 219, "add_key": 217, "request_key": 218, "kexec_load": 104,
        "kexec_file_load": 294, "init_module": 105, "finit_module": 273, "delete_module": 106, "swapon": 224,
        "swapoff": 225, "reboot": 142, "acct": 89, "quotactl": 60, "syslog": 116, "open_by_handle_at": 265,
        "name_to_handle_at": 264, "personality": 92, "clock_settime": 112, "settimeofday": 170, "sethostname": 161,
        "setdomainname": 162, "vhangup": 58, "clone": 220, "memfd_create": 279, "shmget": 194, "prlimit64": 261,
        "ioctl": 29, "socket": 198, "msgget": 186, "semget": 190, "mq_open": 180, "linkat": 37, "symlinkat": 36,
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "kill": 129, "tkill": 130, "tgkill": 131,
        "rt_sigqueueinfo": 138, "rt_tgsigqueueinfo": 240,
    },
}  # fmt: skip
_LOAD, _RETURN, _NUMBER, _ARCH = 0x20, 0x06, 0, 4
EQUAL, ABOVE, AT_LEAST, ANY_BIT = 0x15, 0x25, 0x35, 0x45  # tests of a value
FIRST, SECOND, SECOND_UPPER = 16, 24, 28  # where the arguments of a call lie: the lower 32 bits of two, the upper ones
ALLOWED, _KILLED = 0x7FFF0000, 0x80000000


def denied(number):
    """The answer to a call that fails with this `errno`."""
    return 0x00050000 | number


def assemble(names, checks, machine=""):
    """The filter as an array of BPF instructions; None for a machine whose numbers are not listed here.

    `names`: (name of a call, what it gets). `checks`: (name of a call, ((argument, test, value, what it gets), ...),
    what it gets otherwise); the first test that holds decides. Names that the machine does not have are left out.
    """
    machine = machine or platform.machine()
    if machine not in _NUMBERS:
        return None
    numbers = {**_COMMON, **_NUMBERS[machine]}
    code = [(_LOAD, _ARCH), (EQUAL, _ARCHITECTURE[machine], 1, 0), (_RETURN, _KILLED), (_LOAD, _NUMBER)]
    if machine == "x86_64":  # the x32 calls are the same calls under other numbers
        code += [(AT_LEAST, 0x40000000, 0, 1), (_RETURN, denied(errno.ENOSYS))]
    for name, answer in names:
        if name in numbers:
            code += [(EQUAL, numbers[name], 0, 1), (_RETURN, answer)]
    for name, tests, otherwise in checks:
        code.append((EQUAL, numbers[name], 0, 3 * len(tests) + 1))
        for argument, test, value, answer in tests:
            code += [(_LOAD, argument), (test, value, 0, 1), (_RETURN, answer)]
        code.append((_RETURN, otherwise))
    return b"".join(_step(*each) for each in [*code, (_RETURN, ALLOWED)])


def _step(operation, value, then=0, otherwise=0):
    return struct.pack("<HBBI", operation, then, otherwise, value)
