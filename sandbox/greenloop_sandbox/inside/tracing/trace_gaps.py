"""Gaps in a trace of functions: other processes, and functions that run once because results are kept.

It also leaves out the rewriting of assertions, because no code of the workspace runs there.
"""

import functools
import gc
import os
import sys

from _pytest.assertion import rewrite

try:
    import _posixsubprocess
except ImportError:  # not a Unix
    _posixsubprocess = None
try:
    import resource
except ImportError:  # not a Unix
    resource = None

# Built-in functions that start processes; what runs there is not traced.
PROCESS_FUNCTIONS = frozenset(
    function
    for module, names in (
        (os, ("fork", "forkpty", "system", "posix_spawn", "posix_spawnp", "execv", "execve")),
        (_posixsubprocess, ("fork_exec",)),
    )
    for function in (getattr(module, name, None) for name in names)
    if function is not None
)
HARMLESS = frozenset(["git", "ldconfig", "uname", "gcc", "cc", "ld", "objdump", "lscpu", "sysctl"])


def runs_no_python(variables):
    """Is it one of the programs that packages ask about the machine or the repository when they are imported?

    `variables` are those of `subprocess.Popen._execute_child`.
    """
    name = variables.get("executable")
    if name is None and isinstance(variables.get("args"), (list, tuple)) and variables["args"]:
        name = variables["args"][0]
    return isinstance(name, str) and os.path.basename(name) in HARMLESS


def children_use():
    """Changes when a child process has ended, however it was started."""
    if resource is None:
        return None
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_minflt, use.ru_majflt


def cached_functions(root):
    """[path, line] of the workspace's functions whose results are kept between calls, and so between cases."""
    prefix, found = root + os.sep, set()
    wrapper, cached_property = type(functools.lru_cache(len)), functools.cached_property
    for each in gc.get_objects():
        kind = type(each)
        function = each.__wrapped__ if kind is wrapper else each.func if kind is cached_property else None
        code = getattr(function, "__code__", None)
        if code is not None and code.co_filename.startswith(prefix):
            found.add((code.co_filename[len(prefix) :].replace(os.sep, "/"), code.co_firstlineno))
    return [list(each) for each in sorted(found)]


def leave_out_rewriting(root, profile, rewriting=rewrite):
    """Pauses this profile function while pytest rewrites the assertions of a file.

    A long file takes a million calls, which would be several times as slow if each of them were traced.
    """
    original = getattr(rewriting, "_rewrite_test", None)
    is_developed = rewriting.__file__.startswith(root + os.sep) and "-packages" not in rewriting.__file__
    if original is None or is_developed:  # pytest itself is the project
        return

    def untraced(*arguments):
        __tracebackhide__ = True  # a file that cannot be parsed is reported as without it
        is_traced = sys.getprofile() is profile
        if is_traced:
            sys.setprofile(None)
        try:
            return original(*arguments)
        finally:
            if is_traced:
                sys.setprofile(profile)

    rewriting._rewrite_test = untraced
