"""Isolates each run in private mounts that end with it, then drops every right.

The supervisor under bubblewrap keeps the rights over its own user namespace (never the host's) and forks; the worker
makes its mounts here before anything of the project is read, and gives up every right.
So the next run finds an untouched workspace, /tmp and /dev/shm without any cleaning up.
"""

import ctypes
import errno
import functools
import os
import stat

LAYER_FOLDER = "/run/greenloop/layer"  # an empty folder that the sandbox provides
SHM_BYTES = 16 << 20
_NEWNS, _NEWIPC = 0x00020000, 0x08000000
_RDONLY, _NOSUID, _NODEV, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _AMBIENT_CLEAR = 22, 24, 38, 47, 4
_DETACH = 2
_FOREIGN_FILE_ERRORS = (errno.EACCES, errno.EPERM, errno.EOVERFLOW)


def enter_private_mounts(root, files, without, hidden, disk):
    """Gives this process mounts of its own: /tmp, /dev/shm, and the workspace below a layer that takes all writes.

    `files` (relative path -> bytes) are written, those of `without` removed, `hidden` ({"files", "folders"}) covered;
    `disk` limits /tmp and the layer, in bytes each. Raises `OSError` that names the step.
    """
    _call("unshare", ctypes.c_int(_NEWNS | _NEWIPC))
    _mount("none", "/", "", _REC | _PRIVATE)
    kept_mounts = _mounts_below("/tmp")
    handles = [(os.open(path, os.O_PATH | os.O_NOFOLLOW), path) for path in kept_mounts]
    links = _symlinks_below("/tmp", kept_mounts)
    _mount("tmpfs", "/tmp", "tmpfs", _NOSUID | _NODEV, "mode=1777,size=%d,nr_inodes=50k" % disk)
    for fd, path in handles:
        _bind_handle(fd, path)
    for path, target in links:
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        os.symlink(target, path)
    _mount("tmpfs", "/dev/shm", "tmpfs", _NOSUID | _NODEV, "mode=1777,size=%d" % SHM_BYTES)
    _mount("tmpfs", LAYER_FOLDER, "tmpfs", _NOSUID | _NODEV, "mode=0755,size=%d,nr_inodes=200k" % disk)
    _mount_overlay(root)
    _write_files(root, files, without)
    _cover_hidden(root, hidden, files)
    _call("umount2", LAYER_FOLDER.encode(), ctypes.c_int(_DETACH))


def drop_rights(seccomp_filter):
    """Gives up every capability permanently and installs the seccomp filter (bytes; empty: none)."""
    _prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR)
    try:
        for capability in range(64):
            _prctl(_PR_CAPBSET_DROP, capability)
    except OSError:
        pass  # past the last capability that this kernel knows
    _call("capset", (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if seccomp_filter:
        buffer = ctypes.create_string_buffer(seccomp_filter, len(seccomp_filter))
        program = _FilterProgram(len(seccomp_filter) // 8, ctypes.cast(buffer, ctypes.c_void_p))
        _prctl(_PR_SET_SECCOMP, 2, ctypes.addressof(program))


class _FilterProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


# -- mounts ---------------------------------------------------------------------------------------------------------


def _mount_overlay(root):
    """Mounts an overlay with the workspace as lower layer; writes go to memory and end with this process's mounts."""
    handles = [(os.open(path, os.O_PATH | os.O_NOFOLLOW), path) for path in _mounts_below(root)]
    lower = os.open(root, os.O_PATH)
    os.mkdir(LAYER_FOLDER + "/upper", 0o755)
    os.chmod(LAYER_FOLDER + "/upper", stat.S_IMODE(os.fstat(lower).st_mode) | 0o700)
    os.mkdir(LAYER_FOLDER + "/work")
    data = "lowerdir=/proc/self/fd/%d,upperdir=%s/upper,workdir=%s/work,userxattr" % (lower, LAYER_FOLDER, LAYER_FOLDER)
    _mount("overlay", root, "overlay", _NOSUID | _NODEV, data)
    os.close(lower)
    for fd, path in handles:  # an overlay does not show what is mounted in its lower layer
        _bind_handle(fd, path)


def _mounts_below(folder):
    """The mount points below a folder, without those below another of them."""
    mount_points = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as stream:
        for line in stream:
            mount_point = line.split(" ")[4]
            for code in ("040", "011", "012", "134"):  # the kernel's escapes of spaces, tabs, newlines, backslashes
                mount_point = mount_point.replace("\\" + code, chr(int(code, 8)))
            mount_points.append(mount_point)
    mount_points = sorted({mount_point for mount_point in mount_points if mount_point.startswith(folder + "/")})
    return [
        mount_point
        for mount_point in mount_points
        if not any(mount_point.startswith(other + "/") for other in mount_points)
    ]


def _symlinks_below(folder, kept_mounts):
    """The symbolic links of a folder outside its mounts; most of them lead to an interpreter."""
    links = []
    for current, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = os.path.join(current, name)
            if os.path.islink(path):
                links.append((path, os.readlink(path)))
        folders[:] = [name for name in folders if os.path.join(current, name) not in kept_mounts]
    return links


def _bind_handle(fd, path):
    if stat.S_ISDIR(os.fstat(fd).st_mode):
        os.makedirs(path, 0o755, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
        if not os.path.lexists(path):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount("/proc/self/fd/%d" % fd, path, "", _BIND | _REC)
    os.close(fd)


# -- files ----------------------------------------------------------------------------------------------------------


def _write_files(root, files, without):
    for number, relative in enumerate(without):
        path = os.path.join(root, relative)
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno not in _FOREIGN_FILE_ERRORS:
                raise
            _cover_with(path, b"", "without-%d" % number)
    for number, (relative, data) in enumerate(files.items()):
        path = os.path.join(root, relative)
        try:
            os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644), "wb") as stream:
                stream.write(data)
        except OSError as error:
            if error.errno not in _FOREIGN_FILE_ERRORS or not os.path.isfile(path):
                raise
            _cover_with(path, data, "over-%d" % number)


def _cover_with(path, data, name):
    """Covers a file of another user, which the layer may not copy up, with a file of ours."""
    replacement = os.path.join(LAYER_FOLDER, name)
    with open(replacement, "wb") as stream:
        stream.write(data)
    _mount(replacement, path, "", _BIND)


def _cover_hidden(root, hidden, files):
    empty = os.path.join(LAYER_FOLDER, "empty")
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
    if getattr(_libc(), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, "%s (%s)" % (os.strerror(number), name))


@functools.lru_cache(maxsize=None)
def _libc():
    return ctypes.CDLL(None, use_errno=True)
