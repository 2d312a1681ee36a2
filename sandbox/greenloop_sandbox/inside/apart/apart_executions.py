"""Notices where a test runs what the code hands over: source, pickles, modules, programs. Then nothing is proven.

In the judge such a text could replace anything. It must not know how values cross.
"""

import ast
import importlib.machinery
import os
import runpy
import sys

from apart_rules import CannotCross

MOST_TEXTS = 100_000  # parts of messages that are searched
LEAST = 12  # characters of a text that is found within another
OF_PICKLES = frozenset((("_codecs", "encode"), ("copyreg", "_reconstructor"), ("copyreg", "__newobj__")))
READ_CODE = frozenset((importlib.machinery.SourceFileLoader.get_data.__code__.co_filename, runpy.__file__))
_PLAIN = (ast.Expression, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp, ast.unaryop, ast.Call)
_PLAIN += (ast.keyword, ast.Name, ast.Load)


class Executions:
    """Audits the judge's process. `find_peer` gives the current conversation, or None while there is none."""

    def __init__(self, find_peer):
        self._find_peer, self._is_busy = find_peer, False
        sys.addaudithook(self._audit)

    def _audit(self, event, args):
        check = _CHECKS.get(event)
        peer = self._find_peer() if check and not self._is_busy else None
        if peer is None or not peer.said:
            return
        caller = sys._getframe(1).f_code
        if caller is ast.parse.__code__ or (event == "open" and caller.co_filename not in READ_CODE):
            return
        self._is_busy = True
        try:
            if reason := check(peer, *args):
                peer.doubt(reason)
        finally:
            self._is_busy = False


def _compiled(peer, source, filename):
    filename = os.fsdecode(filename) if isinstance(filename, (str, bytes)) else ""
    if filename.startswith("<doctest") or os.path.exists(filename):
        return ""  # of a file that the code has written `_opened` tells
    texts = map(str.strip, (*_texts(peer.said), *_contents(peer.written)))
    if isinstance(source, ast.AST):
        made = any(_tree_of(text) == ast.dump(source) for text in texts)
    else:
        source = bytes(source).decode("utf-8", "replace") if isinstance(source, (bytes, bytearray)) else str(source)
        made = any(_is_part(each, source.strip()) for each in texts) and not _only_makes_values(peer, source)
    return "the test runs a text that the code makes" if made else ""


def _tree_of(text):
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""


def _is_part(text, source):
    """Has the test taken, extended, or taken apart this text of the code?"""
    shorter, longer = sorted((text, source), key=len)
    return bool(text) and (text == source or (len(shorter) >= LEAST and shorter in longer))


def _only_makes_values(peer, source):
    """Is it an expression of constants and constructors, such as an object shows of itself?"""
    try:
        nodes = list(ast.walk(ast.parse(source.strip(), mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return all(isinstance(node, _PLAIN) for node in nodes) and all(_is_class(peer, name) for name in names)


def _is_class(peer, name):
    """Is every class of this name, among those that are loaded, one that may cross?"""
    found = [vars(module).get(name) for module in list(sys.modules.values()) if name in getattr(module, "__dict__", ())]
    found = [each for each in found if each is not None]
    return bool(found) and all(isinstance(each, type) and peer.rules.allows_class(each) for each in found)


def _opened(peer, path, *_):
    is_written = isinstance(path, str) and os.path.realpath(path) in peer.written
    return "the test runs a file that the code has written" if is_written else ""


def _found_by_pickle(peer, module, name):
    if (module, name) in OF_PICKLES or peer.rules.is_test_module(module):
        return ""
    try:
        found = peer.rules.resolve(module, name)
    except CannotCross:
        found = type
    return "the test unpickles %s.%s, which the code names" % (module, name) if found is type else ""


def started(peer, executable, args, *_):
    """Says why a program proves nothing; "" where nothing of the code is in its command."""
    words = [args] if isinstance(args, (str, bytes)) else [executable, *(args or ())]
    words = {os.fsdecode(word) for word in words if isinstance(word, (str, bytes, os.PathLike)) and word}
    is_made = not words.isdisjoint((*_texts(peer.said), *peer.written))
    return "the test starts a program with what the code hands over" if is_made else ""


_CHECKS = {
    "compile": _compiled,
    "open": _opened,
    "pickle.find_class": _found_by_pickle,
    "subprocess.Popen": started,
    "os.posix_spawn": started,
    "os.exec": started,
    "os.system": lambda peer, command: started(peer, command, command),
}


def _texts(messages):
    """The texts in what the code has said."""
    todo, count = list(messages), 0
    while todo and count < MOST_TEXTS:
        value, count = todo.pop(), count + 1
        if type(value) is str:
            yield value
        elif type(value) in (list, tuple):
            todo += value
        elif type(value) is dict:
            todo += value.values()


def _contents(paths):
    for path in sorted(paths):
        try:
            with open(path, encoding="utf-8", errors="replace") as stream:
                yield stream.read(MOST_TEXTS)
        except OSError:
            pass  # it is gone
