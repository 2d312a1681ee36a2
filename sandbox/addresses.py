"""Addresses on the loopback device beside its own.

A resolver that is asked for what this machine is configured for (AI_ADDRCONFIG) leaves 127.0.0.1 and ::1 out of the
count: with nothing else it finds neither IPv4 nor IPv6, and servers on localhost cannot be opened. These addresses lead
nowhere: there is no other device and no route.
"""

import ctypes
import fcntl
import socket
import struct

_SIOCSIFADDR, _SIOCSIFNETMASK, _SIOCSIFFLAGS, _IFF_UP = 0x8916, 0x891C, 0x8914, 1
_LOOPBACK = 1  # the device's number in a new network namespace
_CLONE_NEWNET, _CAP_NET_ADMIN, _PR_CAPBSET_DROP, _VERSION_3 = 0x40000000, 12, 24, 0x20080522


def add(addresses):
    """Adds them (texts, of both families) in a network of this process's own, then gives up the right to change it.

    Without that right nothing happens. Raises `OSError` when the network is there and cannot be made ready.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    head, sets = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable
    if libc.capget(head, sets) != 0 or not sets[0] & 1 << _CAP_NET_ADMIN:
        return
    # The network that bubblewrap made belongs to a user namespace around this one, which alone may change it.
    if libc.unshare(_CLONE_NEWNET) == 0:
        _up()
        for address in addresses:
            if ":" in address:
                _six(address)
            else:
                _four("lo:1", address, 32)
    libc.prctl(_PR_CAPBSET_DROP, _CAP_NET_ADMIN, 0, 0, 0)
    for number in range(3):
        sets[number] &= ~(1 << _CAP_NET_ADMIN)
    if libc.capset(head, sets) != 0:
        raise OSError(ctypes.get_errno(), "a right could not be given up")


def _up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    _four("lo", "127.0.0.1", 8)


def _four(label, address, bits):
    mask = (0xFFFFFFFF << (32 - bits) & 0xFFFFFFFF).to_bytes(4, "big")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, value in ((_SIOCSIFADDR, socket.inet_aton(address)), (_SIOCSIFNETMASK, mask)):
            fcntl.ioctl(control, request, struct.pack("16sHH4s8x", label.encode(), socket.AF_INET, 0, value))


def _six(address):
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as control:
        about = struct.pack("16sIi", socket.inet_pton(socket.AF_INET6, address), 128, _LOOPBACK)
        fcntl.ioctl(control, _SIOCSIFADDR, about)
