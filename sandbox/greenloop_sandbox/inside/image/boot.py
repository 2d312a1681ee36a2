"""Process 1 of a sandbox container: writes the supervisor's files, runs it, restarts it on request.

It is passed on the command line (`python3 -I -c`), so any image with Python 3.9 or newer works.
Messages have the shape of protocol.py: four bytes of length (big endian), then one JSON object.

    boot -> host   {"kind": "hello", "python": [3, 11, 2], "pytest": bool, "packages": bool}
    host -> boot   {"kind": "boot", "argv": [...], "environ": {...},
                    "files": {relative path: base64}, "open": {folder: mode}, "empty": [folder]}
    (the supervisor now owns stdin and stdout and uses protocol.py)
    boot -> host   {"kind": "ended", "status"}     the supervisor and its processes have ended; boot waits again

SIGHUP ends the supervisor. The end of stdin (the host has closed it or died) ends the container at once.
Being process 1, it cannot be ended by signals from inside, and it reaps every orphan.
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
    wake_in, wake_out = os.pipe()
    os.set_blocking(wake_in, False)
    os.set_blocking(wake_out, False)
    for number in (signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # which signal arrived is read from the wake-up pipe
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.set_wakeup_fd(wake_out, warn_on_full_buffer=False)
    pytest = importlib.util.find_spec("pytest") is not None
    _send(
        {"kind": "hello", "python": list(sys.version_info[:3]), "pytest": pytest, "packages": os.path.isdir(PACKAGES)}
    )
    while True:
        message = _read()
        _write_files(message["files"])
        for folder in message["empty"]:
            for entry in os.scandir(folder):  # a tmpfs starts with a copy of the image's folder
                (shutil.rmtree if entry.is_dir(follow_symlinks=False) else os.unlink)(entry.path)
        for folder, mode in message["open"].items():
            os.chmod(folder, mode)
        # A fresh copy of the environment each time: nothing of the last supervisor remains.
        child = subprocess.Popen(message["argv"], cwd="/", env=dict(os.environ, **message["environ"]))
        status = _wait_for_supervisor(child.pid, wake_in)
        child.returncode = status  # already reaped; Popen must not wait for it
        _send({"kind": "ended", "status": status})


def _wait_for_supervisor(child, wake_in):
    """Waits for the supervisor to end, kills the processes it left, and returns its exit status."""
    poll = select.poll()
    poll.register(wake_in, select.POLLIN)
    poll.register(0, 0)  # only its end is watched: the bytes are the supervisor's
    status = None
    while status is None:
        for fd, _ in poll.poll():
            if fd == 0:
                os._exit(0)
            if signal.SIGHUP in os.read(wake_in, 4096):
                os.kill(child, signal.SIGKILL)
        status = _reap(child, os.WNOHANG)
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass
    _reap(child, 0)
    return status


def _reap(child, flags):
    """Reaps ended processes (flags 0: waits for all); returns the child's exit status if it was among them."""
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


def _write_files(files):
    for name, data in files.items():
        path = os.path.join(FOLDER, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(base64.b64decode(data))


def _send(message):
    body = json.dumps(message).encode()
    data = struct.pack(">I", len(body)) + body
    while data:
        data = data[os.write(1, data) :]


def _read():
    size = struct.unpack(">I", _read_exactly(4))[0]
    return json.loads(_read_exactly(size))


def _read_exactly(size):
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
