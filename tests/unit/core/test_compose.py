from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenloop.core.compose import before_after, compose, region_text
from greenloop.core.records.attempt import Candidate
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Region, Spec
from greenloop.core.text.diff import split_lines

NEW = "def f(x):\n    return 2\n"


def check(problem, text, expected, *, new=NEW, imports=(), helpers=(), name="f", **options):
    case = problem(text, name, **options)
    candidate = Candidate(texts={case.regions[0]: new}, imports=imports, helpers=helpers)
    assert compose(case, candidate) == {"m.py": expected}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x):\n    return 1\n", NEW),
        ("def f(x):\n    return 1", NEW.rstrip("\n")),
        ("a = 1\r\ndef f(x):\r\n    return 1\r\nb = 2", "a = 1\r\ndef f(x):\r\n    return 2\r\nb = 2"),
        ("a = 1\rdef f(x):\r    return 1\r", "a = 1\rdef f(x):\r    return 2\r"),
        ("a = 1\n\ndef f(x):\r\n    return 1\n\nb = 2\r\n", "a = 1\n\ndef f(x):\r\n    return 2\n\nb = 2\r\n"),
        ("\x0c\ndef f(x):\n    return 1\n\x0c\nb = '\u2028'\n", "\x0c\n" + NEW + "\x0c\nb = '\u2028'\n"),
        ("def f(x): return 1\nb = f(1)  \n", NEW + "b = f(1)  \n"),
    ],
)
def test_only_the_region_changes(problem, text, expected):
    check(problem, text, expected)


FILES = [
    # docstring alone, shebang and cookie, comments, nothing, imports in groups, future imports
    ('"""Doc."""\n\n\ndef f(x):\n    return 1\n', '"""Doc."""\n\nimport re\n\n\ndef f(x):\n    return 2\n'),
    ('"""Doc."""\ndef f(x):\n    return 1\n', '"""Doc."""\n\nimport re\n\n\ndef f(x):\n    return 2\n'),
    ("#!/usr/bin/python\n# coding: utf-8\ndef f(x):\n    return 1\n", "#!/usr/bin/python\n# coding: utf-8\n\nimport re\n\n\ndef f(x):\n    return 2\n"),
    ("# Licence\n\ndef f(x):\n    return 1\n", "# Licence\n\nimport re\n\ndef f(x):\n    return 2\n"),
    ("# About f\ndef f(x):\n    return 1\n", "import re\n\n\n# About f\ndef f(x):\n    return 2\n"),
    ("def f(x):\n    return 1\n", "import re\n\n\ndef f(x):\n    return 2\n"),
    ("X = 1\ndef f(x):\n    return 1\n", "import re\n\nX = 1\ndef f(x):\n    return 2\n"),
    ("import os\n\nimport numpy\n\n\ndef f(x):\n    return 1\n", "import os\nimport re\n\nimport numpy\n\n\ndef f(x):\n    return 2\n"),
    ("import numpy\ndef f(x):\n    return 1\n", "import numpy\nimport re\ndef f(x):\n    return 2\n"),
    ("from __future__ import annotations\n\ndef f(x):\n    return 1\n", "from __future__ import annotations\n\nimport re\n\ndef f(x):\n    return 2\n"),
    ("from os import (\n    path,\n)\nX = 1\nimport sys\ndef f(x):\n    return 1\n", "from os import (\n    path,\n)\nimport re\nX = 1\nimport sys\ndef f(x):\n    return 2\n"),
    ("try:\n    import a\nexcept ImportError:\n    a = None\ndef f(x):\n    return 1\n", "try:\n    import a\nexcept ImportError:\n    a = None\nimport re\ndef f(x):\n    return 2\n"),
    ("import os\r\n\r\ndef f(x):\r\n    return 1\r\n", "import os\r\nimport re\r\n\r\ndef f(x):\r\n    return 2\r\n"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FILES)
def test_where_an_import_goes(problem, text, expected):
    check(problem, text, expected, imports=("import re",))
    compile(expected, "m.py", "exec")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"""Doc."""\n\n\ndef f(x):\n    return 1\n', '"""Doc."""\n\nfrom __future__ import annotations\n\nimport re\n\n\ndef f(x):\n    return 2\n'),
        ("def f(x):\n    return 1\n", "from __future__ import annotations\n\nimport re\n\n\ndef f(x):\n    return 2\n"),
        ("import os\n\n\ndef f(x):\n    return 1\n", "from __future__ import annotations\n\nimport os\nimport re\n\n\ndef f(x):\n    return 2\n"),
        ('"""Doc."""\n\nimport os\n\n\ndef f(x):\n    return 1\n', '"""Doc."""\n\nfrom __future__ import annotations\n\nimport os\nimport re\n\n\ndef f(x):\n    return 2\n'),
        ('"""Doc."""\nimport os\n\n\ndef f(x):\n    return 1\n', '"""Doc."""\n\nfrom __future__ import annotations\n\nimport os\nimport re\n\n\ndef f(x):\n    return 2\n'),
        ("from __future__ import division\nimport os\ndef f(x):\n    return 1\n", "from __future__ import division\nfrom __future__ import annotations\nimport os\nimport re\ndef f(x):\n    return 2\n"),
    ],
)  # fmt: skip
def test_where_a_future_import_goes(problem, text, expected):
    check(problem, text, expected, imports=("from __future__ import annotations", "import re"))
    compile(expected, "m.py", "exec")


HELPER = "def g():\n    return 1\n"


@pytest.mark.parametrize(
    ("text", "name", "new", "expected"),
    [
        ("X = 1\n\n\n# f\n@d\ndef f(x):\n    return 1\n", "f", "@d\ndef f(x):\n    return g()\n", "X = 1\n\n\ndef g():\n    return 1\n\n\n# f\n@d\ndef f(x):\n    return g()\n"),
        ("X = 1\ndef f(x):\n    return 1\n", "f", "def f(x):\n    return g()\n", "X = 1\n\n\ndef g():\n    return 1\n\n\ndef f(x):\n    return g()\n"),
        ("def f(x):\n    return 1\n", "f", "def f(x):\n    return g()\n", "def g():\n    return 1\n\n\ndef f(x):\n    return g()\n"),
        ("class A:\n    x = 1\n\n    def f(self):\n        return 1\n", "A.f", "    def f(self):\n        return g()\n", "def g():\n    return 1\n\n\nclass A:\n    x = 1\n\n    def f(self):\n        return g()\n"),
        ("X = 1\r\n\r\ndef f(x):\r\n    return 1", "f", "def f(x):\n    return g()\n", "X = 1\r\n\r\n\r\ndef g():\r\n    return 1\r\n\r\n\r\ndef f(x):\r\n    return g()"),
    ],
)  # fmt: skip
def test_where_a_helper_goes(problem, text, name, new, expected):
    check(problem, text, expected, name=name, new=new, helpers=(HELPER,))


def test_two_regions_and_both_extras(problem):
    case = problem("import os\n\n\ndef a():\n    pass\n\n\ndef b():\n    pass\n", "a", "b")
    first, second = case.regions
    candidate = Candidate(
        texts={first: "def a():\n    x = 1\n    return g(x)\n", second: "def b():\n    return re\n"},
        imports=("import re",),
        helpers=(HELPER,),
    )
    expected = (
        "import os\nimport re\n\n\n"
        + HELPER
        + "\n\ndef a():\n    x = 1\n    return g(x)\n\n\ndef b():\n    return re\n"
    )
    assert compose(case, candidate)["m.py"] == expected


def test_extras_go_to_the_module_that_uses_them():
    text = "def {}():\n    pass\n"
    regions = [Region(path=f"{name}.py", qualname=name, start=1, end=2) for name in "ab"]
    files = {f"{name}.py": text.format(name) for name in "ab"}

    case = Problem(
        root=Path("/p"), spec=Spec(cases=(), selectors=()), regions=tuple(regions), originals=files, files=files
    )
    texts = {regions[0]: "def a():\n    return g()\n", regions[1]: "def b():\n    return re\n"}
    composed = compose(case, Candidate(texts=texts, imports=("import re",), helpers=(HELPER,)))
    assert composed["a.py"] == HELPER + "\n\ndef a():\n    return g()\n"
    assert composed["b.py"] == "import re\n\n\ndef b():\n    return re\n"


def test_stubs_of_other_new_files_stay():
    """Without them the tests could not be imported, and an answer about one of two new modules would be no step."""
    stubs = {f"{name}.py": f"def {name}():\n    raise NotImplementedError\n" for name in "ab"}
    regions = tuple(Region(path=f"{name}.py", qualname=name, start=1, end=2, created=True) for name in "ab")
    case = Problem(root=Path("/w"), spec=Spec(), regions=regions, originals=dict.fromkeys(stubs), files=stubs)
    for problem in (case, case.focused(regions[:1])):
        files = compose(problem, Candidate(texts={regions[0]: "def a():\n    return 1\n"}))
        assert files == {"a.py": "def a():\n    return 1\n", "b.py": stubs["b.py"]}


def test_before_and_after_name_changed_files_only(problem):
    case = problem("def f(x):\n    return 1\n", "f")
    region = case.regions[0]
    assert before_after(case, Candidate(texts={region: region_text(case, region)})) == ({}, {})
    assert before_after(case, Candidate(texts={region: NEW})) == ({"m.py": case.files["m.py"]}, {"m.py": NEW})
    created = problem("def f(*args, **kwargs):\n    raise NotImplementedError\n", "f", created=True)
    assert before_after(created, Candidate(texts={created.regions[0]: NEW})) == ({"m.py": None}, {"m.py": NEW})


def test_a_broken_file_takes_imports_and_helpers_too(problem):
    text = "import os\n\nX = 1\n\n@d\ndef f(x):\n    return 1\n\ndef oops(:\n"
    expected = "import os\nimport re\n\nX = 1\n\n\n" + HELPER + "\n\n@d\ndef f(x):\n    return 2\n\ndef oops(:\n"
    check(problem, text, expected, new="@d\n" + NEW, imports=("import re",), helpers=(HELPER,), span=(5, 7))


LINES = st.lists(
    st.sampled_from(
        ["x = 1", "", "# é", "import os", "y = '''", "'''", "\x0c", "def g():", "    pass", "\ta", "x\u2028"]
    ),
    max_size=8,
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(st.data(), LINES, LINES, ENDS)
def test_all_lines_outside_the_region_stay_byte_for_byte(data, above, below, final):

    rows = [row + data.draw(ENDS) for row in [*above, "def f(x):", "    return 1", *below]]
    rows[-1] = rows[-1].rstrip("\r\n") + data.draw(st.sampled_from(["", final]))
    text = "".join(rows)
    rows = split_lines(text)
    start = next(n for n, row in enumerate(rows) if row.startswith("def f(x)"))
    region = Region(path="m.py", qualname="f", start=start + 1, end=start + 2)
    case = Problem(
        root=Path("/p"),
        spec=Spec(cases=(), selectors=()),
        regions=(region,),
        originals={"m.py": text},
        files={"m.py": text},
    )
    composed = compose(case, Candidate(texts={region: NEW}))["m.py"]
    assert composed.startswith("".join(rows[:start]))
    assert composed.endswith("".join(rows[start + 2 :]))
    assert len(split_lines(composed)) == len(rows)
    with_extras = compose(case, Candidate(texts={region: NEW}, imports=("import zlib",), helpers=(HELPER,)))["m.py"]
    kept = [row.rstrip("\r\n") for row in split_lines(with_extras)]
    position = 0
    for row in (row.rstrip("\r\n") for row in split_lines(composed)):
        position = kept.index(row, position) + 1
    assert with_extras.count("import zlib") == 1


@pytest.mark.parametrize(
    ("statement", "added"),
    [
        ("from dataclasses import field", False),
        ("import os", False),
        ("from dataclasses import fields", True),
        ("import os.path as os", True),
        ("from dataclasses import dataclass, replace", True),
    ],
)
def test_an_import_that_is_there_is_not_written_again(statement, added):
    text = "import os\nfrom dataclasses import dataclass, field\n\n\ndef f():\n    return 1\n"
    region = Region(path="m.py", qualname="f", start=5, end=6)
    files = {"m.py": text}
    subject = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals=files, files=files)
    candidate = Candidate(texts={region: "def f():\n    return 2\n"}, imports=(statement,))
    rows = compose(subject, candidate)["m.py"].splitlines()
    assert (len(rows), statement in rows) == (7 if added else 6, added or statement == "import os")


def test_what_a_stub_stood_for_leaves_no_gap():
    text = "class C:\n    x = 1\n\n    @property\n    def y(self):\n        raise NotImplementedError\n\n    z = 2\n"
    region = Region(path="m.py", qualname="C.y", start=4, end=6, created=True)
    files = {"m.py": text}
    subject = Problem(root=Path("/w"), spec=Spec(), regions=(region,), originals=files, files=files)
    assert compose(subject, Candidate(texts={region: ""})) == {"m.py": "class C:\n    x = 1\n\n    z = 2\n"}
