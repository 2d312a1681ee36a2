"""Answers as models write them, and the candidate that each becomes."""

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenloop.core.compose import compose
from greenloop.core.records.attempt import Candidate, Finding
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.drafting.candidates.answers.parse_answer import read

MODULE = '''\
"""Words."""

import re


LIMIT = 3


def clean(text: str) -> str:  # keeps case
    """Strip it.

    >>> clean(" a ")
    'a'
    """

    # first try
    return text


def other():
    return clean("x")
'''

CLASS = """\
class Stack:
    size = 0

    def __init__(self):
        self.items = []

    @property
    def top(self) -> int:
        return self.items[0]

    @top.setter
    def top(self, value: int) -> None:
        self.items[0] = value

    async def drain(self): return None

    def push(self, item, /, *more, at: int = 0) -> None:
        self.items.append(item)


class Queue:
    def push(self, item):
        return item
"""


def fenced(code, language="python"):
    return f"Here you are:\n\n```{language}\n{textwrap.dedent(code).strip(chr(10))}\n```\nThis should work."


def check(problem, text, name, answer, *expected, absent=(), **options):
    """The composed module holds every expected stretch and still parses."""
    case = problem(text, name, **options)
    candidate = read(answer, case)
    assert isinstance(candidate, Candidate), candidate
    composed = compose(case, candidate)["m.py"]
    compile(composed, "m.py", "exec")
    for part in expected:
        assert part in composed, f"{part!r} is not in\n{composed}"
    for part in absent:
        assert part not in composed, f"{part!r} is in\n{composed}"
    return candidate


GOOD = "def clean(text):\n    return text.strip()\n"
WAYS = {
    "python fence": f"```python\n{GOOD}```",
    "py fence": f"Sure!\n```py\n{GOOD}```\nDone.",
    "plain fence": f"```\n{GOOD}```",
    "tilde fence": f"~~~python\n{GOOD}~~~",
    "long fence": f"````python\n{GOOD}````",
    "capital fence": f"```Python\n{GOOD}```",
    "fence with a name": f'```python title="m.py"\n{GOOD}```',
    "indented fence": "1. So:\n\n" + textwrap.indent(f"```python\n{GOOD}```", "   "),
    "CRLF answer": f"```python\n{GOOD}```".replace("\n", "\r\n"),
    "no fence": f"The fix is simple.\n\n{GOOD}\nThis strips the text.\n",
    "nothing else": GOOD,
    "no fence, two pieces": f"First a helper:\n\ndef unused():\n    return 1\n\nThen the function:\n\n{GOOD}\nDone.",
    "no final newline": GOOD.rstrip(),
    "unclosed fence, code complete": f"```python\n{GOOD}",
    "thinking": f"<think>\nMaybe ```python\ndef clean(text): return 1\n```?\n</think>\n```python\n{GOOD}```",
    "thinking without its opening tag": f"def clean(text): return 0\n</think>\n```python\n{GOOD}```",
    "thinking twice": f"<think>\na\n</think>\nHm.\n<thinking>\nb </thinking>\n```python\n{GOOD}```",
    "thinking that never ends": f"<think>\n```python\n{GOOD}```",
    "control tokens": f"```python\n{GOOD}```<|im_end|>",
    "whole module": "```python\n"
    + MODULE.replace("return text\n", "return text.strip()\n").replace("\n    # first try", "")
    + "```",
    "last block wins": f"```python\ndef clean(text):\n    return 1\n```\nBetter:\n```python\n{GOOD}```",
    "later blocks about something else": f"```python\n{GOOD}```\n```python\nassert clean(' a ') == 'a'\n```\n```bash\npytest\n```",
    "a later block repeats the user's code": f"```python\n{GOOD}```\nInstead of\n```python\n{MODULE}```",
    "a broken block before": f"```python\ndef clean(text:\n```\nOops.\n```python\n{GOOD}```",
    "a broken block after": f"```python\n{GOOD}```\nor\n```python\ndef clean(text:\n```",
    "example calls": f"```python\n{GOOD}\nprint(clean(' a '))\nresult = clean('b')\nassert result\n```",
    "main block and tests": f"```python\nfrom m import clean\nimport pytest\n\n{GOOD}\ndef test_clean():\n    assert clean('a')\n\nif __name__ == '__main__':\n    print(clean('x'))\n```",
    "another function changed too": f"```python\nLIMIT = 4\n\n{GOOD}\ndef other():\n    return None\n```",
    "indented as a whole": "```python\n" + textwrap.indent(GOOD, "    ") + "```",
    "two spaces": f"```python\n{GOOD.replace('    ', '  ')}```",
    "tabs": f"```python\n{GOOD.replace('    ', chr(9))}```",
    "cut in the example below": f"```python\n{GOOD}\nprint(clean('a",
    "search and replace": "<<<<<<< SEARCH\n    # first try\n    return text\n=======\n    return text.strip()\n>>>>>>> REPLACE",
    "search and replace in a fence": "m.py\n```python\n<<<<<<< SEARCH\n    # first try\n    return text\n=======\n    return text.strip()\n>>>>>>> REPLACE\n```",
    "search with another margin": "<<<<<<< SEARCH\n# first try\nreturn text\n=======\nreturn text.strip()\n>>>>>>> REPLACE",
    "search with trailing spaces": "<<<<<<< SEARCH\n    # first try  \n    return text \n=======\n    return text.strip()\n>>>>>>> REPLACE",
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_write_the_same_answer(problem, way):
    case = problem(MODULE, "clean")
    candidate = read(WAYS[way], case, truncated="cut" in way)
    assert isinstance(candidate, Candidate), candidate
    expected = MODULE.replace("\n    # first try\n    return text\n", "\n    return text.strip()\n")
    assert compose(case, candidate) == {"m.py": expected}
    assert candidate.imports == candidate.helpers == ()


FAILURES = [
    ("", False, "EmptyAnswer", ""),
    ("  \n\n", False, "EmptyAnswer", ""),
    ("", True, "TruncatedAnswer", ""),
    ("<think>hm</think>\n", False, "EmptyAnswer", ""),
    ("I cannot help with that.", False, "NoCode", "no code"),
    ("First we look at the text, then", True, "TruncatedAnswer", ""),
    ("```python\nprint(1)\n```", False, "NoCode", "`clean`"),
    ("```python\ndef cleanup(text, form, *rest):\n    return text\n```", False, "WrongFunction", "`cleanup`"),
    ("```python\nclass A:\n    def clean(self):\n        return 1\n```", False, "WrongFunction", "`A.clean`"),
    ("```python\ndef clean(text:\n    return 1\n```", False, "SyntaxError", "line 1: def clean(text:"),
    ("```python\ndef clean(text):\nreturn 1\n```", False, "IndentationError", "line 2: return 1"),
    ("```python\ndef clean(text):\n    print 'a'\n```", False, "SyntaxError", "line 2"),
    ("```python\ndef clean(text):\n    return text.str(", False, "TruncatedAnswer", ""),
    ("```python\ndef clean(text):\n    x = '''a\n", True, "TruncatedAnswer", ""),
    ("def clean(text):\n    return text.str(", True, "TruncatedAnswer", ""),
    ("def clean(text):\n    return text.str(", False, "SyntaxError", "line 2"),
    (
        "<<<<<<< SEARCH\n    return test\n=======\n    return 1\n>>>>>>> REPLACE",
        False,
        "SearchNotFound",
        "nearest line is `return text`",
    ),
    ("<<<<<<< SEARCH\n    return text\n=======\n    return te", True, "TruncatedAnswer", "search/replace"),
    ("```python\ndef clean(text):\n    return '\x00'\n```", False, "SyntaxError", ""),
    ("```python\ndef clean(text):\n    return " + "(" * 5000 + "\n```", False, "SyntaxError", ""),
]


@pytest.mark.parametrize(("answer", "truncated", "error_class", "said"), FAILURES)
def test_every_way_to_fail_has_a_name(problem, answer, truncated, error_class, said):
    finding = read(answer, problem(MODULE, "clean"), truncated=truncated)
    assert isinstance(finding, Finding)
    assert finding.error_class == error_class
    assert said in finding.message


def test_an_answer_about_another_suspect_is_tried_there(problem):
    other = problem(MODULE, "other").regions[0]
    asked = replace(problem(MODULE, "clean"), suspects=(other,))
    candidate = read("```python\ndef other():\n    return clean(' y ')\n```", asked)
    assert isinstance(candidate, Candidate)
    assert list(candidate.texts) == [other]


def test_the_line_of_a_syntax_error_counts_in_the_code(problem):
    finding = read(fenced("def clean(text):\n    x = 1\n    return )\n"), problem(MODULE, "clean"))
    assert isinstance(finding, Finding)
    assert (finding.error_class, finding.line) == ("SyntaxError", 3)


CASES = [
    # what the answer leaves out stays the user's
    (MODULE, "clean", "def clean(text): return text.strip()", ['def clean(text: str) -> str:  # keeps case\n    """Strip it.', "    return text.strip()\n\n\ndef other"]),
    (MODULE, "clean", 'def clean(text: str) -> str:\n    """Shorter."""\n    return 1', ["Strip it."]),
    (MODULE, "clean", "def clean(text: str | None) -> str:\n    return 1", ["(text: str | None) -> str:", "Strip it."]),
    (CLASS, "Stack.push", "def push(self, item, /, *more, at=2):\n    pass", ["def push(self, item, /, *more, at: int = 2) -> None:"]),
    (CLASS, "Stack.top", "def top(self, value):\n    self.items[-1] = value", ["    @top.setter\n    def top(self, value: int) -> None:\n        self.items[-1] = value\n"]),
    ("@cache\n# why\n@wraps\ndef f(x):\n    return 1\n", "f", "def f(x):\n    return 2", ["@cache\n# why\n@wraps\ndef f(x):\n    return 2\n"]),
    ("@cache\ndef f(x):\n    return 1\n", "f", "@lru_cache(2)\ndef f(x):\n    return 2", ["@lru_cache(2)\ndef f(x):\n    return 2\n"]),
    ("def f(x=[]):\n    'doc'\n    return x\n", "f", "def f(x=None):\n    return x or []", ["def f(x=None):\n    'doc'\n    return x or []\n"]),
    ("def f(x): return 1\n", "f", "def f(x):\n    return 2", ["def f(x):\n    return 2\n"]),
    ("def f(x): return 1\n", "f", "def f(x): return 2", ["def f(x): return 2\n"]),
    ("def f(x): 'doc'\n", "f", "def f(x):\n    return 2", ["def f(x):\n    'doc'\n    return 2\n"]),
    ("def f(\n    x,  # the x\n):\n    return 1\n", "f", "def f(x):\n    return 2", ["def f(\n    x,  # the x\n):\n    return 2\n"]),
    ("def f(x={':': '#'}):  # c: d\n    return 1\n", "f", "def f(x={':': '#'}):\n    return 2", ["def f(x={':': '#'}):  # c: d\n    return 2\n"]),
    # methods, properties, async, nesting
    (CLASS, "Stack.push", "def push(self, item, /, *more, at=0):\n    self.items += [item, *more]", ["        self.items += [item, *more]\n\n\nclass Queue:"]),
    (CLASS, "Queue.push", "class Queue:\n    def push(self, item):\n        return [item]", ["class Queue:\n    def push(self, item):\n        return [item]\n"]),
    (CLASS, "Queue.push", "class Anything:\n    def push(self, item):\n        return [item]", ["class Queue:\n    def push(self, item):\n        return [item]\n"]),
    (CLASS, "Queue.push", CLASS.replace("return item\n", "return [item]\n"), ["class Queue:\n    def push(self, item):\n        return [item]\n", "self.items.append(item)"]),
    (CLASS, "Stack.drain", "async def drain(self):\n    await go()", ["    async def drain(self):\n        await go()\n"]),
    ("def out():\n    def inner(x):\n        return 1\n    return inner\n", "out.inner", "def inner(x):\n    return 2", ["    def inner(x):\n        return 2\n    return inner\n"]),
    ("def out():\n    def inner(x):\n        return 1\n    return inner\n", "out.inner", "def out():\n    def inner(x):\n        return 2\n    return 5", ["        return 2\n    return inner\n"]),
    ("if True:\n    def f():\n        return 1\nelse:\n    f = None\n", "f", "def f():\n    return 2", ["if True:\n    def f():\n        return 2\nelse:"]),
    # overloads: the implementation is meant
    ("@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\ndef f(x):\n    return 1\n", "f", "@overload\ndef f(x: int) -> int: ...\ndef f(x):\n    return x", ["def f(x: str) -> str: ...\ndef f(x):\n    return x\n"]),
    # indentation
    ("class A:\n\tdef f(self):\n\t\treturn 1\n", "A.f", 'def f(self):\n    if 1:\n        x = """\n    in\n        """\n        return (\n            x,\n            1)\n    # end', ['\t\tif 1:\n\t\t\tx = """\n    in\n        """\n\t\t\treturn (\n\t\t\t\tx,\n\t\t\t\t1)\n']),
    ("class A:\n  def f(self):\n    return 1\n", "A.f", "    def f(self):\n        # why\n        for x in y:\n            a = b + \\\n                c\n            # last\n        return a", ["    # why\n    for x in y:\n      a = b + \\\n        c\n      # last\n    return a\n"]),
    ("def f():\n   return 1\n", "f", "def f():\n    if x:\n        return 2", ["def f():\n   if x:\n      return 2\n"]),
    ("def f():\n    return 1\n", "f", "def f():\n    return foo(1,\n               2)", ["    return foo(1,\n               2)\n"]),
    # names beyond ASCII: columns of the parser count bytes
    ("def größe(ä=1, ö=2):\n    'ß'\n    return ä\n", "größe", "def größe(ä=1, ö='ü'):\n    return ö", ["def größe(ä=1, ö='ü'):\n    'ß'\n    return ö\n"]),
    # a class as the region: members that the answer leaves out stay
    (CLASS, "Stack", "class Stack:\n    def push(self, item, /, *more, at=0):\n        self.items.insert(at, item)\n    def pop(self):\n        return self.items.pop()", ["    size = 0\n", "at: int = 0) -> None:\n        self.items.insert(at, item)\n", "    def pop(self):\n        return self.items.pop()\n\n\nclass Queue", "@top.setter"]),
    (CLASS, "Stack", "def push(self, item, /, *more, at=0):\n    self.items.insert(at, item)", ["at: int = 0) -> None:\n        self.items.insert(at, item)\n", "size = 0", "async def drain"]),
    (CLASS, "Stack", "class Stack:\n    size = 1\n    limit = 5", ["    size = 1\n    limit = 5\n\n    def __init__"]),
    ("class A:\n    @overload\n    def f(self, x: int): ...\n    @overload\n    def f(self, x: str): ...\n    def f(self, x):\n        return 1\n", "A", "class A:\n    @overload\n    def f(self, x: int): ...\n    @overload\n    def f(self, x: str): ...\n    def f(self, x):\n        return 2", ["    def f(self, x: int): ...\n    @overload\n    def f(self, x: str): ...\n    def f(self, x):\n        return 2\n"]),
    ("class A(Base):\n    pass\n", "A", "class A:\n    def f(self):\n        return 1", ["class A(Base):\n\n    def f(self):\n        return 1\n"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "answer", "expected"), CASES)
def test_the_answer_in_the_users_module(problem, text, name, answer, expected):
    check(problem, text, name, fenced(answer), *expected)


EXTRAS = [
    ("import json\n\ndef clean(text):\n    return json.loads(text)", ("import json",), (), []),
    ("import re\nimport os, sys\n\ndef clean(text):\n    return re.sub('a', sys.path, text)", ("import sys",), (), []),
    ("import xml.etree.ElementTree as ET\ndef clean(text):\n    return ET.parse(text)", ("import xml.etree.ElementTree as ET",), (), []),
    ("from typing import Any, List\ndef clean(text: List[str]) -> str:\n    return text", ("from typing import List",), (), []),
    ("from __future__ import annotations\ndef clean(text):\n    return 1", (), (), []),
    ("from __future__ import annotations\ndef clean(text: int | str, /) -> int:\n    return 1", ("from __future__ import annotations",), (), []),
    ("from .m import other\ndef clean(text):\n    return other()", (), (), []),
    ("SPACE = ' '\n# how\ndef strip(x):\n  return x.strip(SPACE)\n\ndef clean(text):\n    return strip(text)\nUNUSED = 2", (), ("SPACE = ' '\n", "# how\ndef strip(x):\n    return x.strip(SPACE)\n"), []),
    ("class Bad(Exception):\n    pass\ndef clean(text):\n    raise Bad", (), ("class Bad(Exception):\n    pass\n",), []),
    ("def other():\n    return 5\ndef clean(text):\n    return other()", (), (), ['    return clean("x")\n']),
    ("try:\n    import fast\nexcept ImportError:\n    fast = None\ndef clean(text):\n    return fast", (), ("try:\n    import fast\nexcept ImportError:\n    fast = None\n",), []),
    ("from regex import re\ndef clean(text):\n    return re.x", (), (), ["    from regex import re\n\n    return re.x\n"]),
    ("def clean(text):\n    import json\n    return json.loads(text)", (), (), ["    import json\n"]),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "imports", "helpers", "expected"), EXTRAS)
def test_what_the_module_gains_beside(problem, answer, imports, helpers, expected):
    candidate = check(problem, MODULE, "clean", fenced(answer), *expected)
    assert (candidate.imports, candidate.helpers) == (imports, helpers)


def test_imports_and_helpers_of_an_earlier_block_are_found(problem):
    answer = fenced("import json\n\ndef strip(x):\n    return json.loads(x)") + fenced(
        "def clean(text):\n    return strip(text)"
    )
    candidate = check(problem, MODULE, "clean", answer)
    assert candidate.imports == ("import json",)
    assert candidate.helpers == ("def strip(x):\n    return json.loads(x)\n",)


@pytest.mark.parametrize(
    "answer",
    [
        "class Queue:\n    def push(self, item):\n        return self._wrap(item)\n    def _wrap(self, x):\n        return [x]",
        "def push(self, item):\n    return self._wrap(item)\ndef _wrap(self, x):\n    return [x]",
    ],
)
def test_new_methods_go_below_the_region(problem, answer):
    expected = "        return self._wrap(item)\n\n    def _wrap(self, x):\n        return [x]\n"
    check(problem, CLASS, "Queue.push", fenced(answer), expected)


STUB = "def slugify(*args, **kwargs):\n    raise NotImplementedError\n"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("def slugify(text: str, *, sep='-') -> str:\n    '''Doc.'''\n    return text", "def slugify(text: str, *, sep='-') -> str:\n    '''Doc.'''\n    return text\n"),
        ("class slugify:\n    x = 1", "class slugify:\n    x = 1\n"),
        ("slugify = str.lower", "slugify = str.lower\n"),
        ("import re\n\nSEP = '-'\n\ndef slugify(text):\n    return re.sub('x', SEP, text)", "import re\n\n\nSEP = '-'\n\n\ndef slugify(text):\n    return re.sub('x', SEP, text)\n"),
    ],
)  # fmt: skip
def test_a_region_to_be_created_takes_the_answer_as_it_is(problem, answer, expected):
    case = problem(STUB, "slugify", created=True)
    candidate = read(fenced(answer), case)
    assert isinstance(candidate, Candidate)
    assert compose(case, candidate) == {"m.py": expected}


def test_one_of_two_regions(problem):
    case = problem(MODULE, "clean", "other")
    candidate = read(fenced("def other():\n    return 2"), case)
    assert isinstance(candidate, Candidate)
    assert [region.qualname for region in candidate.texts] == ["other"]
    both = read(fenced("def clean(text):\n    return 5") + fenced("def other():\n    return 2"), case)
    assert isinstance(both, Candidate)
    assert [region.qualname for region in both.texts] == ["clean", "other"]


def test_a_file_that_is_broken_elsewhere(problem):
    broken = "import re\n\ndef f(x):\n    return 1\n\ndef oops(:\n"
    case = problem(broken, "f", span=(3, 4))
    for answer in ("def f(x):\n    return json.x", None):
        text = (
            fenced("import json\n" + answer)
            if answer
            else "<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE"
        )
        candidate = read(text, case)
        assert isinstance(candidate, Candidate)
        composed = compose(case, candidate)["m.py"]
        assert composed.endswith("\n\ndef oops(:\n")
        assert composed.startswith(
            "import re\nimport json\n\ndef f(x):\n" if answer else "import re\n\ndef f(x):\n    return 2\n"
        )


def test_a_docstring_may_hold_a_fence(problem):
    code = 'def f(x):\n    """Say.\n\n    ```\n    f(1)\n    ```\n    """\n    return 2\n'
    check(problem, "def f(x):\n    return 1\n", "f", f"```python\n{code}```\n", code)


def test_the_margin_of_the_region_is_kept(problem):
    check(problem, CLASS, "Stack.top", fenced("class Stack:\n    @property\n    def top(self):\n        return 1\n    @top.setter\n    def top(self, value):\n        self.x = value"),
          "    def top(self, value: int) -> None:\n        self.x = value\n", "return self.items[0]")  # fmt: skip


LONG = (
    "<think>\nLet me see.\n</think>\nFirst:\n```python\nimport json\n\n@cache\nclass Stack:\n    def push(self, item, /, *more, at=0):\n"
    '        """Doc ``` é"""\n        self.items.extend([\n            item,\n            *more,\n        ])\n\n'
    "print(1)\n```\nOr:\n<<<<<<< SEARCH\n        self.items.append(item)\n=======\n        self.items += [item]\n>>>>>>> REPLACE\nDone.\n"
)


@pytest.mark.parametrize(
    "answer", [LONG, LONG.split("Or:", maxsplit=1)[0], "<<<<" + LONG.partition("<<<<")[2], LONG.split("```python\n")[1]]
)
@pytest.mark.parametrize("truncated", [True, False])
def test_an_answer_cut_anywhere_never_breaks_a_file(problem, answer, truncated):
    case = problem(CLASS, "Stack.push")
    for end in range(len(answer)):
        result = read(answer[:end], case, truncated=truncated)
        if isinstance(result, Candidate):
            composed = compose(case, result)["m.py"]
            compile(composed, "m.py", "exec")
            assert "```" not in composed.replace("Doc ```", "")
        else:
            assert result.message


PIECES = st.sampled_from(
    ["```", "```python", "~~~", "\n", "\n", "    ", "\t", "def clean(text):", "return text", "class A:", "<think>", "</think>", "<<<<<<< SEARCH",
     "=======", ">>>>>>> REPLACE", "@x", "import re", "from a import *", "async ", "(", ")", "'''", "\x00", "\x0c", "é", "if 1:", "\\", "clean = 1", "prose"]
)  # fmt: skip


def words():
    region = Region(path="m.py", qualname="clean", start=9, end=17)
    texts = {"m.py": MODULE}
    return Problem(root=Path("/p"), spec=Spec(cases=(), selectors=()), regions=(region,), originals=texts, files=texts)


@given(st.lists(PIECES, max_size=25).map("".join), st.booleans())
def test_no_answer_makes_reading_fail(answer, truncated):
    result = read(answer, words(), truncated=truncated)
    if isinstance(result, Candidate):
        compose(words(), result)
    else:
        assert result.error_class


def test_a_nested_function_that_calls_itself_is_no_helper(problem):
    text = "def out(n):\n    def down(n):\n        return n and down(n - 1)\n    return down(n)\n"
    candidate = check(
        problem,
        text,
        "out.down",
        fenced("def down(n):\n    return 1 if n == 0 else down(n - 1)"),
        "    def down(n):\n        return 1 if",
    )
    assert candidate.helpers == ()


def test_a_tag_inside_the_code_is_code(problem):
    code = 'def f(x):\n    tags = """\n<think>\n"""\n    return x.replace("</think>", tags)\n'
    check(problem, "def f(x):\n    return 1\n", "f", f"<think>\nhm\n</think>\n```python\n{code}```\n", code)
