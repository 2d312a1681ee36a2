"""Adds addresses to the loopback device.

A resolver that asks which address families this machine is configured for (AI_ADDRCONFIG) ignores 127.0.0.1 and ::1:
with nothing else it finds neither IPv4 nor IPv6, and servers on localhost cannot be opened. The added addresses lead
nowhere: there is no other device and no route.
"""

import ctypes
import fcntl
import os
import socket
import struct

_SIOCSIFADDR, _SIOCSIFNETMASK, _SIOCSIFFLAGS, _IFF_UP = 0x8916, 0x891C, 0x8914, 1
_LOOPBACK = 1  # the device's number in a new network namespace
_CLONE_NEWNET, _CAP_NET_ADMIN, _PR_CAPBSET_DROP, _VERSION_3 = 0x40000000, 12, 24, 0x20080522


def add_addresses(addresses):
    """Adds the addresses (text, both families) in a new network namespace, then gives up the right to change it.

    Does nothing without that right. Raises `OSError` when the network exists and cannot be set up.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    capability_sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable
    if libc.capget(header, capability_sets) != 0 or not capability_sets[0] & 1 << _CAP_NET_ADMIN:
        return
    # The network that bubblewrap made belongs to an outer user namespace, which alone may change it.
    if libc.unshare(_CLONE_NEWNET) == 0:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
        _set_ipv4("lo", "127.0.0.1", 8)
        for address in addresses:
            if ":" in address:
                with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as control:
                    place = struct.pack("16sIi", socket.inet_pton(socket.AF_INET6, address), 128, _LOOPBACK)
                    fcntl.ioctl(control, _SIOCSIFADDR, place)
            else:
                _set_ipv4("lo:1", address, 32)
    libc.prctl(_PR_CAPBSET_DROP, _CAP_NET_ADMIN, 0, 0, 0)
    for number in range(3):
        capability_sets[number] &= ~(1 << _CAP_NET_ADMIN)
    if libc.capset(header, capability_sets) != 0:
        raise OSError(ctypes.get_errno(), "a right could not be given up")


def _set_ipv4(label, address, bits):
    mask = (0xFFFFFFFF << (32 - bits) & 0xFFFFFFFF).to_bytes(4, "big")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, value in ((_SIOCSIFADDR, socket.inet_aton(address)), (_SIOCSIFNETMASK, mask)):
            fcntl.ioctl(control, request, struct.pack("16sHH4s8x", label.encode(), socket.AF_INET, 0, value))


def hand_out_ports(control, ports):
    """Listens on these ports of the loopback, and gives the sockets to the host: no process in here serves them.

    Returns why that is impossible, or "".
    """
    listening = []
    with socket.socket(fileno=control) as channel:
        for port in ports:
            try:
                listening.append(socket.create_server(("127.0.0.1", port)))
            except OSError as error:
                return "Port %d, which `sandbox.services` needs, cannot be used (%s): free it." % (
                    port,
                    os.strerror(error.errno),
                )
        socket.send_fds(channel, [b"!"], [each.fileno() for each in listening])
    for each in listening:
        each.close()
    return ""
