r"""What the two sides of the wall say to each other. Imported by both: standard library only, Python 3.9 or newer.

Host and supervisor exchange *messages*: four bytes of length (big endian), then one JSON object in UTF-8.

    supervisor -> host   {"kind": "ready", "protocol", "python": [3, 11, 7], "pytest": "9.2.0", "borrowed": bool,
                           "machine": "x86_64"}
                         {"kind": "broken", "reason"}              instead of ready: nothing can be run here
    host -> supervisor   {"kind": "write", "root", "files", "executable", "folders"}
                                                                   lay files down for good (base64 by relative path)
    supervisor -> host   {"kind": "written"}  or  {"kind": "broken", "reason"}
    host -> supervisor   {"kind": "prepare", "root", "scratch", "environ", "modules": [name], "rewritten": [name],
                          "trial": bool, "session": bool}
                         import these packages, open a pytest session, both for all later runs
    supervisor -> host   {"kind": "prepared", "modules", "rewritten", "left_out": {name: why}, "session": bool,
                          "reason", "spoilt"}
                         `reason`: why there is no session; `spoilt`: why this supervisor must not be used any more
    host -> supervisor   {"kind": "run", ...}                      see `run_request`
    supervisor -> host   {"kind": "done", "report", "status", "killed", "output", "leftover", "seconds", "dirty"}
                         `dirty`: something of the run could not be removed, so nothing more may be run here;
                         `status` is the worker's exit status by waitpid (negative: signal), `killed` is empty or one of
                         timeout, memory, processes, disk, output, report

A worker speaks through its *report* only: a pipe with one line a record, `MAC JSON\\n`, MAC a keyed hash of the JSON.
Every record has `kind` and a gapless `seq` from 0. `Frame` is [path, line, function]; paths are relative to the root
where they lie in it; lines are 1-based. Kinds, in the order they come:

    start          pytest (version), python, root, reruns (bool: a plugin may repeat a failing case)
    collect_error  id, type, message, frames, text, name (module that could not be imported, else null),
                   local (bool: the workspace has a module or package of that top-level name)
    collected      cases: [{id, path, line}] in running order, deselected: [id]
    begin          id
    phase          id, when (setup|call|teardown), outcome (passed|failed|skipped), wasxfail (reason or null), seconds,
                   type (exception class from the call itself or null), message, frames, text, expected, observed
    modules        names: installed packages (top level) that were imported; only where `baseline` is asked for
    trace          id, functions: [{path, line (co_firstlineno), name, depth, caller: Frame or null}]
    watch          id, files: [path], hits: [[file, line, times]], left_out (how many steps are missing before number
                   `gap` of these),
                   steps: [[file, line, call, {variable: text}]] (`file` counts `files` from 0, `call` from 1; variables
                   that changed before the line runs; `return`, `yield` or `raise` among them: so the call ended)
    oracle         calls (answered by the other process), unfit (why not everything could cross, or ""); with an oracle
    finished       status (pytest's exit status)

The host adds `{"kind": "forged", "seq": -1}` where a line's MAC does not fit.
"""

import base64
import hashlib
import hmac
import json
import struct

VERSION = 1
REQUEST_LIMIT = 256 << 20
REPLY_LIMIT = 64 << 20
REPORT_LIMIT = 16 << 20
MAC_LENGTH = 32
_HEAD = struct.Struct(">I")


class ProtocolError(ValueError):
    """The other side said something that is no message of this protocol."""


def pack(message, limit=REQUEST_LIMIT):
    """One message as bytes. Raises `ProtocolError` when it is over the limit (bytes)."""
    body = json.dumps(message).encode()
    if len(body) > limit:
        raise ProtocolError("message of %d bytes is over the limit of %d" % (len(body), limit))
    return _HEAD.pack(len(body)) + body


def length(head, limit=REPLY_LIMIT):
    """How many bytes follow these four. Raises `ProtocolError` for a length that cannot be right."""
    if len(head) != _HEAD.size:
        raise ProtocolError("message cut off in its head")
    size = _HEAD.unpack(head)[0]
    if size > limit:
        raise ProtocolError("message of %d bytes is over the limit of %d" % (size, limit))
    return size


def unpack(body):
    """The message in these bytes. Raises `ProtocolError` when they are not one JSON object with a kind."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("message is not JSON: %s" % error) from error
    if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
        raise ProtocolError("message has no kind")
    return message


def read(stream, limit=REPLY_LIMIT):
    """The next message of a blocking binary stream; None at its end."""
    head = _exactly(stream, _HEAD.size)
    if not head:
        return None
    size = length(head, limit)
    body = _exactly(stream, size)
    if len(body) != size:
        raise ProtocolError("message cut off after %d of %d bytes" % (len(body), size))
    return unpack(body)


def _exactly(stream, size):
    parts = []
    while size:
        part = stream.read(size)
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def run_request(
    *,
    key,
    root,
    selectors,
    seconds,
    memory,
    disk,
    output,
    processes,
    collect=False,
    trace=False,
    watch=(),
    baseline=False,
    session=False,
    wall=None,
    filters=b"",
    files=None,
    without=(),
    oracle=(),
    uid=None,
    count_processes=False,
    watch_disk=False,
    scratch="/tmp",
    environ=None,
):
    """A request to run tests once.

    `key` (bytes) signs the report; `root` is the absolute path of the workspace inside the wall.
    `selectors` are pytest node ids, or `doctest:REL/PATH.py::QUALNAME` (QUALNAME empty: the module's docstring).
    `seconds` of wall time; `memory`, `disk`, `output` in bytes; `processes` counts processes and threads.
    `files` (relative path -> bytes) are laid over the workspace for this run and taken back after it; the files of
    `without` are not there meanwhile. `oracle` names modules whose code runs in a process of its own.
    `watch` are (path, first line, last line) whose running is recorded for each case.
    `baseline`: tell which packages were imported. `session`: go on with the prepared pytest session.
    `wall`: the worker makes mounts of its own and covers these ({"files", "folders"}).
    `filters` (bytes): a seccomp program that the worker installs on itself, with all capabilities given up.
    `uid`: the worker drops to this user and group (the supervisor must be root).
    `count_processes`: RLIMIT_NPROC may be used, because nobody else has the worker's uid in its user namespace.
    `watch_disk`: the workspace is a writable throw-away layer whose size must be watched.
    `scratch`: folder for temporary files, emptied after the run of all that was not there when the supervisor started.
    """
    return {
        "kind": "run",
        "key": key.hex(),
        "root": root,
        "selectors": list(selectors),
        "collect": bool(collect),
        "trace": bool(trace),
        "watch": [[check_path(path), int(start), int(end)] for path, start, end in watch],
        "baseline": bool(baseline),
        "session": bool(session),
        "wall": wall,
        "filters": encode(filters),
        "seconds": float(seconds),
        "memory": int(memory),
        "disk": int(disk),
        "output": int(output),
        "processes": int(processes),
        "files": encode_files(files or {}),
        "without": [check_path(path) for path in without],
        "oracle": list(oracle),
        "uid": uid,
        "count_processes": bool(count_processes),
        "watch_disk": bool(watch_disk),
        "scratch": scratch,
        "environ": dict(environ or {}),
    }


def write_request(root, files, executable=(), folders=()):
    """A request to lay files down for good, before any run. Big workspaces take several of them.

    `executable` names those that may be run as programs, `folders` are made also where nothing lies in them.
    """
    return {
        "kind": "write",
        "root": root,
        "files": encode_files(files),
        "executable": [check_path(path) for path in executable],
        "folders": [check_path(path) for path in folders],
    }


def prepare_request(root, modules, *, rewritten=(), trial, session, scratch="/tmp", environ=None):
    """A request to import packages and to open a pytest session, before any run that shall profit from it.

    `trial`: a forked process tries the packages first, and only those that are slow and harmless are imported.
    `rewritten`: packages with plugins for pytest, to be imported after the session was opened.
    """
    return {
        "kind": "prepare",
        "root": root,
        "modules": list(modules),
        "rewritten": list(rewritten),
        "trial": bool(trial),
        "session": bool(session),
        "scratch": scratch,
        "environ": dict(environ or {}),
    }


def wall(hidden_files=(), hidden_folders=()):
    """The field of that name: these paths (or absolute ones) are covered."""
    return {"files": list(hidden_files), "folders": list(hidden_folders)}


def encode(data):
    return base64.b64encode(data).decode()


def decode(text):
    return base64.b64decode(text, validate=True)


def encode_files(files):
    """Raises `ProtocolError` for a path that could leave the workspace."""
    return {check_path(path): base64.b64encode(data).decode() for path, data in files.items()}


def decode_files(files):
    return {check_path(path): base64.b64decode(data, validate=True) for path, data in files.items()}


def check_path(path):
    """The path itself when it is relative, normal and stays below its root. Raises `ProtocolError` otherwise."""
    parts = path.split("/")
    if not path or "\0" in path or "\\" in path or any(part in ("", ".", "..") for part in parts):
        raise ProtocolError("%r is no plain relative path" % path)
    return path


def sign(body, key):
    return hashlib.blake2b(body, key=key, digest_size=MAC_LENGTH // 2).hexdigest().encode()


def open_report(report, key, whole=True):
    """The records of a report (str or bytes). A line whose MAC does not fit becomes a `forged` record.

    `whole` False: the worker was killed, so a last line without its end is no forgery.
    """
    data = report.encode("utf-8", "surrogatepass") if isinstance(report, str) else report
    lines = data.split(b"\n")
    last = lines.pop()
    if last and whole:
        lines.append(last)
    return [_record(line, key) for line in lines]


def _record(line, key):
    forged = {"kind": "forged", "seq": -1}
    mac, space, body = line.partition(b" ")
    if not space or not hmac.compare_digest(mac, sign(body, key)):
        return forged
    try:
        record = unpack(body)
    except ProtocolError:
        return forged
    return record if isinstance(record.get("seq"), int) else forged
