r"""Messages between host and sandbox, for both sides: standard library only, Python 3.9 or newer.

Host and supervisor exchange *messages*: four bytes of length (big endian), then one JSON object in UTF-8.

    supervisor -> host   {"kind": "ready", "protocol", "python": [3, 11, 7], "pytest": "9.2.0", "borrowed": bool,
                           "machine": "x86_64"}
                         {"kind": "broken", "reason"}              instead of ready: no test can run here
    host -> supervisor   {"kind": "write", "root", "files", "executable", "folders"}
                                                                   write files for all runs (base64 by relative path)
    supervisor -> host   {"kind": "written"}  or  {"kind": "broken", "reason"}
    host -> supervisor   {"kind": "prepare", "root", "scratch", "environ", "modules": [name], "rewritten": [name],
                          "trial": bool, "session": bool}
                         import these packages and open a pytest session for all later runs
    supervisor -> host   {"kind": "prepared", "modules", "rewritten", "left_out": {name: why}, "session": bool,
                          "reason", "spoilt"}
                         `reason`: why there is no session; `spoilt`: why this supervisor must not be used any more
    host -> supervisor   {"kind": "restart", "environ": {...}}     become a new supervisor with these variables, which
                                                                   answers `ready`
    host -> supervisor   {"kind": "run", ...}                      see `run_request`
    supervisor -> host   {"kind": "done", "report", "status", "killed", "output", "leftover", "seconds", "silent",
                          "costs", "dirty"}
                         `dirty`: something of the run could not be removed, so this sandbox must not be used again;
                         `status` is the worker's exit status by waitpid (negative: signal), `killed` is empty or one of
                         timeout, memory, processes, disk, output, report;
                         `costs` (null without `passes`, or where marks are missing), by the supervisor's clocks:
                         {"calls": [seconds of each call in running order], "imports": seconds of the collection,
                         "fixtures": seconds of setup and teardown, "elapsed": seconds outside the calls, from the
                         worker's start, "processor": processor time of all processes outside them, in seconds, "peak":
                         bytes by which the worker had grown in a call}

A worker sends only its *report*: a pipe with one line for each record, `MAC JSON\\n`, where MAC is a keyed hash of the
JSON. Every record has `kind` and a gapless `seq` from 0. `Frame` is [path, line, function]; paths inside the root are
relative to it; lines are 1-based. Kinds, in the order they are sent:

    start          pytest (version), python, root, reruns (bool: a plugin may repeat a failing case)
    collect_error  id, type, message, frames, text, name (module that could not be imported, else null),
                   local (bool: the workspace has a module or package of that top-level name)
    collected      cases: [{id, path, line}] in running order, deselected: [id]
    begin          id
    phase          id, when (setup|call|teardown), outcome (passed|failed|skipped), wasxfail (reason or null), seconds,
                   type (exception class from the call itself or null), message, frames, text, expected, observed
    modules        names: installed modules that were imported, top-level ones first; only with `baseline`
    trace          id, functions: [{path, line (co_firstlineno), name, depth, caller: Frame or null}] of setup and call,
                   also: [[path, line]] reached around them (teardown, hooks), blind (bool: some of what the case ran
                   may be missing), calls_of: [[path, line, caller's path, caller's line]] not sent before
    shared         id (path of a test file, or "" for all cases), also: what is done once for all these cases (imports,
                   fixtures of a wider scope), cached: [[path, line]] of functions whose results are kept, blind,
                   calls_of
    opened         id (of a case, or ""), opened: [[path, module]]: files of the workspace that this module read
    watch          id, files: [path], hits: [[file, line, times]], left_out (number of steps missing before number
                   `gap` of these),
                   steps: [[file, line, call, {variable: text}]] (`file` counts `files` from 0, `call` from 1; variables
                   that changed before the line runs; `return`, `yield` or `raise` among them is how the call ended)
    statements     id, files: [path], statements: [[file, line]] that ran in the suspected functions; with `statements`
    profile        id, files: [path], lines: [[file, line, times, seconds, bytes]], peak (bytes, or 0); with `profile`
    inspection     id, when, chain: [{type, message, led (cause|context: how it led to the next one; "" for the last
                   one), frames: [[path, line, function, line of code, [[variable, text]]]]}], the exception that failed
                   the case last; values: [[expression, text]], sections: [[title, captured text]]; with `inspect`
    apart          id, calls (of changed code in the other process), rests_on: [[kind, name]] of what the pass needed
                   besides values (kind: changes, constants, operators, operands, states), lent: [files of the tests
                   whose paths the code was handed], ran: [[path, line]] with `lines`, sides: [[line, time, left,
                   right]],
                   digests of what assertions compare, and false: how many did not hold, with `operands`, unfit (why
                   something could not cross, or ""), suspicious (bool: the code was seen to lie); with `apart`
    finished       status (pytest's exit status)

The host adds `{"kind": "forged", "seq": -1}` for a line whose MAC does not match.
"""

import base64
import hashlib
import hmac
import json
import os
import struct

VERSION = 1
REQUEST_LIMIT = 256 << 20
REPLY_LIMIT = 64 << 20
REPORT_LIMIT = 16 << 20
MAC_LENGTH = 32
MOST_LOAD = 8.0  # times as long as on a quiet machine
_HEADER = struct.Struct(">I")


class ProtocolError(ValueError):
    """The other side sent something that is not a message of this protocol."""


def pack(message, limit=REQUEST_LIMIT):
    """Encodes one message. Raises `ProtocolError` when it is over the limit (bytes)."""
    body = json.dumps(message).encode()
    if len(body) > limit:
        raise ProtocolError("message of %d bytes is over the limit of %d" % (len(body), limit))
    return _HEADER.pack(len(body)) + body


def message_size(header, limit=REPLY_LIMIT):
    """The number of bytes that follow this four-byte header. Raises `ProtocolError` for an impossible length."""
    if len(header) != _HEADER.size:
        raise ProtocolError("message cut off in its header")
    size = _HEADER.unpack(header)[0]
    if size > limit:
        raise ProtocolError("message of %d bytes is over the limit of %d" % (size, limit))
    return size


def unpack(body):
    """Decodes a message. Raises `ProtocolError` when the bytes are not one JSON object with a kind."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("message is not JSON: %s" % error) from error
    if not isinstance(message, dict) or not isinstance(message.get("kind"), str):
        raise ProtocolError("message has no kind")
    return message


def read_message(stream, limit=REPLY_LIMIT):
    """Reads the next message of a blocking binary stream; None at its end."""
    header = _read_exactly(stream, _HEADER.size)
    if not header:
        return None
    size = message_size(header, limit)
    body = _read_exactly(stream, size)
    if len(body) != size:
        raise ProtocolError("message cut off after %d of %d bytes" % (len(body), size))
    return unpack(body)


def _read_exactly(stream, size):
    chunks = []
    while size:
        chunk = stream.read(size)
        if not chunk:
            break
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


# Fields of a run that need not be given.
_RUN = {
    "files": {}, "without": (), "baseline": False, "apart": None, "trace": False, "watch": (), "statements": (),
    "profile": None, "inspect": None, "collect": False, "only": (), "passes": 0, "case_seconds": 0.0, "session": False,
    "wall": None, "filters": b"", "uid": None, "count_processes": False, "watch_disk": False, "scratch": "/tmp",
    "environ": {}, "start": "",
}  # fmt: skip


def run_request(key, **fields):
    """Makes the request to run tests once. Raises `ProtocolError` for a path that could leave the workspace.

    `key` (bytes) signs the report; `root` is the absolute path of the workspace inside the sandbox, `start` the folder
    in it where pytest starts.
    `selectors` are pytest node ids, or `doctest:REL/PATH.py::QUALNAME` (QUALNAME empty: the module's docstring).
    `memory`, `disk`, `output` in bytes; `processes` counts processes and threads.
    The fields that a `TestRun` of the host has mean the same here; `watch`, `statements` and the lines of `profile` are
    (path, first line, last line), `apart` and `inspect` objects with the fields of their classes.
    `session`: use the prepared pytest session.
    `wall`: the worker makes mounts of its own and covers these paths ({"files", "folders"}).
    `filters` (bytes): a seccomp program that the worker installs on itself, with all capabilities given up.
    `uid`: the worker switches to this user and group (the supervisor must be root).
    `count_processes`: RLIMIT_NPROC may be used, because no other process has the worker's uid in its user namespace.
    `watch_disk`: the workspace is a writable throw-away layer whose size must be watched.
    `scratch`: folder for temporary files; whatever was not in it when the supervisor started is removed after the run.
    """
    request = {**_RUN, **fields, "kind": "run", "key": key.hex()}
    apart = request["apart"] or {"files": (), "tests": (), "visible": ()}
    for path in (*request["without"], *apart["files"], *apart["tests"], *apart["visible"]):
        check_path(path)
    return {**request, "files": encode_files(request["files"]), "filters": encode(request["filters"])}


def write_request(root, files, executable=(), folders=()):
    """Makes the request to write files permanently, before any run. Large workspaces take several requests.

    `executable` names the files that may be executed; `folders` are created even when they are empty.
    """
    return {
        "kind": "write",
        "root": root,
        "files": encode_files(files),
        "executable": [check_path(path) for path in executable],
        "folders": [check_path(path) for path in folders],
    }


def prepare_request(root, modules, *, rewritten=(), trial, session, scratch="/tmp", environ=None, start=""):
    """Makes the request to import packages and open a pytest session, before the runs that use them.

    `trial`: a forked process tries the packages first, and only slow and harmless ones are imported.
    `rewritten`: packages with plugins for pytest, imported after the session was opened.
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
        "start": start,
    }


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
    """Returns the path if it is relative, normalised and stays below its root. Raises `ProtocolError` otherwise."""
    parts = path.split("/")
    if not path or "\0" in path or "\\" in path or any(part in ("", ".", "..") for part in parts):
        raise ProtocolError("%r is not a plain relative path" % path)
    return path


def sign(body, key):
    return hashlib.blake2b(body, key=key, digest_size=MAC_LENGTH // 2).hexdigest().encode()


def open_report(report, key, complete=True):
    """Decodes a report (str or bytes). A line whose MAC does not match becomes a `forged` record.

    `complete` False: the worker was killed, so an incomplete last line is not a forgery.
    """
    data = report.encode("utf-8", "surrogatepass") if isinstance(report, str) else report
    lines = data.split(b"\n")
    last = lines.pop()
    if last and complete:
        lines.append(last)
    return [_open_line(line, key) for line in lines]


def _open_line(line, key):
    forged = {"kind": "forged", "seq": -1}
    mac, space, body = line.partition(b" ")
    if not space or not hmac.compare_digest(mac, sign(body, key)):
        return forged
    try:
        record = unpack(body)
    except ProtocolError:
        return forged
    return record if isinstance(record.get("seq"), int) else forged


def load():
    """Returns the processes that share a processor, from 1 to `MOST_LOAD`: under load a late answer is no hang."""
    try:
        return min(max(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0), MOST_LOAD)
    except (AttributeError, OSError):
        return 1.0
