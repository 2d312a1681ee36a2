"""Process 1 of a sandbox container: lays the supervisor's files down, runs it, and starts another one when told to.

It is given on the command line (`python3 -I -c`), so any image with Python 3.9 or newer will do.
Messages have the shape of protocol.py: four bytes of length (big endian), then one JSON object.

    boot -> host   {"kind": "hello", "python": [3, 11, 2], "pytest": bool, "packages": bool}
    host -> boot   {"kind": "boot", "argv": [...], "environ": {...},
                    "files": {relative path: base64}, "open": {folder: mode}, "empty": [folder]}
    (the supervisor has stdin and stdout now and speaks protocol.py)
    boot -> host   {"kind": "ended", "status"}     the supervisor is over, its processes are dead; boot waits again

SIGHUP ends the supervisor. The end of stdin (the host has closed it or died) ends the container at once.
As process 1 no signal from inside can end it, and it takes the exit status of every orphan.
"""

import base64
import importlib.util
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys

FOLDER = "/.greenloop/run"  # a small tmpfs of its own, written by root alone
PACKAGES = "/.greenloop/packages"  # pytest in an image that greenloop made


def main():
    wake, waker = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(waker, False)
    for number in (signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # what arrived is read from the wake-up pipe
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    pytest = importlib.util.find_spec("pytest") is not None
    _send(
        {"kind": "hello", "python": list(sys.version_info[:3]), "pytest": pytest, "packages": os.path.isdir(PACKAGES)}
    )
    while True:
        message = _read()
        _lay(message["files"])
        for folder in message["empty"]:
            _empty(folder)
        for folder, mode in message["open"].items():
            os.chmod(folder, mode)
        # A fresh copy of the environment each time: nothing of the last supervisor's remains.
        child = subprocess.Popen(message["argv"], cwd="/", env=dict(os.environ, **message["environ"]))
        status = _watch(child.pid, wake)
        child.returncode = status  # its exit status is taken; Popen shall not ask for it
        _send({"kind": "ended", "status": status})


def _watch(child, wake):
    """Waits for the supervisor's end, kills what it left, and returns its exit status."""
    poll = select.poll()
    poll.register(wake, select.POLLIN)
    poll.register(0, 0)  # nothing but its end: the bytes are the supervisor's
    status = None
    while status is None:
        for fd, _ in poll.poll():
            if fd == 0:
                os._exit(0)
            if signal.SIGHUP in os.read(wake, 4096):
                os.kill(child, signal.SIGKILL)
        status = _reap(child, os.WNOHANG)
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    _reap(child, 0)
    return status


def _reap(child, flags):
    """Takes the status of all that ended (flags 0: of all there are); returns the child's if it was among them."""
    status = None
    while True:
        try:
            pid, raw = os.waitpid(-1, flags)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == child:
            status = os.waitstatus_to_exitcode(raw)


def _lay(files):
    for name, data in files.items():
        path = os.path.join(FOLDER, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(base64.b64decode(data))


def _empty(folder):
    """A tmpfs starts with a copy of what the image has there; a workspace starts with nothing."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


def _send(message):
    body = json.dumps(message).encode()
    data = struct.pack(">I", len(body)) + body
    while data:
        data = data[os.write(1, data) :]


def _read():
    size = struct.unpack(">I", _exactly(4))[0]
    return json.loads(_exactly(size))


def _exactly(size):
    """Unbuffered: what comes after the message is the supervisor's."""
    parts = []
    while size:
        part = os.read(0, min(size, 1 << 20))
        if not part:
            os._exit(0)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


main()
