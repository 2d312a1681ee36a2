"""Notices where a test runs what the code hands over: source, pickles, modules, programs. Then nothing is proven.

In the judge such a text could replace anything. It must not know how values cross.
"""

import ast
import importlib.machinery
import os
import runpy
import sys

from apart_rules import MOST_TEXTS, CannotCross, texts_in
from apart_sources import parse

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
        check = CHECKS.get(event)
        peer = self._find_peer() if check and not self._is_busy else None
        if peer is not None and event.startswith(("subprocess.", "os.")):
            peer.starts_program = True
        if peer is None or not peer.said:
            return
        caller = sys._getframe(1).f_code
        if caller is ast.parse.__code__ or (event == "open" and caller.co_filename not in READ_CODE):
            return
        self._is_busy = True
        try:
            if check(peer, *args):
                peer.doubt("the test runs what the code hands over (%s)" % event)
        finally:
            self._is_busy = False


def _compiles(peer, source, filename):
    filename = os.fsdecode(filename) if isinstance(filename, (str, bytes)) else ""
    if filename.startswith("<doctest") or os.path.exists(filename):
        return False  # a file that the code has written is opened first
    texts = set(map(str.strip, (*texts_in([*peer.said]), *_contents(peer.written))))
    if isinstance(source, ast.AST):
        return any(_is_tree(text, source) for text in texts) and not _only_makes_values(peer, ast.unparse(source))
    source = bytes(source).decode("utf-8", "replace") if isinstance(source, (bytes, bytearray)) else str(source)
    return any(_is_part(text, source.strip()) for text in texts) and not _only_makes_values(peer, source.strip())


def _is_tree(text, tree):
    parsed = parse(text, {ast.Expression: "eval", ast.Interactive: "single"}.get(type(tree), "exec")) or ast.Module()
    # Their parts are counted first: a plugin of pytest that is imported meanwhile has large modules.
    is_as_long = len([*ast.iter_child_nodes(parsed)]) == len([*ast.iter_child_nodes(tree)])
    return is_as_long and ast.dump(parsed) == ast.dump(tree)


def _is_part(text, source):
    """Has the test taken, extended, or taken apart this text of the code?"""
    shorter, longer = sorted((text, source), key=len)
    return bool(text) and (text == source or (len(shorter) >= LEAST and shorter in longer))


def _only_makes_values(peer, source):
    """Is it an expression of constants and of constructors that may cross, such as an object shows of itself?"""
    nodes = list(ast.walk(parse(source, "eval") or ast.Module()))
    names, modules = {node.id for node in nodes if isinstance(node, ast.Name)}, [*sys.modules.values()]
    named = [(name, vars(each)[name]) for each in modules for name in names & {*getattr(each, "__dict__", ())}]
    are_classes = all(isinstance(each, type) and peer.rules.allows_class(each) for _, each in named)
    return are_classes and names == {name for name, _ in named} and all(isinstance(node, _PLAIN) for node in nodes)


def _finds(peer, module, name):
    if (module, name) in OF_PICKLES or peer.rules.is_test_module(module):
        return False
    try:
        return peer.rules.resolve(module, name) is type
    except CannotCross:
        return True


def _starts(peer, executable, args, *_):
    words = [args] if isinstance(args, (str, bytes)) else [executable, *(args or ())]
    words = {os.fsdecode(word) for word in words if isinstance(word, (str, bytes, os.PathLike)) and word}
    return not words.isdisjoint((*texts_in([*peer.said]), *peer.written))


CHECKS = {
    "compile": _compiles, "pickle.find_class": _finds, "subprocess.Popen": _starts, "os.posix_spawn": _starts,
    "os.exec": _starts, "os.system": lambda peer, command: _starts(peer, command, command),
    "open": lambda peer, path, *_: isinstance(path, str) and os.path.realpath(path) in peer.written,
}  # fmt: skip


def _contents(paths):
    for path in filter(os.path.isfile, paths):
        with open(path, encoding="utf-8", errors="replace") as stream:
            yield stream.read(MOST_TEXTS)
