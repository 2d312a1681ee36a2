"""Process 1 of a sandbox container: writes the supervisor's files, and becomes the supervisor.

It is passed on the command line (`python3 -I -c`), so any image with Python 3.9 or newer works.
Messages have the shape of protocol.py: four bytes of length (big endian), then one JSON object.

    boot -> host   {"kind": "hello", "python": [3, 11, 2], "pytest": bool, "packages": bool}
    host -> boot   {"kind": "boot", "argv": [...], "environ": {...},
                    "files": {relative path: base64}, "open": {folder: mode}, "empty": [folder]}
    (the supervisor now owns stdin and stdout and uses protocol.py)

Process 1 cannot be ended by signals from inside, and reaps every orphan; the container ends with it, which is when
stdin ends: the host has closed it or died.
"""

import base64
import importlib.util
import json
import os
import shutil
import struct
import sys

FOLDER = "/.greenloop/run"  # a small tmpfs of its own, written by root alone
PACKAGES = "/.greenloop/packages"  # pytest in an image that greenloop made


def main():
    pytest = importlib.util.find_spec("pytest") is not None
    _send(
        {"kind": "hello", "python": list(sys.version_info[:3]), "pytest": pytest, "packages": os.path.isdir(PACKAGES)}
    )
    message = json.loads(_read(struct.unpack(">I", _read(4))[0]))
    for name, data in message["files"].items():
        path = os.path.join(FOLDER, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(base64.b64decode(data))
    for folder in message["empty"]:
        for entry in os.scandir(folder):  # a tmpfs starts with a copy of the image's folder
            (shutil.rmtree if entry.is_dir(follow_symlinks=False) else os.unlink)(entry.path)
    for folder, mode in message["open"].items():
        os.chmod(folder, mode)
    os.chdir("/")
    os.execvpe(message["argv"][0], message["argv"], dict(os.environ, **message["environ"]))


def _send(message):
    body = json.dumps(message).encode()
    data = struct.pack(">I", len(body)) + body
    while data:
        data = data[os.write(1, data) :]


def _read(size):
    """Reads without buffering: the bytes after the message are the supervisor's."""
    chunks = []
    while size:
        chunk = os.read(0, min(size, 1 << 20))
        if not chunk:
            os._exit(0)
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


main()
