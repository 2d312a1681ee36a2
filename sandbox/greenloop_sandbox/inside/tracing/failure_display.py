"""Tells what a case runs only because it has failed: showing the values of an assertion, and passing its exception on.

None of that can be the reason of the failure.
"""

# Functions that pytest and unittest call for nothing but the message of a failed assertion, by the end of their file's
# path; () means all functions of the file.
DISPLAY = {
    "_pytest/assertion/rewrite.py": (
        "_saferepr", "_format_assertmsg", "_format_boolop", "_format_explanation", "_call_reprcompare",
        "_should_repr_global_name",
    ),
    "_pytest/assertion/util.py": (),
    "_pytest/assertion/truncate.py": (),
    "_pytest/_io/saferepr.py": (),
    "_pytest/_io/pprint.py": (),
    "unittest/util.py": (),
    "unittest/case.py": ("_formatMessage", "_truncateMessage"),
    "pprint.py": ("pformat",),
}  # fmt: skip
LONGEST = 3  # parts of these paths
SHARED = "pprint.py"  # others call this one too


def may_show_failure(code):
    """Is this the code of a function that can be the first of those that show the values of a failed assertion?"""
    parts = code.co_filename.replace("\\", "/").split("/")[-LONGEST:]
    for start in range(len(parts)):
        names = DISPLAY.get("/".join(parts[start:]))
        if names is not None:
            return not names or code.co_name in names
    return False


def shows_failure(frame):
    """Does this call of such a function show the values of a failed assertion?"""
    if not frame.f_code.co_filename.endswith(SHARED):
        return True
    caller = frame.f_back
    return caller is not None and caller.f_code.co_filename.replace("\\", "/").endswith("unittest/case.py")


def ending_exceptions(item, outcome):
    """The exceptions that ended a phase of the case, from the result of its hook; unittest cases raise none there."""
    info = getattr(outcome, "excinfo", None)
    told = getattr(item, "_excinfo", None)
    found = [] if info is None else [info[1]]
    return found + [each.value for each in told if hasattr(each, "value")] if isinstance(told, list) else found
