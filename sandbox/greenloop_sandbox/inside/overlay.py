"""Writes the files of one run into a workspace that all runs share, and removes them again."""

import os


def write_permanently(request, protocol, cleanup):
    """Writes files that all later runs find. Raises `OSError` or `ProtocolError`."""
    root = request["root"]
    for folder in request["folders"]:
        _make_folders(cleanup, root, os.path.join(root, protocol.check_path(folder)))
    files = protocol.decode_files(request["files"])
    apply(cleanup, root, files)
    for path in files:
        os.chmod(os.path.join(root, path), 0o755 if path in request["executable"] else 0o644)


def apply(cleanup, root, files, without=()):
    """Writes and removes files; returns entries for `revert`: (path, old content and mode or None, folder created)."""
    undo = []
    for relative in without:
        path = os.path.join(root, relative)
        if os.path.isfile(path) and not os.path.islink(path):
            undo.append((path, _read_file(path), None))
            os.unlink(path)
    for relative, data in files.items():
        path = os.path.join(root, relative)
        first_created = _make_folders(cleanup, root, os.path.dirname(path))
        undo.append((path, _read_file(path) if os.path.lexists(path) else None, first_created))
        _write_file(path, data, os.O_TRUNC)
    return undo


def _read_file(path):
    with open(path, "rb") as stream:
        return stream.read(), os.fstat(stream.fileno()).st_mode & 0o777


def _write_file(path, data, flags, mode=0o644):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | flags, mode), "wb") as stream:
        stream.write(data)


def _make_folders(cleanup, root, folder):
    first_created = None
    missing = []
    while len(folder) > len(root) and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        os.mkdir(path, 0o755)
        cleanup.match_root_mode(root, path)
        first_created = first_created or path
    return first_created


def revert(cleanup, undo):
    """Undoes `apply`."""
    for path, previous, first_created in reversed(undo):
        if first_created is not None:
            cleanup.remove(first_created)
            continue
        # Never written in place: a test may have replaced the file.
        if os.path.lexists(path):
            os.unlink(path)
        if previous is not None:
            _write_file(path, previous[0], os.O_EXCL, previous[1])
