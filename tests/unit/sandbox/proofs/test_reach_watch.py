"""What new code reaches for, however the call is hidden."""

from __future__ import annotations

import gc
import inspect
import os
import sys

import pytest

from inside import load

# What asks is compiled as a file of its own: that is how new code is told from the rest.
PATH = "/root/m.py"


def run(text, **names):
    names.update(gc=gc, inspect=inspect, os=os, sys=sys)
    exec(compile(text, PATH, "exec"), names)


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """One hook for all tests, for it cannot be taken away; it looks only while `found` is asked for."""
    root = os.path.realpath(tmp_path_factory.mktemp("root"))
    with open(os.path.join(root, "data.txt"), "w") as stream:
        stream.write("1\n")
    active: list[bool] = []
    own_names: set[str] = set()
    hook, found = load("reach_watch").make(root, lambda code: bool(active) and code.co_filename == PATH, own_names)
    sys.addaudithook(hook)

    def look(text, own=()):
        found.clear()
        own_names.clear()
        own_names.update(own)
        active.append(True)
        try:
            run(text, root=root)
        finally:
            active.clear()
        return list(found)

    return look


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("getattr(sys, '_current' + '_frames')()", "frames"),
        ("try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    error.__traceback__.tb_frame", "frames"),
        ("gc.get_referrers(os)", "all objects"),
        ("exec('1')", "code made of text"),
        ("(lambda: 0).__code__", "the code of functions"),
        ("inspect.getsource(lambda: 0) if False else inspect.getfile(lambda: 0)", "the code of functions"),
        ("__name__ = 'traceback'\n(lambda: 0).__code__", "the code of functions"),
        ("__name__ = 'inspect'\ndef _signature_from_function(): (lambda: 0).__code__\n_signature_from_function()",
         "the code of functions"),
        ("sys.setprofile(sys.getprofile())", "profilers"),
        ("open(root + '/data.txt', 'a').close()", "files of the workspace"),
    ],
)  # fmt: skip
def test_it_is_told(watched, text, said):
    assert [found for found in watched(text) if said in found]


@pytest.mark.parametrize(
    "text",
    [
        "import collections\ncollections.namedtuple('A', 'b')",
        "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.format_exc()",
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n    b: int = 1\nA()",
        "import logging\nlogging.getLogger('a').debug('b')",
        "import functools\n@functools.wraps(len)\ndef f(): pass\ninspect.signature(f)",
        "inspect.signature(lambda a, *b, c=1: a)",
        "inspect.getfullargspec(lambda a, *b, c=1: a)",
        "import re\nre.compile('a+b')",
        "gc.collect()",
        "open(root + '/data.txt').read()",
        "open(root + '/another.txt', 'w').close()",
    ],
)
def test_ordinary_code_reaches_for_nothing(watched, text):
    assert watched(text) == []


def test_what_the_users_own_code_did_is_excused(watched):
    assert watched("sys._current_frames()", own={"_current_frames"}) == []
