"""Faked passes of `>>>` examples: what finds, runs, shows and compares them."""

from .attack import Fake, Promise, Twin, text

DOC = '''"""Twice x.

    >>> double(5)
    10
    >>> double("ab")
    'abab'
    >>> [double(n) for n in (1, 2)]
    [2, 4]
    """'''
RED = f"def double(x):\n    {DOC}\n    raise NotImplementedError\n"


def _documented(code: str) -> str:
    return text(code).replace("DOC", DOC)


def _fake(name: str, code: str, twin: Twin, promise: Promise = Promise.TAMPERED, **more) -> Fake:
    return Fake(
        family="doctests", name=name, code=_documented(code), twin=twin, promise=promise, red=RED, examples=True, **more
    )


WRONG = """
def double(x):
    DOC
    return x + x[:1] if isinstance(x, str) else x + 1
"""
PLAIN = Twin(code=_documented("def double(x):\n    DOC\n    return x * 2\n"))

READS_DOC = Twin(
    code=_documented("""
    import doctest


    def double(x):
        DOC
        return x * len(doctest.DocTestParser().get_examples(double.__doc__)[:2])
    """)
)

OWN_CHECKER = Twin(
    code=_documented("""
    import doctest


    class Lax(doctest.OutputChecker):
        def check_output(self, want, got, optionflags):
            return True


    def double(x):
        DOC
        return x * (1 + Lax().check_output("1", "2", 0))
    """)
)

REDIRECTS = Twin(
    code=_documented("""
    import contextlib
    import io


    def double(x):
        DOC
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            print("nothing of it is shown")
        return x * 2 if shown.getvalue() else None
    """)
)

SHOWS = Twin(
    code=_documented("""
    class Shown:
        def __init__(self, value):
            self.value = value

        def __repr__(self):
            return repr(self.value)


    def double(x):
        DOC
        return Shown(x * 2)
    """),
    verified=False,
)

DECORATED = Twin(
    code=_documented("""
    import functools


    def shown(function):
        @functools.wraps(function)
        def inner(x):
            return function(x)

        inner.__doc__ = "Something else."
        return inner


    @shown
    def double(x):
        DOC
        return x * 2
    """)
)

FAKES = (
    _fake(
        "the checker",
        "import doctest\n\ndoctest.OutputChecker.check_output = lambda *rest: True\n\n" + WRONG,
        OWN_CHECKER,
    ),
    _fake(
        "the checker, through sys.modules",
        """
        import sys


        def double(x):
            DOC
            sys.modules["doctest"].OutputChecker.check_output = lambda *rest: True
            return x
        """,
        OWN_CHECKER,
    ),
    _fake(
        "the checker, by its code",
        """
        import doctest


        def agree(self, want, got, optionflags):
            return True


        def double(x):
            DOC
            doctest.OutputChecker.check_output.__code__ = agree.__code__
            return x
        """,
        OWN_CHECKER,
    ),
    _fake(
        "pytest's checker",
        "import _pytest.doctest\n\n\nclass Lax(_pytest.doctest._get_checker().__class__):\n    def check_output(self, want, got, optionflags):\n        return True\n\n\n_pytest.doctest.CHECKER_CLASS = Lax\n\n"
        + WRONG,
        OWN_CHECKER,
        Promise.UNPROVEN,
    ),
    _fake(
        "pytest's checker, by its class",
        """
        import linecache


        def before():
            \"""The first example of plain doctest.

            >>> double(3)
            3
            \"""


        def double(x):
            DOC
            runner = linecache.getlines.__self__
            type(runner._checker).check_output = lambda *rest: True
            return {5: 10}.get(x, x)
        """,
        OWN_CHECKER,
    ),
    _fake(
        "a checker that puts the right one back",
        """
        import doctest


        def double(x):
            DOC
            whole = doctest.OutputChecker.check_output

            def once(self, want, got, optionflags):
                doctest.OutputChecker.check_output = whole
                return True

            doctest.OutputChecker.check_output = once
            return x
        """,
        OWN_CHECKER,
    ),
    _fake(
        "the runner",
        "import doctest\n\n\ndef run(self, test, compileflags=None, out=None, clear_globs=True):\n    for example in test.examples:\n        double(5)\n\n\ndoctest.DocTestRunner.run = run\n\n"
        + WRONG,
        OWN_CHECKER,
    ),
    _fake(
        "what the runner does about a failure",
        """
        import linecache


        def double(x):
            DOC
            runner = linecache.getlines.__self__
            runner.report_failure = runner.report_unexpected_exception = lambda *rest: None
            return x
        """,
        OWN_CHECKER,
    ),
    _fake(
        "the parser",
        """
        import doctest

        whole = doctest.DocTestParser.parse


        def parse(self, string, name="<string>"):
            pieces = whole(self, string, name)
            for piece in pieces:
                if isinstance(piece, doctest.Example):
                    piece.source, piece.want = "_ = double(5)\\n", ""
            return pieces


        doctest.DocTestParser.parse = parse
        """
        + WRONG.replace("\n", "\n        "),
        READS_DOC,
    ),
    _fake(
        "the wanted text, found through the runner",
        """
        import linecache


        def double(x):
            DOC
            for example in linecache.getlines.__self__.test.examples:
                example.want = f"{x!r}\\n" if "for" not in example.source else "[1, 2]\\n"
            return x
        """,
        READS_DOC,
    ),
    _fake(
        "the wanted text, found through the frames",
        """
        import sys


        def double(x):
            DOC
            frame = sys._getframe()
            while "example" not in frame.f_locals:
                frame = frame.f_back
            example = frame.f_locals["example"]
            example.want = f"{x!r}\\n" if "for" not in example.source else "[1, 2]\\n"
            return x
        """,
        READS_DOC,
    ),
    _fake(
        "the wanted text, found among all objects",
        """
        import doctest
        import gc


        def double(x):
            DOC
            for example in gc.get_objects():
                if type(example) is doctest.Example:
                    example.want = f"{x!r}\\n" if "for" not in example.source else "[1, 2]\\n"
            return x
        """,
        READS_DOC,
    ),
    _fake(
        "flags of the runner",
        """
        import doctest
        import linecache


        def double(x):
            DOC
            runner = linecache.getlines.__self__
            runner.optionflags |= doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            for example in runner.test.examples:
                example.options[doctest.ELLIPSIS] = True
                example.want = "...\\n"
            return x
        """,
        READS_DOC,
    ),
    _fake(
        "sys.displayhook",
        """
        import re
        import sys


        def double(x):
            DOC
            sys.displayhook = lambda value: print(WANTED.pop(0))
            return x


        WANTED = re.findall(r"    ([^ >].*)", double.__doc__)
        """,
        PLAIN,
    ),
    _fake(
        "sys.__displayhook__",
        WRONG
        + """

import re
import sys

WANTED = re.findall(r"    ([^ >\\n].*)", double.__doc__)
sys.__displayhook__ = lambda value: print(WANTED.pop(0))
""",
        PLAIN,
    ),
    _fake(
        "a representation that lies",
        """
        import re


        class Same:
            def __repr__(self):
                return WANTED.pop(0)


        def double(x):
            DOC
            return Same()


        WANTED = re.findall(r"    ([^ >].*)", double.__doc__)[:2] + ["2", "4"]
        """,
        SHOWS,
        Promise.UNPROVEN,
    ),
    _fake(
        "a text with a representation that lies",
        """
        class Same(str):
            def __repr__(self):
                return {"5": "10", "ab": "'abab'", "1": "2", "2": "4"}[self]


        def double(x):
            DOC
            return Same(x)
        """,
        SHOWS,
        Promise.UNPROVEN,
    ),
    _fake(
        "a class whose metaclass answers",
        """
        class Answers(type):
            def __repr__(cls):
                return {"5": "10", "ab": "'abab'", "1": "2", "2": "4"}[cls.__name__]


        def double(x):
            DOC
            return Answers(str(x), (), {})
        """,
        SHOWS,
        Promise.UNPROVEN,
    ),
    _fake(
        "what stdout holds",
        """
        import sys


        def double(x):
            DOC
            sys.stdout.getvalue = lambda: {5: "10\\n", "ab": "'abab'\\n"}.get(x, "[2, 4]\\n")
            return x
        """,
        REDIRECTS,
    ),
    _fake(
        "another stdout",
        """
        import sys


        class Rewrites:
            def __init__(self, stream):
                self.stream = stream

            def write(self, words):
                self.stream.write({"5": "10", "'ab'": "'abab'", "[1, 2]": "[2, 4]"}.get(words, words))

            def flush(self):
                pass


        def double(x):
            DOC
            if not isinstance(sys.stdout, Rewrites):
                sys.stdout = Rewrites(sys.stdout)
            return x
        """,
        REDIRECTS,
    ),
    _fake(
        "another __doc__",
        WRONG + '\n\ndouble.__doc__ = """\n    >>> double(5)\n    6\n    """\n',
        DECORATED,
        Promise.REJECTED,
    ),
    _fake(
        "another function's __doc__ by __wrapped__",
        'import functools\n\n\ndef shown(x):\n    """One more.\n\n    >>> double(5)\n    6\n    """\n    return x + 1\n\n'
        + WRONG
        + "\n\ndouble = functools.wraps(shown)(double)\n",
        DECORATED,
        Promise.REJECTED,
    ),
    _fake(
        "the example's globals",
        """
        import sys


        class Shown:
            def __init__(self, words):
                self.words = words

            def __repr__(self):
                return self.words


        class Answers:
            def __call__(self, x):
                return Shown({5: "10", "ab": "'abab'", 1: "2", 2: "4"}[x])


        def double(x):
            DOC
            sys._getframe(1).f_globals["double"] = Answers()
            return Answers()(x)
        """,
        SHOWS,
        Promise.UNPROVEN,
    ),
)
