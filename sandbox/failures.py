"""Why something failed, as the records tell it: frames, message, and the two sides of a comparison."""

import ast
import os
import reprlib
import sys

TEXT = 6000  # characters kept of a rendered failure
MESSAGE = 2000
REPR = 1000
FRAMES = 40
INTERNAL = ("_pytest", "pluggy")
LENT = ("site-packages", "dist-packages", "guests.zip")  # Hypothesis is machinery where it is installed or lent
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def describer(place):
    """`describe(error, traceback, compared, item)`: message, frames, expected and observed of a failed call."""
    walk, frames_of = _walk, _frames

    def describe(error, traceback, compared, item):
        told = getattr(item, "greenloop_failure", None)
        if told is not None:  # a doctest example knows better than its traceback
            return {
                "type": type(error).__name__,
                "message": _message(error),
                **told(error, traceback, place, frames_of),
            }
        expected = observed = None
        if compared and isinstance(error, AssertionError):
            observed, expected = compared["left"], compared["right"]
            if _yoda(traceback):
                observed, expected = expected, observed
        else:
            found = _unittest_sides(walk(traceback))
            if found is not None:
                observed, expected = found
        return {
            "type": type(error).__name__,
            "message": _message(error),
            "frames": frames_of(error, traceback, place),
            "expected": expected,
            "observed": observed,
        }

    return describe


def fields(error, place):
    """The parts of a collect_error that come from its exception."""
    if error is None:
        return {"type": None, "message": "", "name": None, "local": False, "frames": []}
    name = getattr(error, "name", None) if isinstance(error, ImportError) else None
    return {
        "type": type(error).__name__,
        "message": _message(error),
        "name": name if isinstance(name, str) else None,
        "local": isinstance(name, str) and _local(name.partition(".")[0], place),
        "frames": _frames(error, error.__traceback__, place),
    }


def _local(name, place):
    """Whether the workspace has a module or package of that name on the import path."""
    for entry in sys.path:
        if os.path.isabs(place(entry)) and place(entry) != place.root:
            continue
        if any(os.path.exists(os.path.join(entry, name + end)) for end in ("", ".py")):
            return True
    return False


def _message(error):
    if isinstance(error, SyntaxError) and error.msg:
        return cut(str(error.msg), MESSAGE)
    try:
        return cut(str(error), MESSAGE)
    except Exception as problem:  # str() of a candidate's exception class may raise anything
        return "<message raised %s>" % type(problem).__name__


def _walk(traceback):
    steps = []
    while traceback is not None:
        steps.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return steps


def _frames(error, traceback, place):
    """[path, line, function] from the test inwards; the machinery's own frames are left out."""
    frames = []
    for frame, line in _walk(traceback):
        code = frame.f_code
        if _internal(code.co_filename):
            continue
        path = place(code.co_filename)
        frames.append([path, line or code.co_firstlineno, getattr(code, "co_qualname", code.co_name)])
    inside = [number for number, frame in enumerate(frames) if not os.path.isabs(frame[0])]
    if inside:
        del frames[: inside[0]]  # plugins that stand between pytest and the test
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        frames.append([place(str(error.filename)), int(error.lineno), ""])
    if len(frames) > FRAMES:  # endless recursion: its ends say it all
        frames = frames[: FRAMES // 2] + frames[-FRAMES // 2 :]
    return frames


def _internal(path):
    if path.startswith("<frozen importlib"):
        return True
    parts = path.replace(os.sep, "/").split("/")
    if "hypothesis" in parts[1:] and parts[parts.index("hypothesis", 1) - 1] in LENT:
        return True
    return any(name in parts for name in INTERNAL) or "importlib" in parts[-2:] or path.startswith(HERE)


def _yoda(traceback):
    """Whether the failing assert has its expected value on the left: a literal there and none on the right."""
    steps = [step for step in _walk(traceback) if not _internal(step[0].f_code.co_filename)]
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
            return isinstance(test, ast.Compare) and _expectation(test.left) and not _expectation(test.comparators[0])
    return False


def _expectation(node):
    if isinstance(node, ast.Name):
        return node.id.startswith(("expect", "want"))
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _unittest_sides(steps):
    """(observed, expected) of a failed `assertEqual(first, second)`."""
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
                    return short(names[first]), short(names[second])
    return None


_short = reprlib.Repr()
_short.maxlist = _short.maxtuple = _short.maxdict = _short.maxset = _short.maxfrozenset = _short.maxdeque = 40
_short.maxstring = _short.maxother = _short.maxlong = REPR
_short.maxlevel = 8


def short(value):
    try:
        return cut(_short.repr(value), REPR)
    except Exception as error:  # repr() of a candidate's class may raise anything
        return "<repr raised %s>" % type(error).__name__


def cut(text, most):
    if len(text) <= most:
        return text
    return text[: most // 3] + "\n[...]\n" + text[-(most - most // 3) :]
