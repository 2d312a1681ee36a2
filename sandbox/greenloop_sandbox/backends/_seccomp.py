"""The seccomp filter of a worker: system calls that tests never need fail.

It complements the namespaces and does not replace them: it narrows the kernel's attack surface.
"""

from __future__ import annotations

import errno

from greenloop_sandbox import payload

_NEVER = (
    "io_uring_setup", "io_uring_enter", "io_uring_register", "open_tree", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "pidfd_getfd", "mount_setattr", "quotactl_fd", "ptrace", "process_vm_readv",
    "process_vm_writev", "kcmp", "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "bpf",
    "userfaultfd", "perf_event_open", "keyctl", "add_key", "request_key", "kexec_load", "kexec_file_load",
    "init_module", "finit_module", "delete_module", "swapon", "swapoff", "reboot", "acct", "quotactl", "syslog",
    "open_by_handle_at", "name_to_handle_at", "personality", "iopl", "ioperm", "modify_ldt", "clock_settime",
    "settimeofday", "sethostname", "setdomainname", "vhangup",
)  # fmt: skip
# clone3 hides its flags in memory: the C library falls back to clone. Files in memory are shown by no folder, so the
# supervisor cannot count them.
_UNKNOWN = ("clone3", "memfd_create", "memfd_secret")
# Bytes of a segment, which outlives its process; what databases use as a lock is smaller, and the total of the 4096
# possible segments stays limited.
_SEGMENT = 16 << 10
_NAMESPACES = 0x7E020000  # the CLONE_NEW* flags
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C


def program(machine: str = "") -> bytes | None:
    """The filter as an array of BPF instructions; None on a machine whose call numbers are not known."""
    filters = payload.filters()
    allowed, denied = filters.ALLOWED, filters.denied
    forbidden, full = denied(errno.EPERM), denied(errno.ENOMEM)
    names = [(name, forbidden) for name in _NEVER] + [(name, denied(errno.ENOSYS)) for name in _UNKNOWN]
    checks = (
        # Of other processes: a changed limit of the supervisor would hold for the next run.
        ("prlimit64", ((filters.FIRST, filters.EQUAL, 0, allowed),), forbidden),
        (
            "shmget",
            ((filters.SECOND_UPPER, filters.ABOVE, 0, full), (filters.SECOND, filters.ABOVE, _SEGMENT, full)),
            allowed,
        ),
        ("clone", ((filters.FIRST, filters.ANY_BIT, _NAMESPACES, forbidden),), allowed),
        ("ioctl", tuple((filters.SECOND, filters.EQUAL, each, forbidden) for each in (_TIOCSTI, _TIOCLINUX)), allowed),
    )
    found: bytes | None = filters.assemble(names, checks, machine)
    return found
