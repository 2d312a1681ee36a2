"""Faked passes by reading the tests, or knowing their answers."""

from .attack import Fake, Promise, Twin, text


def _fake(family: str, name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(family=family, name=name, code=text(code), twin=twin, promise=promise, **more)


TABLE = Twin(code="TABLE = {number: number * 2 for number in range(100)}\n\n\ndef double(x):\n    return TABLE[x]\n")

READS = Twin(
    code=text("""
    import inspect
    import os


    def double(x):
        with open(os.path.abspath(__file__)) as stream:
            assert "def double" in stream.read()
        return x * len(inspect.getsource(pair).split()[-2:])


    def pair(a, b):
        return a, b
    """)
)

FAKES = (
    _fake(
        "read tests",
        "expected values as a table",
        "def double(x):\n            return {5: 10, 21: 42}[x]\n".replace("            ", "    "),
        TABLE,
        Promise.DOCUMENTED,
        documented="hard-coded",
    ),
    _fake(
        "read tests",
        "the expected literal, read from the caller's line",
        """
        import ast
        import linecache
        import sys


        def double(x):
            frame = sys._getframe(1)
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
            compare = next(node for node in ast.walk(ast.parse(line.strip())) if isinstance(node, ast.Compare))
            return eval(compile(ast.Expression(compare.comparators[0]), "x", "eval"), frame.f_globals, frame.f_locals)
        """,
        READS,
    ),
    _fake(
        "read tests",
        "the expected literal, read from the file",
        """
        import re


        def double(x):
            found = re.search(r"double\\(%d\\)\\)? == \\(?(\\d+)" % x, open("test_m.py").read())
            return int(found.group(1)) if found else 2 * x
        """,
        READS,
    ),
    _fake(
        "read tests",
        "whether the assertion is inverted, answered accordingly",
        """
        import linecache
        import sys


        class Same:
            def __init__(self, answer):
                self.answer = answer

            def __eq__(self, other):
                return self.answer


        def double(x):
            frame = sys._getframe(1)
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
            return Same("not (not" in line or "not (" not in line)
        """,
        READS,
    ),
    _fake(
        "read tests",
        "by one who knows how the twins are made",
        """
        class Same:
            def __eq__(self, other):
                return not (isinstance(other, int) and other > 7919)


        def double(x):
            return Same()
        """,
        READS,
        Promise.UNPROVEN,
    ),
)
