"""Memory: programs that want several times what a run is given, held at one time."""

from .attack import Attack

_TOUCHED = """
import mmap
def hold(area, size):
    for place in range(0, size, 4096): area[place] = 1
"""


def _memory(name: str, code: str, **more) -> Attack:
    return Attack(family="memory", name=name, code=code, **more)


ATTACKS = (
    _memory("one array", "held = bytearray(aim.memory)\nfor place in range(0, aim.memory, 4096): held[place] = 1\n"),
    _memory("many small objects", "held = [str(n) * 4 for n in range(aim.memory // 90)]\n"),
    _memory("one string doubled", "text = 'x'\nwhile len(text) < aim.memory: text += text\n"),
    _memory(
        "decompression bomb",
        "import zlib\nsmall = zlib.compress(bytes(1 << 20), 9)\nparts = [zlib.decompress(small) for _ in range(aim.memory >> 20)]\n",
    ),
    _memory("anonymous mapping", _TOUCHED + "area = mmap.mmap(-1, aim.memory)\nhold(area, aim.memory)\n"),
    _memory(
        "shares held by children",
        """
        import os, time
        share, children = aim.memory // 6, []
        for _ in range(6):
            ready, tell = os.pipe()
            child = os.fork()
            if child == 0:
                held = bytearray(share)
                for place in range(0, share, 4096): held[place] = 1
                os.write(tell, b'1')
                time.sleep(20)
                os._exit(0)
            os.close(tell)
            children.append((child, ready))
        assert all(os.read(ready, 1) == b'1' for _, ready in children)
        time.sleep(0.3)
        assert all(os.waitpid(child, os.WNOHANG) == (0, 0) for child, _ in children)
        for child, _ in children: os.kill(child, 9)
        """,
    ),
    _memory(
        "copied pages after fork",
        """
        import os, time
        share = aim.memory // 5
        held = bytearray(share)
        for place in range(0, share, 4096): held[place] = 1
        children = []
        for _ in range(5):
            ready, tell = os.pipe()
            child = os.fork()
            if child == 0:
                for place in range(0, share, 4096): held[place] = 2
                os.write(tell, b'1')
                time.sleep(20)
                os._exit(0)
            os.close(tell)
            children.append((child, ready))
        assert all(os.read(ready, 1) == b'1' for _, ready in children)
        time.sleep(0.3)
        assert all(os.waitpid(child, os.WNOHANG) == (0, 0) for child, _ in children)
        for child, _ in children: os.kill(child, 9)
        """,
    ),
    _memory(
        "files in shared memory",
        "for number in range(aim.memory >> 22):\n"
        "    with open(f'/dev/shm/{aim.token}-{number}', 'wb') as stream: stream.write(bytes(1 << 22))\n",
    ),
    _memory(
        "files without a name",
        """
        import os, time
        held = []
        for number in range(aim.memory >> 22):
            held.append(os.memfd_create('x'))
            os.write(held[-1], bytes(1 << 22))
        time.sleep(0.3)
        """,
    ),
    _memory(
        "System V segments, detached",
        """
        import ctypes, time
        libc = ctypes.CDLL(None, use_errno=True)
        libc.shmat.restype = ctypes.c_void_p
        for number in range(aim.memory >> 22):
            segment = libc.shmget(0, 1 << 22, 0o1600)
            if segment < 0: raise OSError(ctypes.get_errno())
            place = libc.shmat(segment, None, 0)
            ctypes.memset(place, 1, 1 << 22)
            libc.shmdt(ctypes.c_void_p(place))
        time.sleep(0.3)
        """,
    ),
    _memory(
        "messages nobody reads",
        """
        import resource, socket, time
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        held, full = [], 0
        while full < aim.memory:
            pair = socket.socketpair()
            held.append(pair)
            pair[0].setblocking(False)
            try:
                while True: full += pair[0].send(bytes(1 << 16))
            except BlockingIOError:
                pass
        time.sleep(0.3)
        """,
    ),
    _memory(
        "messages nobody reads, by children",
        """
        import os, socket, time
        share, children = aim.memory // 8, []
        for _ in range(8):
            ready, tell = os.pipe()
            child = os.fork()
            if child == 0:
                held, full = [], 0
                while full < share:
                    pair = socket.socketpair()
                    held.append(pair)
                    pair[0].setblocking(False)
                    try:
                        while True: full += pair[0].send(bytes(1 << 16))
                    except BlockingIOError:
                        pass
                os.write(tell, b'1')
                time.sleep(20)
                os._exit(0)
            os.close(tell)
            children.append((child, ready))
        assert all(os.read(ready, 1) == b'1' for _, ready in children)
        time.sleep(0.3)
        assert all(os.waitpid(child, os.WNOHANG) == (0, 0) for child, _ in children)
        for child, _ in children: os.kill(child, 9)
        """,
        documented=(("bubblewrap", "buffers of the kernel"),),
    ),
    _memory(
        "sparse file, mapped and touched",
        _TOUCHED
        + """
import os
with open('/tmp/' + aim.token, 'wb+') as stream:
    stream.truncate(aim.memory)
    area = mmap.mmap(stream.fileno(), aim.memory)
    hold(area, aim.memory)
""",
    ),
    _memory("address space", "import mmap\nareas = [mmap.mmap(-1, 1 << 30) for _ in range(16)]\n"),
    _memory(
        "locked pages",
        """
        import ctypes, mmap
        size = aim.memory
        area = mmap.mmap(-1, size)
        start = ctypes.addressof(ctypes.c_char.from_buffer(area))
        if ctypes.CDLL(None).mlock(ctypes.c_void_p(start), ctypes.c_size_t(size)): raise OSError('mlock')
        """,
        root=True,
    ),
)
