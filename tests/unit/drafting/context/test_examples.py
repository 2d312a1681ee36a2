"""What the first prompt must say: every example of the docstring, and the versions that the sandbox has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from greenloop.core.ports import NoUser, Tools
from greenloop.core.records.attempt import Attempt, Draft, Move
from greenloop.core.records.model import Role
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Provenance, Region, Spec
from greenloop.core.records.verdict import Status, Verdict
from greenloop.drafting.context import examples, source, versions
from greenloop.drafting.prompt import assemble
from greenloop.project import targets
from greenloop_sandbox import Environment, SandboxSpec
from greenloop_sandbox.container import packages

TEMPLATES = {"system": "", "task": "$context", "draft": "Write $names."}


class Session:
    def __init__(self, name="bubblewrap"):
        self.name = name


def tools(place=None, name="bubblewrap"):
    return Tools(ask=None, run=None, session=Session(name), user=NoUser(), rng=None, place=place)


def problem(text, name, *, root=Path("/w"), tests="", provenance=Provenance.USER, line=1):
    found = targets.find_target(text, "m.py", name).region
    path = "m.py" if provenance is Provenance.DOCTEST else "test_m.py"
    return Problem(
        root=root,
        spec=Spec(cases=(Case(id=f"{path}::x", path=path, line=line, provenance=provenance),), selectors=()),
        regions=(Region(path="m.py", qualname=name, start=found.start, end=found.end),),
        originals={"m.py": text, "test_m.py": tests},
        files={"m.py": text, "test_m.py": tests},
    )


async def first_prompt(case, parts, budget=2600, place=None, session="bubblewrap"):
    excerpts = [excerpt for part in parts for excerpt in await part.gather(case, tools(place, session))]
    draft = Draft(parent=0, move=Move.DRAFT, role=Role.DRAFTER)
    baseline = Attempt(number=0, verdict=Verdict(status=Status.FAILED))
    count = lambda text: len(text) // 4  # noqa: E731
    messages = assemble(TEMPLATES, case, excerpts, [baseline], draft, budget=budget, count=count)
    return "\n".join(message.content for message in messages)


# -- examples -------------------------------------------------------------------------------------------------------

LONG = (
    'def f(x):\n    """Does it.\n\n    >>> f(1)\n    2\n\n    And more.\n\n    >>> for n in (2, 3):\n    ...     f(n)\n'
    "    3\n    4\n    >>> f('a')\n    Traceback (most recent call last):\n    TypeError: no\n"
    '    """\n' + "".join(f"    x{n} = g(x, {n})\n" for n in range(2000)) + "    return x\n"
)
SHOWN = [
    ">>> f(1)\n2",
    ">>> for n in (2, 3):\n...     f(n)\n3\n4\n>>> f('a')\nTraceback (most recent call last):\nTypeError: no",
]


@pytest.mark.parametrize("budget", [400, 2600])
async def test_every_example_is_in_the_first_prompt_also_when_the_budget_is_short(budget):
    text = await first_prompt(problem(LONG, "f"), [source, examples], budget=budget)
    assert all(example in text for example in SHOWN)
    assert len(text) // 4 <= budget


async def test_examples_that_the_code_shows_are_not_said_twice():
    short = LONG[: LONG.index("    x0")] + "    return x\n"
    text = await first_prompt(problem(short, "f"), [source, examples])
    assert text.count(">>> f(1)") == 1


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ('""">>> f(1)"""', [">>> f(1)"]),
        ('"""Doc.\n\n    >>> f(1)\n    2"""', [">>> f(1)\n2"]),
        ("'''Doc.\n\n    >>> f(1)\n    '''", [">>> f(1)"]),
        ('r"""Doc.\n    >>> f("\\d")\n    1\n    """', ['>>> f("\\d")\n1']),
        ('"Doc."', []),
        ('"""Doc > 3 >> 2.\n    """', []),
    ],
)
async def test_examples_as_they_are_written(docstring, expected):
    found = await examples.gather(problem(f"def f(x):\n    {docstring}\n    return x\n", "f"), tools())
    assert [excerpt.text for excerpt in found] == (["\n\n".join(expected)] if expected else [])


STATED = (
    '# f(5) == 25\ndef f(x):\n    """Squares.\n\n    f(2) returns 4; `f(3)` gives 9.\n\n    >>> f(1)\n    1\n\n'
    '    assert f(\n        4\n    ) == 16\n    """\n    # TODO: f(-1) raises ValueError\n'
    "    raise NotImplementedError  # assert f(6) == 36\n"
)
SAID = (
    ">>> f(1)\n1\n\n# f(5) == 25\nf(2) returns 4; `f(3)` gives 9.\nassert f(\n    4\n) == 16\n"
    "# TODO: f(-1) raises ValueError\n# assert f(6) == 36"
)


async def test_examples_in_other_words_and_in_comments_are_in_the_first_prompt():
    [found] = await examples.gather(problem(STATED, "f"), tools())
    assert found.text == SAID
    text = await first_prompt(
        problem(STATED.replace("Squares.", "Squares. " * 900), "f"), [source, examples], budget=400
    )
    assert SAID in text
    assert len(text) // 4 <= 400


async def test_examples_of_the_class_or_module_that_the_specification_names():
    text = '"""Doc.\n\n>>> A().f()\n1\n"""\n\n\nclass A:\n    """A.\n\n    >>> A().f() + 1\n    2\n    """\n\n    def f(self):\n        return 0\n'
    of_class = problem(text, "A.f", provenance=Provenance.DOCTEST, line=10)
    assert [each.text for each in await examples.gather(of_class, tools())] == [">>> A().f() + 1\n2"]
    of_module = problem(text, "A.f", provenance=Provenance.DOCTEST, line=3)
    assert [each.text for each in await examples.gather(of_module, tools())] == [">>> A().f()\n1"]


# -- versions -------------------------------------------------------------------------------------------------------

CODE = "import os\nimport numpy as np\nfrom sklearn import svm\nfrom . import near\nimport beside\n\n\ndef f():\n    return np.ones(3)\n"
TESTS = "import pytest\nimport yaml\nimport nowhere\nfrom m import f\n"


def installed(folder, name, version, **files):
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    for file, text in files.items():
        (info / file.replace("_txt", ".txt")).write_text(text)


@pytest.fixture
def place(tmp_path):
    site = tmp_path / "env/lib/python3.11/site-packages"
    installed(site, "numpy", "1.26.4")
    installed(site, "scikit_learn", "1.5.0", RECORD="sklearn/__init__.py,sha256=x,1\nsklearn/svm.py,,\n")
    installed(site, "PyYAML", "6.0.1", top_level_txt="_yaml\nyaml\n")
    installed(site, "pytest", "8.0.0")
    work = tmp_path / "work"
    work.mkdir()
    (work / "beside.py").write_text("")
    environment = Environment(
        executable=tmp_path / "env/bin/python",
        prefix=tmp_path / "env",
        base=Path("/usr"),
        version=(3, 11),
        source="",
        has_pytest=True,
    )
    return SandboxSpec(root=work, environment=environment)


async def test_the_first_prompt_names_the_versions_of_what_is_imported(place):
    text = await first_prompt(problem(CODE, "f", root=place.root, tests=TESTS), [versions, source], place=place)
    assert text.lstrip().startswith("It runs on Python 3.11 with numpy==1.26.4, scikit-learn==1.5.0, PyYAML==6.0.1.\n")


async def test_without_imports_the_python_is_named(place):
    (line,) = await versions.gather(problem("def f():\n    return 1\n", "f", root=place.root), tools(place))
    assert line.title == "It runs on Python 3.11."


async def test_nothing_is_said_of_a_place_nobody_knows(place):
    case = problem(CODE, "f", root=place.root)
    assert await versions.gather(case, tools()) == ()
    assert await versions.gather(case, tools(replace(place, image="mine:1"), "docker")) == ()


async def test_a_container_has_what_the_lock_says(place):
    (place.root / "pyproject.toml").write_text('[project]\nname = "p"\nversion = "1"\ndependencies = ["numpy"]\n')
    (place.root / "pylock.toml").write_text(
        'lock-version = "1.0"\ncreated-by = "uv"\n'
        + "".join(
            f'[[packages]]\nname = "{name}"\nversion = "{version}"\n'
            f'sdist = {{url = "https://x/{file}-{version}.tar.gz", hashes = {{sha256 = "00"}}}}\n'
            for name, file, version in [("numpy", "numpy", "2.1.0"), ("scikit-learn", "scikit_learn", "1.6.0")]
        )
    )
    for name in ("docker", "docker with network"):
        (line,) = await versions.gather(problem(CODE, "f", root=place.root), tools(place, name))
        assert line.title == "It runs on Python 3.11 with numpy==2.1.0, scikit-learn==1.6.0."


async def test_a_container_without_a_lock_has_what_was_resolved(place, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (place.root / "requirements.txt").write_text("numpy>=2\n")
    wanted = packages.locks.find_sources(place.root)
    (line,) = await versions.gather(problem(CODE, "f", root=place.root), tools(place, "docker"))
    assert line.title == "It runs on Python 3.11."
    file = packages._resolution_file((3, 11), wanted)
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps([{"name": "numpy", "version": "2.0.1", "hashes": [], "marker": ""}]))
    (line,) = await versions.gather(problem(CODE, "f", root=place.root), tools(place, "docker"))
    assert line.title == "It runs on Python 3.11 with numpy==2.0.1."


async def test_a_broken_lock_or_code_costs_nothing_but_the_versions(place):
    (place.root / "pylock.toml").write_text("= broken")
    case = problem("import numpy\ndef f():\n    return (\n", "f", root=place.root)
    (line,) = await versions.gather(case, tools(place, "docker"))
    assert line.title == "It runs on Python 3.11."
    (line,) = await versions.gather(case, tools(place))
    assert line.title == "It runs on Python 3.11 with numpy==1.26.4."
