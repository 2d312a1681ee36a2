"""A wall of its own for each run: private mounts that nothing survives, then no rights at all.

The supervisor under bubblewrap keeps the rights over its own user namespace (never the host's) and forks; the worker
makes its mounts here before anything of the project is read, and gives every right up.
So the next run finds a workspace, a /tmp and a /dev/shm in which nothing ever was, without anybody cleaning up.
"""

import ctypes
import errno
import functools
import os
import stat

LAYER = "/run/greenloop/layer"  # an empty folder of the wall
SHM = 16 << 20
_NEWNS, _NEWIPC = 0x00020000, 0x08000000
_RDONLY, _NOSUID, _NODEV, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _AMBIENT_CLEAR = 22, 24, 38, 47, 4
_DETACH = 2
_ASIDE = (errno.EACCES, errno.EPERM, errno.EOVERFLOW)


def enter(root, files, without, hidden, disk):
    """Gives this process mounts of its own: /tmp, /dev/shm, and the workspace below a layer that takes what is written.

    `files` (relative path -> bytes) are laid down, those of `without` are not there, `hidden` ({"files", "folders"})
    are covered; `disk` bounds /tmp and the layer, in bytes each. Raises `OSError` that names the step.
    """
    _call("unshare", ctypes.c_int(_NEWNS | _NEWIPC))
    _mount("none", "/", "", _REC | _PRIVATE)
    carried = _below("/tmp")
    opened = [(os.open(path, os.O_PATH | os.O_NOFOLLOW), path) for path in carried]
    links = _links("/tmp", carried)
    _mount("tmpfs", "/tmp", "tmpfs", _NOSUID | _NODEV, "mode=1777,size=%d,nr_inodes=50k" % disk)
    for fd, path in opened:
        _bind_again(fd, path)
    for path, target in links:
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        os.symlink(target, path)
    _mount("tmpfs", "/dev/shm", "tmpfs", _NOSUID | _NODEV, "mode=1777,size=%d" % SHM)
    _mount("tmpfs", LAYER, "tmpfs", _NOSUID | _NODEV, "mode=0755,size=%d,nr_inodes=200k" % disk)
    _overlay(root)
    _lay(root, files, without)
    _cover(root, hidden, files)
    _call("umount2", LAYER.encode(), ctypes.c_int(_DETACH))


def drop(filters):
    """Gives up every capability for good and installs the seccomp filter (bytes; empty: none)."""
    _prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR)
    try:
        for capability in range(64):
            _prctl(_PR_CAPBSET_DROP, capability)
    except OSError:
        pass  # past the last one that this kernel knows
    _call("capset", (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if filters:
        buffer = ctypes.create_string_buffer(filters, len(filters))
        program = _Program(len(filters) // 8, ctypes.cast(buffer, ctypes.c_void_p))
        _prctl(_PR_SET_SECCOMP, 2, ctypes.addressof(program))


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


# -- mounts ---------------------------------------------------------------------------------------------------------


def _overlay(root):
    """The workspace as the lower layer; what is written goes to memory and dies with this process's mounts."""
    nested = [(os.open(path, os.O_PATH | os.O_NOFOLLOW), path) for path in _below(root)]
    lower = os.open(root, os.O_PATH)
    os.mkdir(LAYER + "/upper", 0o755)
    os.chmod(LAYER + "/upper", stat.S_IMODE(os.fstat(lower).st_mode) | 0o700)
    os.mkdir(LAYER + "/work")
    data = "lowerdir=/proc/self/fd/%d,upperdir=%s/upper,workdir=%s/work,userxattr" % (lower, LAYER, LAYER)
    _mount("overlay", root, "overlay", _NOSUID | _NODEV, data)
    os.close(lower)
    for fd, path in nested:  # an overlay does not show what is mounted in its lower layer
        _bind_again(fd, path)


def _below(folder):
    """The mount points below a folder, only the topmost of each nest."""
    points = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as stream:
        for line in stream:
            point = line.split(" ")[4]
            for code in ("040", "011", "012", "134"):  # how the kernel writes blanks, tabs, line ends, backslashes
                point = point.replace("\\" + code, chr(int(code, 8)))
            points.append(point)
    points = sorted({point for point in points if point.startswith(folder + "/")})
    return [point for point in points if not any(point.startswith(other + "/") for other in points)]


def _links(folder, carried):
    """The symbolic links that stand in a folder beside its mounts: ways to an interpreter, mostly."""
    found = []
    for here, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = os.path.join(here, name)
            if os.path.islink(path):
                found.append((path, os.readlink(path)))
        folders[:] = [name for name in folders if os.path.join(here, name) not in carried]
    return found


def _bind_again(fd, path):
    if stat.S_ISDIR(os.fstat(fd).st_mode):
        os.makedirs(path, 0o755, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        if not os.path.lexists(path):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount("/proc/self/fd/%d" % fd, path, "", _BIND | _REC)
    os.close(fd)


# -- files ----------------------------------------------------------------------------------------------------------


def _lay(root, files, without):
    for number, relative in enumerate(without):
        path = os.path.join(root, relative)
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno not in _ASIDE:
                raise
            _over(path, b"", "without-%d" % number)
    for number, (relative, data) in enumerate(files.items()):
        path = os.path.join(root, relative)
        try:
            os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644), "wb") as stream:
                stream.write(data)
        except OSError as error:
            if error.errno not in _ASIDE or not os.path.isfile(path):
                raise
            _over(path, data, "over-%d" % number)


def _over(path, data, name):
    """Somebody else's file, which the layer may not take over, is covered by one of our own."""
    mine = os.path.join(LAYER, name)
    with open(mine, "wb") as stream:
        stream.write(data)
    _mount(mine, path, "", _BIND)


def _cover(root, hidden, files):
    empty = os.path.join(LAYER, "empty")
    os.close(os.open(empty, os.O_CREAT | os.O_WRONLY, 0o444))
    for name in hidden["files"]:
        if name not in files and os.path.lexists(os.path.join(root, name)):
            path = os.path.join(root, name)
            _mount(empty, path, "", _BIND)
            _mount("none", path, "", _BIND | _REMOUNT | _RDONLY | _NOSUID | _NODEV)
    for name in hidden["folders"]:
        if os.path.isdir(os.path.join(root, name)):
            _mount("tmpfs", os.path.join(root, name), "tmpfs", _RDONLY | _NOSUID | _NODEV, "mode=0755,size=4k")


# -- the kernel -----------------------------------------------------------------------------------------------------


def _mount(source, target, kind, flags, data=""):
    try:
        _call(
            "mount",
            os.fsencode(source),
            os.fsencode(target),
            kind.encode() or None,
            ctypes.c_ulong(flags),
            data.encode() or None,
        )
    except OSError as error:
        text = "%s (mounting %s at %s)" % (os.strerror(error.errno), kind or "a bind", target)
        raise OSError(error.errno, text) from None


def _prctl(option, *values):
    _call("prctl", ctypes.c_int(option), *(ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]))


def _call(name, *arguments):
    if getattr(_ours(), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, "%s (%s)" % (os.strerror(number), name))


@functools.lru_cache(maxsize=None)
def _ours():
    return ctypes.CDLL(None, use_errno=True)
