"""The objects of a git repository, as git's plumbing prints them: trees, files, hashes. Runs nothing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from greenloop.core.errors import CannotVerifyError

LINK, MODULE, FOLDER = "120000", "160000", "40000"
_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n")


@dataclass(frozen=True, kw_only=True)
class TreeEntry:
    """A file of a revision. `path` is relative to the workspace; `submodule` is the one it lies in, or empty."""

    path: str
    mode: str
    oid: str
    submodule: str = ""


def is_same(entry: TreeEntry, data: bytes) -> bool:
    """Is this the revision's content, possibly with the CRLF line endings of a checkout?"""
    if object_id(data, entry.oid) == entry.oid:
        return True
    return b"\r\n" in data and object_id(data.replace(b"\r\n", b"\n"), entry.oid) == entry.oid


def lfs_content(data: bytes) -> str | None:
    """The SHA-256 of the file that a Git LFS pointer refers to; None if these bytes are not a pointer."""
    match = _POINTER.match(data) if len(data) < 1024 else None
    return match[1].decode() if match else None


def object_id(data: bytes, sample_id: str, kind: str = "blob") -> str:
    # Repositories use SHA-1 or SHA-256; the length of a hash tells which.
    algorithm = hashlib.sha256 if len(sample_id) == 64 else hashlib.sha1
    return algorithm(b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest()


def tree_rows(tree: bytes, sample_id: str) -> Iterator[tuple[str, bytes, str]]:
    """The (mode, name, object id) of each entry of a tree; `sample_id` has the length of its object ids.

    Raises `CannotVerifyError` for a name that could lead elsewhere.
    """
    position = 0
    width = len(sample_id) // 2
    while position < len(tree):
        end = tree.index(b"\0", position)
        mode, _space, name = tree[position:end].partition(b" ")
        if name in {b"", b".", b".."} or b"/" in name:
            raise CannotVerifyError(
                f"The revision contains a file with the forbidden name {name!r}.", remedy="Choose another revision."
            )
        yield mode.decode().lstrip("0"), name, tree[end + 1 : end + 1 + width].hex()
        position = end + 1 + width


def batch_objects(output: bytes) -> Iterator[tuple[str, str, bytes]]:
    """The (id, kind, content) of each object that `cat-file --batch` printed; missing ones are left out."""
    position = 0
    while (end := output.find(b"\n", position)) >= 0:
        header = output[position:end].decode().split()
        position = end + 1
        if len(header) == 3:
            size = int(header[2])
            yield header[0], header[1], output[position : position + size]
            position += size + 1
