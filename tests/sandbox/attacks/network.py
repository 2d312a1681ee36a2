"""The network, and sockets that need none. Each program talks to a server of the host and must get its answer."""

from .attack import Attack


def _network(name: str, code: str, **more) -> Attack:
    return Attack(family="network", name=name, code=code, **more)


_ANSWER = "if b'secret' not in talk.recv(64): raise aim.Missed\n"
_NAMES = "import os, socket\ntalk = socket.socket(socket.AF_UNIX)\ntalk.settimeout(2)\n"

ATTACKS = (
    _network("tcp", "import socket\ntalk = socket.create_connection(('127.0.0.1', aim.port), 2)\n" + _ANSWER),
    _network(
        "tcp over the other protocol",
        "import socket\ntalk = socket.create_connection(('::1', aim.port), 2)\n" + _ANSWER,
    ),
    _network(
        "tcp to an address of the host",
        "import socket\ntalk = socket.create_connection((aim.address, aim.port), 2)\n" + _ANSWER,
    ),
    _network(
        "tcp in another program",
        "import subprocess, sys\ncode = f'import socket; print(socket.create_connection((\"127.0.0.1\", {aim.port}), 2).recv(64))'\n"
        "if 'secret' not in subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout: raise aim.Missed\n",
    ),
    _network(
        "udp",
        "import socket\ntalk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ntalk.settimeout(1)\n"
        "talk.sendto(b'?', ('127.0.0.1', aim.udp))\n" + _ANSWER,
    ),
    _network(
        "name service, asked by hand",
        """
        import socket, struct
        name = b''.join(bytes([len(part)]) + part for part in b'secret.example.org'.split(b'.')) + bytes(1)
        talk = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        talk.settimeout(1)
        talk.sendto(struct.pack('>6H', 7, 256, 1, 0, 0, 0) + name + struct.pack('>2H', 1, 1), (aim.address, aim.udp))
        """.replace("\n        ", "\n")
        + _ANSWER,
    ),
    _network(
        "the machine's interfaces",
        "import socket\nif {name for _, name in socket.if_nameindex()} <= {'lo'}: raise aim.Missed\n",
    ),
    _network(
        "abstract socket",
        "import socket\ntalk = socket.socket(socket.AF_UNIX)\ntalk.settimeout(2)\ntalk.connect(chr(0) + aim.abstract)\n"
        + _ANSWER,
    ),
    _network("socket in a folder of the host", _NAMES + "talk.connect(aim.socket)\n" + _ANSWER),
    _network("socket in the workspace", _NAMES + "talk.connect('server.sock')\n" + _ANSWER),
    _network(
        "socket in the workspace by a link",
        _NAMES
        + "os.symlink(os.path.abspath('server.sock'), '/tmp/' + aim.token)\ntalk.connect('/tmp/' + aim.token)\n"
        + _ANSWER,
    ),
    _network(
        "the container engine's socket",
        _NAMES
        + """
for path in ('/var/run/docker.sock', '/run/docker.sock', '/run/podman/podman.sock', aim.engine):
    try:
        talk.connect(path)
        break
    except OSError:
        continue
else:
    raise aim.Missed
""",
    ),
    _network(
        "the message bus and other services",
        """
        import os, socket, stat
        for top in ('/run', '/var/run', '/tmp', aim.folder):
            for folder, _, names in os.walk(top):
                for name in names:
                    path = os.path.join(folder, name)
                    try:
                        if stat.S_ISSOCK(os.lstat(path).st_mode):
                            socket.socket(socket.AF_UNIX).connect(path)
                            return
                    except OSError:
                        continue
        raise aim.Missed
        """,
    ),
    _network("raw packets", "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW, 768)\n", root=True),
    _network(
        "raw address", "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)\n", root=True
    ),
    _network(
        "a port others can reach",
        "import socket\nserver = socket.create_server((aim.address, 0))\n",
    ),
)
