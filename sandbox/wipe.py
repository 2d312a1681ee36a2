"""Takes away what a run left: in its scratch folder, shared memory, the kernel's IPC, and a workspace it may write to.

A workspace whose folders are root's, open to everybody and sticky (mode 1777) lets tests write beside themselves, but
neither change nor remove what was laid there. What a run made belongs to its own user and may be closed to a root
without capabilities: so that user removes first, and root then looks at what is left.
"""

import ctypes
import os
import stat

DEEPEST = 1_000_000  # entries that one wipe looks at; more than the limits of the file systems let a run make
SHARED = ("/dev/shm", "/dev/mqueue")


class Left:
    """What one run may leave; made before its files are laid.

    `kept` and `known` are the caller's from run to run: what was in each scratch folder at first, and what is in each
    folder of the workspace; `known` must be emptied when files are laid for good.
    """

    def __init__(self, root, scratch, uid, kept, known):
        self.scratch, self.uid, self.known = scratch, uid, known
        self.keep = kept.setdefault(scratch, frozenset(os.listdir(scratch)))
        self.writable = uid is not None and bool(os.stat(root).st_mode & stat.S_IWOTH)
        if self.writable and not known:
            known.update(look(root))

    def give(self, become):
        """The run's user removes what is its own. `become(uid)` turns a process into that user."""
        if self.uid is None:
            return
        paths = [*self._scratch(), *_shared(), *self._workspace()]
        child = os.fork()
        if child == 0:
            try:
                become(self.uid)
                remove_objects()
                remove_all(paths, self.uid)
            finally:
                os._exit(0)
        os.waitpid(child, 0)

    def clear(self):
        """Removes all the rest; true when nothing is left of the run."""
        gone = remove_all(self._scratch())
        if self.uid is not None:
            gone = remove_all(_shared()) and gone
            gone = not objects() and gone
            gone = remove_all(self._workspace()) and gone
            for folder, (mark, names) in list(self.known.items()):
                now = _mark(folder)
                if now != mark:
                    self.known[folder] = (now, names)
        return gone

    def _scratch(self):
        return [path for path in _entries(self.scratch) if os.path.basename(path) not in self.keep]

    def _workspace(self):
        """What was not there before, and what is in the place of something that was."""
        if not self.writable:
            return []
        found = []
        for folder, (mark, names) in self.known.items():
            if _mark(folder) != mark:
                found += [path for path in _entries(folder) if os.path.basename(path) not in names or _strange(path)]
        return found


def objects():
    """System V objects of this IPC namespace: (kind, id). They keep their memory when nobody is left who uses them."""
    found = []
    for kind in ("shm", "sem", "msg"):
        try:
            with open("/proc/sysvipc/" + kind) as stream:
                found += [(kind, int(line.split()[1])) for line in list(stream)[1:]]
        except OSError:
            continue
    return found


def remove_objects():
    """Removes those that this user may remove."""
    left = objects()
    if not left:
        return
    libc = ctypes.CDLL(None)
    for kind, number in left:
        if kind == "sem":
            libc.semctl(number, 0, 0)
        else:
            getattr(libc, kind + "ctl")(number, 0, None)


def look(root):
    """What lies in the workspace now: folder -> (mark, names of its entries)."""
    found, todo = {}, [root]
    while todo:
        folder = todo.pop()
        mark = _mark(folder)
        names = set()
        for entry in os.scandir(folder):
            names.add(entry.name)
            if entry.is_dir(follow_symlinks=False):
                todo.append(entry.path)
        found[folder] = (mark, frozenset(names))
    return found


def open_like(root, folder):
    """A new folder of the workspace is as open as its root."""
    os.chmod(folder, stat.S_IMODE(os.stat(root).st_mode))


def remove_all(paths, uid=None):
    """Removes each; true when nothing of them is left."""
    gone = True
    for path in paths:
        gone = remove(path, uid) and gone
    return gone


def remove(path, uid=None):
    """Removes a file or a whole tree, whatever its modes, depth and names; true when nothing is left of it.

    `uid`: only what belongs to that user; other folders are looked into and stay.
    Folders are moved up before they are emptied, so no path becomes too long and nothing recurses.
    """
    top, looked = os.path.dirname(path), 0
    todo, emptied = [path], []
    while todo and looked < DEEPEST:
        looked += 1
        current = todo.pop()
        try:
            about = os.lstat(current)
            if not stat.S_ISDIR(about.st_mode):
                os.unlink(current)
                continue
            mine = uid is None or about.st_uid == uid
            if mine:
                current = _opened(current, about)
                if os.path.dirname(current) != top:
                    current = _lifted(current, top)
            todo += _entries(current)
            emptied.append(current)
        except OSError:
            continue
    gone = not todo
    for folder in reversed(emptied):
        try:
            os.rmdir(folder)
        except OSError:
            gone = False
    return gone and not os.path.lexists(path)


def _lifted(folder, top):
    """The folder's new path, under a short name in the folder above; its old one where it cannot be moved."""
    short = os.path.join(top, ".wipe-" + os.urandom(8).hex())
    try:
        os.rename(folder, short)
    except OSError:
        return folder
    return short


def _opened(folder, about):
    if about.st_mode & 0o700 != 0o700:
        os.chmod(folder, 0o700)
    return folder


def _shared():
    return [path for folder in SHARED for path in _entries(folder)]


def _entries(folder):
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return []


def _strange(path):
    return os.lstat(path).st_uid != os.getuid()


def _mark(folder):
    """Changes with every entry that comes or goes, and cannot be set: the kernel's time of change.

    That has the grain of the kernel's clock; the size of a folder on a tmpfs counts its entries without any.
    """
    about = os.stat(folder)
    return about.st_ctime_ns, about.st_size
