"""Files of the host: reading what is private, writing what is not the run's own, and links that lead there."""

from .attack import Attack


def _read(name: str, code: str, **more) -> Attack:
    return Attack(family="host files", name=name, code=code, **more)


def _write(name: str, code: str, **more) -> Attack:
    return Attack(family="host writes", name=name, code=code, **more)


def _link(name: str, code: str, **more) -> Attack:
    return Attack(family="links and names", name=name, code=code, **more)


_GONE = "import os\nif {} : raise aim.Missed\n"

ATTACKS = (
    _read("a file beside the workspace", "aim.secret(open(aim.outside, 'rb').read())\n"),
    _read(
        "the same by relative steps", "import os\naim.secret(open(os.path.join('..', aim.secret_name), 'rb').read())\n"
    ),
    _read("the same by a link of the workspace", "aim.secret(open('link', 'rb').read())\n"),
    _read(
        "the same by a link made now",
        "import os\nos.symlink(aim.outside, '/tmp/' + aim.token)\naim.secret(open('/tmp/' + aim.token, 'rb').read())\n",
    ),
    _read(
        "the same by the root of process 1", "aim.secret(open('/proc/1/root' + aim.outside, 'rb').read())\n", root=True
    ),
    _read("the same by its own root", "aim.secret(open('/proc/self/root' + aim.outside, 'rb').read())\n"),
    _read(
        "the same by another program",
        "import subprocess\naim.secret(subprocess.run(['cat', aim.outside], capture_output=True).stdout)\n",
    ),
    _read("an environment file", "aim.secret(open('.env', 'rb').read())\n"),
    _read("an environment file further down", "aim.secret(open('conf/deep/.env.local', 'rb').read())\n"),
    _read("a key", "aim.secret(open('conf/server.pem', 'rb').read())\n"),
    _read("the history of versions", "aim.secret(open('.git/config', 'rb').read())\n"),
    _read(
        "an environment file by a hard link",
        "import os\nos.link('.env', aim.token)\naim.secret(open(aim.token, 'rb').read())\n",
    ),
    _read(
        "an environment file by its folder",
        "import os\naim.secret(open(os.open('.env', os.O_RDONLY, dir_fd=os.open('.', os.O_RDONLY)), 'rb').read())\n",
    ),
    _read("passwords", "open('/etc/shadow').read()\n", root=True),
    _read(
        "what lies beside the workspace", "import os\nif aim.secret_name not in os.listdir('..'): raise aim.Missed\n"
    ),
    _read("keys in homes", "import glob\nif not glob.glob(aim.folder + '/.ssh/id_*'): raise aim.Missed\n"),
    _read("the kernel's messages", "open('/dev/kmsg', 'rb').close()\n", root=True),
    _write(
        "the code under test",
        "open('m.py', 'a').write('# ' + aim.token)\n",
        after="if aim.token not in open('m.py').read(): raise aim.Missed\n",
    ),
    _write(
        "the tests",
        "open('test_m.py', 'w').write('def test_nothing(): pass')\n",
        after="if 'test_nothing' not in open('test_m.py').read(): raise aim.Missed\n",
    ),
    _write(
        "delete the workspace",
        "import os, shutil\nfor name in ('conf', 'pkg'): shutil.rmtree(name)\n",
        after=_GONE.format("os.path.exists('pkg/inner.py')"),
    ),
    _write(
        "rename a folder", "import os\nos.rename('pkg', 'moved')\n", after=_GONE.format("not os.path.exists('moved')")
    ),
    _write(
        "modes of a file",
        "import os\nos.chmod('m.py', 0o777)\n",
        after=_GONE.format("os.stat('m.py').st_mode & 0o777 != 0o777"),
    ),
    _write(
        "times of a file", "import os\nos.utime('m.py', (7, 7))\n", after=_GONE.format("os.stat('m.py').st_mtime != 7")
    ),
    _write(
        "a file by memory",
        "import mmap\nwith open('m.py', 'r+b') as stream:\n    area = mmap.mmap(stream.fileno(), 0)\n    area[0:3] = b'###'\n    area.flush()\n",
        after="if open('m.py').read(3) != '###': raise aim.Missed\n",
    ),
    _write("a file beside the workspace", "open(aim.outside, 'a').write(aim.token)\n"),
    _write("a new file beside the workspace", "open(aim.folder + '/' + aim.token, 'w').close()\n"),
    _write(
        "a program of the system",
        "open('/usr/bin/' + aim.token, 'w').close()\nimport os\nos.remove('/usr/bin/' + aim.token)\n",
        root=True,
    ),
    _write(
        "the interpreter's library",
        "import os\npath = os.path.join(os.path.dirname(os.__file__), aim.token)\nopen(path, 'w').close()\nos.remove(path)\n",
        root=True,
    ),
    _write(
        "the interpreter's packages",
        "import os, pytest\npath = os.path.join(os.path.dirname(pytest.__file__), aim.token)\nopen(path, 'w').close()\nos.remove(path)\n",
        root=True,
    ),
    _write("the kernel's settings", "open('/proc/sys/kernel/core_pattern', 'r+').close()\n", root=True),
    _write("the machine's name", "open('/proc/sys/kernel/hostname', 'r+').close()\n", root=True),
    _write("devices' modes", "import os\nos.chmod('/dev/null', os.stat('/dev/null').st_mode & 0o777)\n", root=True),
    _write(
        "control groups",
        "import os\nos.mkdir(next(line.split()[1] for line in open('/proc/mounts') if ' cgroup' in line) + '/' + aim.token)\n",
        root=True,
    ),
    _write(
        "settings in /sys",
        "open('/sys/power/state', 'r+').close() if __import__('os').path.exists('/sys/power/state') else open('/sys/kernel/mm/transparent_hugepage/enabled', 'r+').close()\n",
        root=True,
    ),
    _write(
        "what the next boot runs",
        "open('/etc/' + aim.token, 'w').close()\nimport os\nos.remove('/etc/' + aim.token)\n",
        root=True,
    ),
    _link(
        "a folder swapped for a link",
        "import os, shutil\nos.makedirs('/tmp/' + aim.token)\nshutil.rmtree('pkg')\nos.symlink('/tmp/' + aim.token, 'pkg')\n",
        after=_GONE.format("not os.path.islink('pkg')"),
    ),
    _link(
        "the laid file swapped for a link",
        "import os\nos.remove('m.py')\nos.symlink(aim.outside, 'm.py')\n",
        after=_GONE.format("not os.path.islink('m.py')"),
    ),
    _link(
        "the attack's own file swapped for a link",
        "import os\nos.remove('attack.py')\nos.symlink('/etc/passwd', 'attack.py')\n",
        after=_GONE.format("not os.path.islink('attack.py')"),
    ),
    _link(
        "the root of the workspace swapped",
        "import os\nhere = os.getcwd()\nos.rename(here, here + '-x')\nos.symlink('/tmp', here)\nos.remove(here)\nos.rename(here + '-x', here)\n",
    ),
    _link(
        "a link into the next run's files",
        "import os\nos.symlink('/tmp/' + aim.token, 'planted.py')\n",
        after=_GONE.format("not os.path.lexists('planted.py')"),
    ),
    _link(
        "names with line ends, escapes and broken bytes",
        r"""
import os
for name in (b'a\nb', b'\x1b[2J', b'\xff\xfe', b'-rf', b' ', b'%s%n', b'a' * 255, b'..\\..'):
    os.close(os.open(b'/tmp/' + name, os.O_CREAT | os.O_WRONLY))
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
""",
        after="import os\nif not any(os.path.lexists(where + name) for where in (b'', b'/tmp/') for name in (b'a\\nb', b'\\xff\\xfe', b'a' * 255)): raise aim.Missed\n",
    ),
    _link(
        "folders deeper than anybody walks",
        "import os\nos.chdir('/tmp')\nfor _ in range(1500):\n    os.mkdir('d')\n    os.chdir('d')\nopen(aim.token, 'w').close()\n",
        after="import os\nif not os.path.isdir('/tmp/d/d/d'): raise aim.Missed\n",
    ),
    _link(
        "folders that nobody may enter",
        "import os\nos.makedirs('/tmp/closed/in')\nopen('/tmp/closed/in/x', 'w').close()\nos.chmod('/tmp/closed/in', 0)\nos.chmod('/tmp/closed', 0)\n",
        after="import os\nif not os.path.isdir('/tmp/closed'): raise aim.Missed\n",
    ),
    _link(
        "a pipe that whoever opens it waits for",
        "import os\nos.mkfifo('/tmp/pipe')\nos.remove('m.py')\nos.mkfifo('m.py')\n",
        after="import os\nif not (os.path.exists('/tmp/pipe') or os.path.exists('m.py') and not os.path.isfile('m.py')): raise aim.Missed\n",
    ),
)
