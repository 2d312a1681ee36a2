"""Disk, inodes and output: more of it than a run is given, or of a kind that does harm where it is shown."""

from .attack import Attack, Wins


def _disk(name: str, code: str, **more) -> Attack:
    return Attack(family="disk", name=name, code=code, **more)


def _output(name: str, code: str, **more) -> Attack:
    return Attack(family="output", name=name, code=code, **more)


_PARTS = "for number in range(aim.disk >> 20):\n    with open(f'{where}/{aim.token}-{number}', 'wb') as stream: stream.write(bytes(1 << 20))\n"

ATTACKS = (
    _disk(
        "one file",
        "with open('/tmp/' + aim.token, 'wb') as stream:\n    for _ in range(aim.disk >> 20): stream.write(bytes(1 << 20))\n",
    ),
    _disk("many files in the scratch folder", "where = '/tmp'\n" + _PARTS),
    _disk("many files in the workspace", "where = '.'\n" + _PARTS + "import time\ntime.sleep(0.3)\n"),
    _disk("many files in shared memory", "where = '/dev/shm'\n" + _PARTS.replace("aim.disk", "2 * aim.disk")),
    _disk(
        "files deleted but open",
        "import os\nheld = []\nfor number in range(aim.disk >> 20):\n    held.append(open(f'/tmp/{number}', 'wb'))\n"
        "    os.remove(f'/tmp/{number}')\n    held[-1].write(bytes(1 << 20))\n    held[-1].flush()\n",
    ),
    _disk(
        "space reserved",
        "import os\nwith open('/tmp/' + aim.token, 'wb') as stream: os.posix_fallocate(stream.fileno(), 0, aim.disk)\n",
    ),
    _disk("file with a hole", "with open('/tmp/' + aim.token, 'wb') as stream: stream.truncate(1 << 40)\n"),
    _disk(
        "inodes in the scratch folder",
        "import os\nos.mkdir('/tmp/many')\nos.chdir('/tmp/many')\nfor number in range(aim.inodes // 4): os.mknod(str(number))\n",
        seconds=20,
    ),
    _disk(
        "inodes in the workspace",
        "import os\nos.mkdir('many')\nos.chdir('many')\nfor number in range(aim.inodes): os.mknod(str(number))\n",
        seconds=20,
    ),
    _disk(
        "any other place that can be written",
        """
        import os
        known = ('/tmp', '/dev/shm', '/proc', os.getcwd(), os.environ['HOME'])
        for top, folders, _ in os.walk('/'):
            folders[:] = [name for name in folders if not os.path.join(top, name).startswith(known)][:200]
            try:
                with open(os.path.join(top, aim.token), 'wb') as stream: stream.write(bytes(1 << 20))
            except OSError:
                continue
            os.remove(os.path.join(top, aim.token))
            return
        raise aim.Missed
        """,
    ),
    _output(
        "flood of lines",
        "import time\nend, count = time.monotonic() + 20, 0\nwhile count < aim.output >> 12:\n    print('x' * 4095)\n    count += 1\n",
    ),
    _output("flood of bytes", "import os\nfor _ in range(aim.output >> 16): os.write(1, b'\\xff' * (1 << 16))\n"),
    _output("flood of complaints", "import os\nfor _ in range(aim.output >> 16): os.write(2, b'y\\n' * (1 << 15))\n"),
    _output("one endless line", "import sys\nfor _ in range(aim.output >> 20): sys.stdout.write('z' * (1 << 20))\n"),
    _output(
        "flood from many processes",
        "import os\nchildren = []\nfor _ in range(4):\n    child = os.fork()\n    if child == 0:\n"
        "        for _ in range(aim.output >> 18): os.write(1, bytes(1 << 16))\n        os._exit(0)\n    children.append(child)\n"
        "assert all(os.waitpid(child, 0)[1] == 0 for child in children)\n",
    ),
    _output(
        "title and screen of the terminal",
        "import os\nos.write(1, b'\\x1b]0;' + aim.token.encode() + b'\\x07\\x1b[2J\\x1b[1;1H')\nraise aim.Missed\n",
        wins=Wins.SHOWS,
    ),
    _output(
        "escapes in a message",
        "raise AssertionError('\\x1b[31m' + aim.token + '\\x9b31m\\x1b]52;c;ZXZpbA==\\x07')\n",
        wins=Wins.SHOWS,
    ),
    _output(
        "line ends that hide",
        "import os\nos.write(1, b'\\x1b[8m ok \\r\\x1b[K' + aim.token.encode() + b'\\x08' * 9)\nraise aim.Missed\n",
        wins=Wins.SHOWS,
    ),
)
