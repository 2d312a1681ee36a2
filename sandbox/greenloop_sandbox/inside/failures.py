"""Describes a failure for the report: frames, message, and the two sides of a comparison."""

import ast
import builtins
import difflib
import os
import pprint
import reprlib
import sys

TEXT_LENGTH = 6000  # characters kept of a rendered failure
MESSAGE_LENGTH = 2000
REPR_LENGTH = 1000
MAX_FRAMES = 40
MACHINERY = ("_pytest", "pluggy")
# Hypothesis is machinery where it is installed or bundled.
PACKAGE_FOLDERS = ("site-packages", "dist-packages", "guests.zip")
LIKENESS = 0.7  # of a name to the one that was meant, from 0 to 1
MOST_NAMES = 2000  # that are compared for it
SANDBOX_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


def make_describer(relative_path):
    """Makes `describe(error, traceback, compared, item)`: message, frames, expected and observed of a failed call."""
    steps_of, get_frames = traceback_steps, _user_frames

    def describe(error, traceback, compared, item):
        describe_failure = getattr(item, "greenloop_failure", None)
        if describe_failure is not None:  # a doctest example knows better than its traceback
            return {
                "type": type(error).__name__,
                "message": _message(error),
                **describe_failure(error, traceback, relative_path, get_frames),
            }
        expected = observed = None
        if compared and isinstance(error, AssertionError):
            observed, expected = compared["left"], compared["right"]
            if _has_expected_on_left(traceback):
                observed, expected = expected, observed
        else:
            sides = _unittest_sides(steps_of(traceback))
            if sides is not None:
                observed, expected = sides
        return {
            "type": type(error).__name__,
            "message": _message(error),
            "frames": get_frames(error, traceback, relative_path),
            "expected": expected,
            "observed": observed,
        }

    return describe


def collect_error_fields(error, relative_path):
    """The fields of a collect_error record that come from its exception."""
    if error is None:
        return {"type": None, "message": "", "name": None, "local": False, "frames": []}
    name = getattr(error, "name", None) if isinstance(error, ImportError) else None
    return {
        "type": type(error).__name__,
        "message": _message(error),
        "name": name if isinstance(name, str) else None,
        "local": isinstance(name, str) and _is_local(name.partition(".")[0], relative_path),
        "frames": _user_frames(error, error.__traceback__, relative_path),
    }


def _is_local(name, relative_path):
    """True if the workspace has a module or package with this name on the import path."""
    for entry in sys.path:
        if os.path.isabs(relative_path(entry)) and relative_path(entry) != relative_path.root:
            continue
        if any(os.path.exists(os.path.join(entry, name + suffix)) for suffix in ("", ".py")):
            return True
    return False


def _message(error):
    if isinstance(error, SyntaxError) and error.msg:
        return truncate(str(error.msg), MESSAGE_LENGTH)
    return long_message(error, MESSAGE_LENGTH) + _suggestion(error)


def long_message(error, length):
    """The text of an exception, at most so long."""
    try:
        return truncate(str(error), length)
    except Exception as problem:  # str() of a candidate's exception class may raise anything
        return "<message raised %s>" % type(problem).__name__


def long_repr(value, length):
    """The value as `pprint` shows it, in the width of a line of code, at most so long."""
    try:
        return truncate(pprint.pformat(value, width=100, compact=True), length)
    except Exception as error:  # repr() of a candidate's class may raise anything
        return "<repr raised %s>" % type(error).__name__


def _suggestion(error):
    """`. Did you mean: 'split'?` where nobody knows a name, as Python prints it; empty where no other is like it."""
    name = getattr(error, "name", None)
    if not isinstance(name, str) or not isinstance(error, (AttributeError, NameError)):
        return ""
    try:
        if owner := _owner_of(name, error):
            return ". Did you mean: '%s.%s'?" % (owner, name)
        known = [each for each in _known_names(error) if isinstance(each, str) and each.isidentifier() and each != name]
    except Exception:  # __dir__ of a candidate's class may raise anything
        return ""
    public = [each for each in known[:MOST_NAMES] if name.startswith("_") or not each.startswith("_")]
    close = [each for each in known if each.strip("_") == name.strip("_")]  # self.items, which is self._items
    close = close or difflib.get_close_matches(name, public, n=1, cutoff=LIKENESS)
    return ". Did you mean: %r?" % close[0] if close else ""


def _owner_of(name, error):
    """`self` or `cls`, if the name is an attribute of it."""
    steps = [] if isinstance(error, (AttributeError, UnboundLocalError)) else traceback_steps(error.__traceback__)
    local = steps[-1][0].f_locals if steps else {}
    return next((each for each in ("self", "cls") if each in local and name in dir(local[each])), None)


def _known_names(error):
    if isinstance(error, AttributeError):
        return [*dir(error.obj), *dir(type(error.obj))]
    steps = traceback_steps(error.__traceback__)
    if isinstance(error, UnboundLocalError) or not steps:
        return ()
    frame = steps[-1][0]
    return [*frame.f_locals, *frame.f_globals, *dir(builtins)]


def traceback_steps(traceback):
    steps = []
    while traceback is not None:
        steps.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return steps


def _user_frames(error, traceback, relative_path):
    """[path, line, function] from the test inwards; frames of the test machinery are left out."""
    frames = []
    for frame, line in traceback_steps(traceback):
        code = frame.f_code
        if is_machinery(code.co_filename):
            continue
        path = relative_path(code.co_filename)
        frames.append([path, line or code.co_firstlineno, getattr(code, "co_qualname", code.co_name)])
    workspace_indexes = [number for number, frame in enumerate(frames) if not os.path.isabs(frame[0])]
    if workspace_indexes:
        del frames[: workspace_indexes[0]]  # plugins between pytest and the test
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        frames.append([relative_path(str(error.filename)), int(error.lineno), ""])
    if len(frames) > MAX_FRAMES:  # endless recursion: its two ends are enough
        frames = frames[: MAX_FRAMES // 2] + frames[-MAX_FRAMES // 2 :]
    return frames


def is_machinery(path):
    if path.startswith("<frozen importlib"):
        return True
    parts = path.replace(os.sep, "/").split("/")
    if "hypothesis" in parts[1:] and parts[parts.index("hypothesis", 1) - 1] in PACKAGE_FOLDERS:
        return True
    return any(name in parts for name in MACHINERY) or "importlib" in parts[-2:] or path.startswith(SANDBOX_FOLDER)


def _has_expected_on_left(traceback):
    """True if the failing assert has its expected value on the left: a literal there and none on the right (Yoda)."""
    steps = [step for step in traceback_steps(traceback) if not is_machinery(step[0].f_code.co_filename)]
    if not steps:
        return False
    frame, line = steps[-1]
    try:
        with open(frame.f_code.co_filename, "rb") as stream:
            tree = ast.parse(stream.read())
    except (OSError, ValueError, SyntaxError):
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or node.lineno):
            test = node.test
            return (
                isinstance(test, ast.Compare)
                and _looks_expected(test.left)
                and not _looks_expected(test.comparators[0])
            )
    return False


def _looks_expected(node):
    if isinstance(node, ast.Name):
        return node.id.startswith(("expect", "want"))
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _unittest_sides(steps):
    """(observed, expected) of a failed `assertEqual(first, second)`, or None."""
    for frame, _line in steps:
        code = frame.f_code
        if code.co_name in (
            "assertEqual",
            "assertIs",
            "assertAlmostEqual",
            "assertListEqual",
            "assertDictEqual",
        ) and code.co_filename.endswith("case.py"):
            names = frame.f_locals
            for first, second in (("first", "second"), ("expr1", "expr2"), ("list1", "list2"), ("d1", "d2")):
                if first in names and second in names:
                    return short_repr(names[first]), short_repr(names[second])
    return None


_repr = reprlib.Repr()
_repr.maxlist = _repr.maxtuple = _repr.maxdict = _repr.maxset = _repr.maxfrozenset = _repr.maxdeque = 40
_repr.maxstring = _repr.maxother = _repr.maxlong = REPR_LENGTH
_repr.maxlevel = 8


def short_repr(value):
    try:
        return truncate(_repr.repr(value), REPR_LENGTH)
    except Exception as error:  # repr() of a candidate's class may raise anything
        return "<repr raised %s>" % type(error).__name__


def truncate(text, length):
    if len(text) <= length:
        return text
    return text[: length // 3] + "\n[...]\n" + text[-(length - length // 3) :]
