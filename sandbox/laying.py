"""Files of one run in a workspace that all runs share, and how they go again."""

import os


def lay_for_good(request, protocol, wipe):
    """Files that all later runs find. Raises `OSError` or `ProtocolError`."""
    root = request["root"]
    for folder in request["folders"]:
        _make_folders(wipe, root, os.path.join(root, protocol.check_path(folder)))
    files = protocol.decode_files(request["files"])
    lay(wipe, root, files)
    for path in files:
        os.chmod(os.path.join(root, path), 0o755 if path in request["executable"] else 0o644)


def lay(wipe, root, files, without=()):
    """Writes and removes files; returns what undoes it: (path, old content and mode or None, folder made)."""
    taken = []
    for relative in without:
        path = os.path.join(root, relative)
        if os.path.isfile(path) and not os.path.islink(path):
            taken.append((path, _old(path), None))
            os.unlink(path)
    for relative, data in files.items():
        path = os.path.join(root, relative)
        made = _make_folders(wipe, root, os.path.dirname(path))
        taken.append((path, _old(path) if os.path.lexists(path) else None, made))
        _put(path, data, os.O_TRUNC)
    return taken


def _old(path):
    with open(path, "rb") as stream:
        return stream.read(), os.fstat(stream.fileno()).st_mode & 0o777


def _put(path, data, flags, mode=0o644):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | flags, mode), "wb") as stream:
        stream.write(data)


def _make_folders(wipe, root, folder):
    made = None
    missing = []
    while len(folder) > len(root) and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        os.mkdir(path, 0o755)
        wipe.open_like(root, path)
        made = made or path
    return made


def take_back(wipe, taken):
    """Undoes what `lay` has done."""
    for path, old, made in reversed(taken):
        if made is not None:
            wipe.remove(made)
            continue
        # Never written in place: a test may have put something else there.
        if os.path.lexists(path):
            os.unlink(path)
        if old is not None:
            _put(path, old[0], os.O_EXCL, old[1])
