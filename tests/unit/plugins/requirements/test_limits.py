"""Limits on a candidate's text: each is broken by its own words, and what the user wrote is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from greenloop.core.compose import compose
from greenloop.core.errors import SettingsError
from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.plugins.requirements import limits
from greenloop.plugins.requirements.changed_code import find_changed_code

FILE = '''\
import os

limit = 3
seen = []


def other(x):
    import re
    return sorted(eval("x"), key=re.compile)


@staticmethod
def f(x: int, y=2) -> int:
    """What f does."""
    raise NotImplementedError


class Box:
    def sorted(self):
        raise NotImplementedError
'''
F = Region(path="m.py", qualname="f", start=12, end=15)
METHOD = Region(path="m.py", qualname="Box.sorted", start=19, end=20)


def problem(*regions: Region, text: str = FILE) -> Problem:
    return Problem(
        root=Path("/w"), spec=Spec(), regions=regions or (F,), originals={"m.py": text}, files={"m.py": text}
    )


def said(words: list[str], body: str, *, helpers=(), imports=(), region: Region = F, head: str = "") -> list[str]:
    """What the constraints say of a candidate with this body."""
    own = problem(region)
    margin = "    " if region is METHOD else ""
    head = head or (
        f"{margin}def sorted(self):"
        if region is METHOD
        else '@staticmethod\ndef f(x: int, y=2) -> int:\n    """What f does."""'
    )
    text = "\n".join([head, *(f"{margin}    {row}" for row in body.split("\n"))]) + "\n"
    candidate = Candidate(texts={region: text}, imports=tuple(imports), helpers=tuple(helpers))
    found = find_changed_code(own, region, compose(own, candidate))
    assert found is not None
    return [limits.violation_sentence(limits.find_violations(each, found)) for each in limits.parse(words)]


@pytest.mark.parametrize(
    ("word", "body", "sentence"),
    [
        ("no-imports", "import math\nreturn math.floor(x)", "The code imports math; no imports are allowed."),
        ("no-imports", "return __import__('math').pi", "The code imports math; no imports are allowed."),
        ("imports math", "from re import match\nreturn 1", "The code imports re; only math may be imported."),
        ("max-lines 2", "a = 1\nb = 2\nreturn a + b", "The function has 4 lines, at most 2 are allowed."),
        ("max-complexity 1", "return 1 if x else 2\nif x:\n    return 3", "The function has a complexity of 2, at most 1 is allowed."),
        ("max-nesting 1", "for i in x:\n    if i:\n        return i", "The function is nested 2 deep, at most 1 is allowed."),
        ("forbid eval sorted", "return sorted(x)", "The code uses sorted, which is forbidden."),
        ("forbid eval", "from builtins import eval as e\nreturn e('x')", "The code uses eval, which is forbidden."),
        ("forbid os.system", "return os.system('x')", "The code uses os.system, which is forbidden."),
        ("forbid sort", "x.sort()\nreturn x", "The code uses sort, which is forbidden."),
        ("defines 2", "return x", "The code is made of one function, at least 2 are asked for, with those that it calls in its file."),
        ("defines 4", "def g():\n    return other(x)\nreturn g()", "The code is made of 3 functions, at least 4 are asked for, with those that it calls in its file."),
        ("extracts", "return other(x)", "No part of it was extracted: it calls no new function of its file."),
        ("no-recursion", "return f(x - 1)", "`f` calls itself; recursion is not allowed."),
        ("no-recursion", "def g(n):\n    return g(n)\nreturn g(x)", "`g` calls itself; recursion is not allowed."),
        ("no-globals", "global seen\nseen = x", "The code uses the global variable seen; none are allowed."),
        ("no-globals", "seen.append(x)\nreturn 1", "The code uses the global variable seen; none are allowed."),
    ],
)  # fmt: skip
def test_each_constraint_fails_with_its_own_words(word, body, sentence):
    assert said([word], body) == [sentence]


@pytest.mark.parametrize(
    ("word", "body"),
    [
        ("no-imports", "return os.path.sep"),  # the user's own import
        ("imports math os", "import math\nimport os.path\nreturn 1"),
        ("max-lines 2", "\n# a comment\nreturn 1\n"),
        ("max-complexity 2", "if x:\n    return 1"),
        ("max-nesting 1", "if x:\n    return 1\nelif y:\n    return 2\nelse:\n    return 3"),
        ("defines 2", "return other(x)"),
        ("forbid eval", "return evaluate(x)"),
        ("no-recursion", "return x.f()"),
        ("no-globals", "seen = []\nseen.append(x)\nreturn LIMIT"),
        ("docstring", "return 1"),
        ("signature", "return 1"),
    ],
)
def test_what_keeps_to_a_constraint_passes(word, body):
    assert said([word], body) == [""]


LONG = "def f(x):\n    y = x + 1\n    z = y * 2\n    return z\n"
HELPER = "def g(x):\n    return (x + 1) * 2\n"


@pytest.mark.parametrize(
    ("text", "helpers", "sentence"),
    [
        ("def f(x):\n    return g(x)\n", [HELPER], ""),
        (
            "def f(x):\n    return (x + 1) * 2\n",
            [],
            "No part of it was extracted: it calls no new function of its file.",
        ),
        (
            "def f(x):\n    return (x + 1) * 2\n",
            [HELPER],
            "No part of it was extracted: it calls no new function of its file.",
        ),
        (
            LONG.replace("x + 1", "g(x)"),
            [HELPER],
            "The function calls the new `g` and still has 4 lines; it had 4.",
        ),
    ],
)
def test_extracting_needs_a_new_function_that_is_called_and_shortens_the_old_one(text, helpers, sentence):
    region = Region(path="m.py", qualname="f", start=1, end=4)
    own = problem(region, text=LONG)
    found = find_changed_code(own, region, compose(own, Candidate(texts={region: text}, helpers=tuple(helpers))))
    (extracts,) = limits.parse(["extracts"])
    assert limits.violation_sentence(limits.find_violations(extracts, found)) == sentence


def test_a_signature_is_kept_with_its_annotations_and_defaults():
    changed = 'def f(x, y=3) -> int:\n    """What f does."""'
    sentence = "The signature became `def f(x, y=3) -> int`; it must stay `def f(x: int, y=2) -> int`."
    assert said(["signature"], "return 1", head=changed) == [sentence]


def test_a_docstring_is_kept():
    assert said(["docstring"], "return 1", head="def f(x: int, y=2) -> int:") == [
        "The docstring is gone; it must be kept."
    ]
    assert said(["docstring"], "return 1", head='def f(x: int, y=2) -> int:\n    """Other."""') == [
        "The docstring was changed; it must be kept."
    ]


def test_every_parameter_and_the_result_need_a_type():
    assert said(["typed"], "return 1") == ["The function has no annotation for `y`."]
    assert said(["typed"], "return 1", region=METHOD) == ["The function has no return annotation."]


def test_helpers_and_imports_of_the_candidate_count_and_the_users_own_do_not():
    helper = "def g(n):\n    return sorted(n)"
    words = ["forbid sorted", "no-imports", "typed", "no-recursion"]
    assert said(words, "return g(x)", helpers=[helper], imports=["import math"]) == [
        "The code uses sorted, which is forbidden.",
        "The code imports math; no imports are allowed.",
        "The function has no annotation for `y`. The helper `g` has no annotation for `n` and no return annotation.",
        "",
    ]
    back = "def g(n):\n    return f(n)"
    assert said(["no-recursion"], "return g(x)", helpers=[back]) == [
        "`f` calls itself; recursion is not allowed. `g` calls itself; recursion is not allowed."
    ]


def test_a_method_of_a_builtins_name_does_not_call_itself_by_that_builtin():
    assert said(["no-recursion"], "return sorted(self.x)", region=METHOD) == [""]
    assert said(["no-recursion"], "return self.sorted()", region=METHOD) == [
        "`sorted` calls itself; recursion is not allowed."
    ]


def test_a_region_that_the_candidate_left_alone_is_not_judged():
    text = "def f(x):\n    return eval(x)\n\n\ndef g(x):\n    return 1\n"
    mine = (Region(path="m.py", qualname="f", start=1, end=2), Region(path="m.py", qualname="g", start=5, end=6))
    own = problem(*mine, text=text)
    files = compose(own, Candidate(texts={mine[1]: "def g(x):\n    return 2\n"}))
    (forbidden,) = limits.parse(["forbid eval"])
    first, second = (find_changed_code(own, region, files) for region in mine)
    assert first.changed_node is None
    assert second.changed_node is not None
    assert limits.find_violations(forbidden, first) == []


def test_names_given_twice_add_up_and_commas_may_have_split_them():
    found = limits.parse(["forbid eval", "forbid exec", "max-lines 9", "max-lines 5", "ruff E", "F", "B904"])
    assert [each.source for each in found] == ["forbid eval exec", "max-lines 5", "ruff E F B904"]


def test_every_constraint_can_be_told_beforehand():
    for word, kind in limits.KINDS.items():
        (found,) = limits.parse([f"{word} {kind.arguments.example}".strip()])
        assert found.prompt_text
        assert "{}" not in found.prompt_text
    assert limits.parse(["forbid eval exec"])[0].prompt_text == "do not use eval, exec"


@pytest.mark.parametrize(
    ("word", "sentence", "remedy"),
    [
        ("no-import", "has no constraint 'no-import'", "Did you mean `no-imports`?"),
        ("max-line 20", "has no constraint 'max-line 20'", "Did you mean `max-lines`?"),
        ("zzz", "has no constraint 'zzz'", "There are: no-imports, imports,"),
        ("max-lines", "'max-lines' needs one whole number", "Write `max-lines 20`."),
        ("max-lines many", "needs one whole number", "Write `max-lines 20`."),
        ("max-lines -1", "needs one whole number", "Write `max-lines 20`."),
        ("forbid", "needs at least one name", "Write `forbid NAME`."),
        ("typed x", "takes no argument", "Write `typed"),
        ("", "has no constraint ''", "There are:"),
    ],
)
def test_a_word_or_number_that_is_none_is_named_with_the_nearest(word, sentence, remedy):
    with pytest.raises(SettingsError) as caught:
        limits.parse([word])
    assert sentence in str(caught.value)
    assert caught.value.remedy.startswith(remedy)


def test_a_chain_of_thousands_is_said_not_raised():
    chain = "if x == 0:\n    return 0\n" + "".join(f"elif x == {n}:\n    return {n}\n" for n in range(1, 1500))
    assert "too deep" in said(["max-nesting 2"], chain.rstrip("\n"))[0]
