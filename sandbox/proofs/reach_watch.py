"""Notices in the worker when new code reaches for what runs it: frames, code objects, tracers, all objects.

Such code can change a test from outside of every value that it returns. `sys.addaudithook` tells of it wherever the
call is hidden; the hook cannot be taken away again. `source_reads.py` notices who reads tests or asks for its caller.
"""

import inspect
import os
import sys
import threading
import traceback

# Audit events -> (what is said, names in the user's own code that excuse it).
_FRAMES = ("the frames that call it", {"_getframe", "currentframe", "stack", "f_back", "tb_frame", "_current_frames"})
_OBJECTS = ("all objects of the process", {"get_objects", "get_referrers", "get_referents"})
_TEXT = ("code made of text or of parts", {"exec", "eval", "compile", "FunctionType", "CodeType", "replace"})
_MEMORY = ("memory by ctypes", {"ctypes", "cdll", "pythonapi", "CDLL", "PyDLL"})
_WATCHERS = ("profilers and tracers", {"settrace", "setprofile", "addaudithook"})
_CODE = ("the code of functions", {"__code__", "__defaults__", "__kwdefaults__", "gi_code"})
EVENTS = {
    "sys._current_frames": _FRAMES, "sys._current_exceptions": _FRAMES,
    "gc.get_objects": _OBJECTS, "gc.get_referrers": _OBJECTS, "gc.get_referents": _OBJECTS,
    "exec": _TEXT, "compile": _TEXT, "code.__new__": _TEXT, "function.__new__": _TEXT, "marshal.loads": _TEXT,
    "ctypes.dlopen": _MEMORY, "ctypes.dlsym": _MEMORY, "ctypes.dlsym/handle": _MEMORY, "ctypes.cdata": _MEMORY,
    "ctypes.string_at": _MEMORY,
    "sys.setprofile": _WATCHERS, "sys.settrace": _WATCHERS, "sys.addaudithook": _WATCHERS,
}  # fmt: skip
ATTRIBUTES = {
    "tb_frame": _FRAMES, "gi_frame": _FRAMES, "cr_frame": _FRAMES, "ag_frame": _FRAMES,
    "__code__": _CODE, "__defaults__": _CODE, "__kwdefaults__": _CODE,
    "f_code": _CODE, "gi_code": _CODE, "cr_code": _CODE, "ag_code": _CODE,
}  # fmt: skip
# Modules that do for their caller what is watched here; others, such as logging, do it for themselves.
THROUGH = frozenset({"inspect", "traceback", "runpy", "timeit", "code", "codeop", "ctypes"})
# What of `inspect` looks at a function's code to make a signature of it.
SIGNATURE = frozenset({"_signature_from_function", "_signature_is_functionlike", "_signature_from_callable"})
MOST_FRAMES = 12
# Which argument is the path that is written.
_FILE_EVENTS = {"os.rename": 1, "os.link": 1, "os.symlink": 1, "os.remove": 0, "os.truncate": 0}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_TRUNC


def make(root, is_new, own_names, tell_of_code=lambda *_: None):
    """Makes (`hook`, `found`): a hook for `sys.addaudithook`, and the list of what new code has reached for.

    `is_new(code)` says whether code is the candidate's own, and `own_names` holds the names that the user's own text
    uses. `tell_of_code(function, code, frame)` is called before a function gets other code, in that frame.
    """
    found, busy = [], set()
    frame_of, ident = sys._getframe, threading.get_ident
    join, real_path, exists = os.path.join, os.path.realpath, os.path.exists
    decode, is_path = os.fsdecode, (str, bytes)
    of_inspect, of_traceback = vars(inspect), vars(traceback)  # not by name: every module can call itself so

    def note(what):
        if what not in found:
            found.append(what)

    def reaches(frame):
        """Whether new code made this call, itself or through a module that does it for its caller."""
        left = MOST_FRAMES
        while frame is not None and left:
            if is_new(frame.f_code):
                return True
            if str(frame.f_globals.get("__name__")).partition(".")[0] not in THROUGH:
                return False
            frame, left = frame.f_back, left - 1
        return False

    def is_below(frame):
        """Whether new code is among the callers."""
        left = MOST_FRAMES
        while frame is not None and left:
            if is_new(frame.f_code):
                return True
            frame, left = frame.f_back, left - 1
        return False

    def reads_signature(frame):
        """Whether it is `inspect.signature` that looks at a function's code."""
        return frame.f_globals is of_inspect and frame.f_code.co_name in SIGNATURE

    def look_at_file(path, frame):
        if not isinstance(path, is_path):
            return
        path = real_path(join(root, decode(path)))
        if path.startswith(root + os.sep) and exists(path) and is_below(frame):
            note("files of the workspace, to write them")

    def look(event, arguments, frame):
        if event == "open":
            if (arguments[2] or 0) & _WRITES:
                look_at_file(arguments[0], frame)
        elif event in _FILE_EVENTS:
            look_at_file(arguments[_FILE_EVENTS[event]], frame)
        else:
            is_attribute = event.startswith("object.")
            if event == "object.__setattr__" and arguments[1] == "__code__":
                tell_of_code(arguments[0], arguments[2], frame)
            if is_attribute and frame.f_globals is of_traceback:
                return  # it shows an exception; the caller gets text, and taking the stack is an event of its own
            if is_attribute and reads_signature(frame):
                return  # the caller gets names and default values, and no code
            named = ATTRIBUTES.get(arguments[1]) if is_attribute else EVENTS.get(event)
            if named is not None and not (named[1] & own_names) and reaches(frame):
                note(named[0])

    def hook(event, arguments):
        if event not in watched or ident() in busy:
            return
        busy.add(ident())
        try:
            look(event, arguments, frame_of(1))
        except Exception:  # an odd argument: the call itself must fail or succeed as ever
            pass
        finally:
            busy.discard(ident())

    watched = frozenset(EVENTS) | frozenset(_FILE_EVENTS) | {"open"}
    watched |= {"object.__getattr__", "object.__setattr__"}
    hook.busy = busy  # a thread whose number is in here is not watched: that of other watches while they look
    return hook, found
