"""Removes what a run left: in its scratch folder, shared memory, System V IPC, a writable workspace.

A workspace whose folders belong to root and are world-writable and sticky (mode 1777) lets tests create files next to
themselves, but neither change nor remove the workspace's own. What a run made belongs to its own user and may be closed
to a root without capabilities: so that user removes first, and root then removes the rest.
"""

import ctypes
import os
import stat

MAX_ENTRIES = 1_000_000  # entries visited by one removal; more than the file systems' limits let a run make
SHARED_FOLDERS = ("/dev/shm", "/dev/mqueue")


class RunLeftovers:
    """Finds and removes what one run leaves; created before the run's files are written.

    The caller keeps `initial_names` and `listings` from run to run: what was in each scratch folder at first, and what
    is in each folder of the workspace. It must empty `listings` when files are written permanently.
    """

    def __init__(self, root, scratch, uid, initial_names, listings):
        self.scratch, self.uid, self.listings = scratch, uid, listings
        self.kept_names = initial_names.setdefault(scratch, frozenset(os.listdir(scratch)))
        self.writable = uid is not None and bool(os.stat(root).st_mode & stat.S_IWOTH)
        if self.writable and not listings:
            listings.update(list_folders(root))

    def remove_as_user(self, become_user):
        """Removes what belongs to the run's user, as that user. `become_user(uid)` switches a process to it."""
        if self.uid is None:
            return
        paths = [*self._new_scratch_paths(), *_shared_paths(), *self._new_workspace_paths()]
        child = os.fork()
        if child == 0:
            try:
                become_user(self.uid)
                remove_ipc_objects()
                remove_all(paths, self.uid)
            finally:
                os._exit(0)
        os.waitpid(child, 0)

    def remove_rest(self):
        """Removes the rest; true when nothing of the run is left."""
        all_gone = remove_all(self._new_scratch_paths())
        if self.uid is not None:
            all_gone = remove_all(_shared_paths()) and all_gone
            all_gone = not ipc_objects() and all_gone
            all_gone = remove_all(self._new_workspace_paths()) and all_gone
            for folder, (stamp, names) in list(self.listings.items()):
                current = _folder_stamp(folder)
                if current != stamp:
                    self.listings[folder] = (current, names)
        return all_gone

    def _new_scratch_paths(self):
        return [path for path in _entries(self.scratch) if os.path.basename(path) not in self.kept_names]

    def _new_workspace_paths(self):
        """Entries that are new, and entries that replaced an old one."""
        if not self.writable:
            return []
        paths = []
        for folder, (stamp, names) in self.listings.items():
            if _folder_stamp(folder) != stamp:
                paths += [path for path in _entries(folder) if os.path.basename(path) not in names or _is_foreign(path)]
        return paths


def ipc_objects():
    """System V objects of this IPC namespace: (kind, id). They keep their memory when no process uses them any more."""
    ids = []
    for kind in ("shm", "sem", "msg"):
        try:
            with open("/proc/sysvipc/" + kind) as stream:
                ids += [(kind, int(line.split()[1])) for line in list(stream)[1:]]
        except OSError:
            continue
    return ids


def remove_ipc_objects():
    """Removes the IPC objects that this user may remove."""
    remaining = ipc_objects()
    if not remaining:
        return
    libc = ctypes.CDLL(None)
    for kind, number in remaining:
        if kind == "sem":
            libc.semctl(number, 0, 0)
        else:
            getattr(libc, kind + "ctl")(number, 0, None)


def list_folders(root):
    """Lists the workspace: folder -> (stamp, names of its entries)."""
    listings, todo = {}, [root]
    while todo:
        folder = todo.pop()
        stamp = _folder_stamp(folder)
        names = set()
        for entry in os.scandir(folder):
            names.add(entry.name)
            if entry.is_dir(follow_symlinks=False):
                todo.append(entry.path)
        listings[folder] = (stamp, frozenset(names))
    return listings


def match_root_mode(root, folder):
    """Gives a new folder of the workspace the mode of its root."""
    os.chmod(folder, stat.S_IMODE(os.stat(root).st_mode))


def remove_all(paths, uid=None):
    """Removes each path; true when none is left."""
    all_gone = True
    for path in paths:
        all_gone = remove(path, uid) and all_gone
    return all_gone


def remove(path, uid=None):
    """Removes a file or a whole tree, whatever its modes, depth and names; true when nothing of it is left.

    `uid`: only what belongs to that user; other folders are visited and stay.
    Folders are moved up before they are emptied, so no path becomes too long and nothing recurses.
    """
    parent, count = os.path.dirname(path), 0
    todo, emptied = [path], []
    while todo and count < MAX_ENTRIES:
        count += 1
        current = todo.pop()
        try:
            status = os.lstat(current)
            if not stat.S_ISDIR(status.st_mode):
                os.unlink(current)
                continue
            is_removable = uid is None or status.st_uid == uid
            if is_removable:
                if status.st_mode & 0o700 != 0o700:
                    os.chmod(current, 0o700)
                if os.path.dirname(current) != parent:
                    current = _move_up(current, parent)
            todo += _entries(current)
            emptied.append(current)
        except OSError:
            continue
    all_gone = not todo
    for folder in reversed(emptied):
        try:
            os.rmdir(folder)
        except OSError:
            all_gone = False
    return all_gone and not os.path.lexists(path)


def _move_up(folder, parent):
    """Moves a folder to a short name in `parent` and returns its new path; the old path where it cannot be moved."""
    short_path = os.path.join(parent, ".wipe-" + os.urandom(8).hex())
    try:
        os.rename(folder, short_path)
    except OSError:
        return folder
    return short_path


def _shared_paths():
    return [path for folder in SHARED_FOLDERS for path in _entries(folder)]


def _entries(folder):
    try:
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    except OSError:
        return []


def _is_foreign(path):
    return os.lstat(path).st_uid != os.getuid()


def _folder_stamp(folder):
    """A value that changes with every entry added or removed, and that no run can set: the kernel's change time.

    That time has the resolution of the kernel's clock; the size of a folder on a tmpfs counts its entries exactly.
    """
    status = os.stat(folder)
    return status.st_ctime_ns, status.st_size
