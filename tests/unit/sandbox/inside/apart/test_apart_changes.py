"""What differs between the user's own code and the changed code, by text alone."""

from __future__ import annotations

import textwrap

import pytest

from two_sides import apart

changes = apart["apart_changes"]


def complete(tmp_path, before, files, **more):
    """What both processes are told of a change of these files in a project that has others."""
    for path, text in before.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(textwrap.dedent(text))
    files = {path: text and textwrap.dedent(text) for path, text in files.items()}
    request = {"files": files, "tests": [], "outer": False, "own": False, "aware": False, **more}
    return changes.complete(request, str(tmp_path))


def module(tmp_path, own, changed, **more):
    return complete(tmp_path, {"m.py": own}, {"m.py": changed}, **more)["modules"]["m.py"]


def test_a_changed_function_is_replaced_inside_its_decorators(tmp_path):
    own = "@cached\ndef f():\n    return 1\n\n\ndef g():\n    return 1\n\n\nasync def h():\n    return 1\n"
    found = module(tmp_path, own, own.replace("return 1", "yield 2", 1).replace("async def h():\n    return 1", "async def h():\n    return 2"))  # fmt: skip
    assert found["stubs"] == {
        "f": {"kind": "generator", "is_other": False},
        "h": {"kind": "async", "is_other": False},
    }
    assert [found[kind] for kind in ("new", "removed", "constants", "classes", "touched")] == [{}, [], [], [], []]
    assert (found["name"], found["is_new"]) == ("m", False)


@pytest.mark.parametrize(
    ("head", "is_other"), [("def f(a):", False), ("def f(a, b=2):", True), ("def f(a) -> int:", True)]
)
def test_another_signature_is_noted_with_the_stub(tmp_path, head, is_other):
    found = module(tmp_path, "def f(a):\n    return 1\n", f"{head}\n    return 2\n")
    assert found["stubs"]["f"].get("is_other", False) is is_other


@pytest.mark.parametrize(
    ("head", "decorator"),
    [("", ""), ("@property\n    ", "property"), ("@staticmethod\n    ", "staticmethod"), ("@cache\n    ", None)],
)
def test_a_function_with_other_decorators_is_new(tmp_path, head, decorator):
    own = "class C:\n    @other\n    def f(self):\n        return 1\n"
    found = module(tmp_path, own, own.replace("@other\n    ", head))
    assert found["new"] == {"C.f": {"kind": "plain", "decorator": decorator}}
    assert found["stubs"] == {}


def test_a_function_is_new_where_a_new_one_is_registered_with_it(tmp_path):
    own = "@singledispatch\ndef show(a):\n    return a\n\n\ndef cached(f):\n    return f\n"
    found = module(
        tmp_path, own, own + "\n\n@show.register\ndef _(a: int):\n    return 1\n\n\n@cached\ndef g():\n    return 1\n"
    )
    assert set(found["new"]) == {"show", "_", "g"}


def test_what_is_new_removed_constant_and_touched(tmp_path):
    own = """\
        LIMIT, SIZE = 1, 2
        OLD = 3
        class Kept:
            x = 1
            def f(self): return 1
            def gone(self): return 1
        class Gone:
            def f(self): return 1
        """
    changed = """\
        LIMIT, SIZE = 1, 3
        NEW: int = 3
        class Kept:
            x = 2
            def f(self): return 1
            def g(self): return 1
        class Fresh:
            def f(self): return 1
        def f(): return 1
        """
    found = module(tmp_path, own, changed)
    assert {*found["new"]} == {"Kept.g", "f"}
    assert found["removed"] == ["Kept.gone", "Gone"]
    assert {*found["constants"]} == {"LIMIT", "SIZE", "NEW"}
    assert (found["classes"], found["touched"], found["stubs"]) == (["Fresh"], ["Kept"], {})


def test_docstrings_and_comments_of_a_class_touch_nothing(tmp_path):
    own = 'class C:\n    "One."\n    x = 1\n'
    assert module(tmp_path, own, own.replace("One.", "Two.") + "# more\n")["touched"] == []


def test_functions_of_one_name_are_numbered_and_those_under_conditions_count(tmp_path):
    own = "if a:\n    def f(): return 1\nelse:\n    def f(): return 1\ntry:\n    g = 1\nexcept E:\n    def g(): return 1\n"
    found = module(tmp_path, own, own.replace("else:\n    def f(): return 1", "else:\n    def f(): return 2"))
    assert {*found["stubs"]} == {"f#1"}


def test_of_two_functions_with_one_name_the_other_one_stays(tmp_path):
    own = "if a:\n    def f(): return 1\nelse:\n    def f(): return 1\n"
    assert module(tmp_path, own, "def f(): return 2\n")["removed"] == []


def test_a_new_file_is_a_new_module_and_an_unchanged_one_is_none(tmp_path):
    own = {"src/p/__init__.py": "A = 1\n", "src/p/m.py": "B = 1\n"}
    found = complete(tmp_path, own, {"src/p/__init__.py": "A = 1\n", "src/p/n.py": "C = 1\n", "src/p/m.py": None})
    assert {path: (each["name"], each["is_new"]) for path, each in found["modules"].items()} == {"src/p/n.py": ("p.n", True)}  # fmt: skip
    assert found["project"] == ["p"]
    assert found["files"]["src/p/m.py"] is None


def test_only_what_the_users_own_code_imports_is_allowed(tmp_path):
    own = {"m.py": "import attr, yaml as y\nfrom numpy.linalg import det\nimport pytest\n", "tests/test_m.py": "import hamcrest\n"}  # fmt: skip
    found = complete(tmp_path, own, {"m.py": "import secrets\n"})
    assert {"attr", "yaml", "numpy", "m", "decimal"} <= {*found["allowed"]}
    assert not {"pytest", "hamcrest", "secrets", "os", "sys"} & {*found["allowed"]}


def test_a_text_that_cannot_be_parsed_is_an_error(tmp_path):
    with pytest.raises(SyntaxError):
        module(tmp_path, "X = 1\n", "def f(:\n")


# -- tests in it --------------------------------------------------------------------------------------------------------


def test_tests_and_what_tells_of_the_change_are_hidden(tmp_path):
    own = {
        "m.py": "", "conftest.py": "", "test_m.py": "", "pkg/tests/data.txt": "", "checks/m_cases.py": "", ".git/HEAD": "",
        "sub/.hypothesis/x": "",
    }  # fmt: skip
    hidden = complete(tmp_path, own, {"m.py": "A = 1\n"}, tests=["checks/m_cases.py"])["hidden"]
    assert {*hidden} == {"conftest.py", "test_m.py", "pkg/tests", "checks/m_cases.py", ".git", "sub/.hypothesis"}


def test_the_own_code_may_be_asked_in_place_of_the_change(tmp_path):
    own = {"m.py": "def f(): return 1\n"}
    files = {"m.py": "def f(): return 2\n", "new.py": ""}
    found = complete(tmp_path, own, files, own=True)
    assert found["files"] == {**own, "new.py": None}
    assert {*found["modules"]["m.py"]["stubs"]} == {"f"}


# -- the outer boundary -------------------------------------------------------------------------------------------------

CALLERS = {
    "m.py": "def f():\n    return 1\n",
    "shop.py": """\
        import m

        class Basket:
            def __init__(self):
                self.total = m.f()

            def __eq__(self, other):
                return m.f() == other

            def show(self):
                return 1

        def make():
            return Basket()

        @abstractmethod
        def hook():
            return m.f()

        def other():
            return 2
        """,
    "test_m.py": "import shop\n\n\ndef test_a():\n    shop.make()\n",
    "broken.py": "def f(:\n",
}


@pytest.mark.parametrize("outer", [True, False])
def test_with_the_outer_boundary_the_callers_are_replaced_too(tmp_path, outer):
    found = complete(tmp_path, CALLERS, {"m.py": "def f():\n    return 2\n"}, outer=outer)["modules"]
    assert {*found["m.py"]["stubs"]} == {"f"}
    assert {*found} == ({"m.py", "shop.py"} if outer else {"m.py"})
    if outer:
        assert {*found["shop.py"]["stubs"]} == {"Basket.__init__", "make"}


OTHERS = {
    "m.py": "from reading import loads\n\n\ndef f():\n    return 1\n",
    "reading.py": "def loads(text):\n    return text.split()\n",
    "user.py": "import m\n\n\ndef use(text):\n    return m.split(text)\n",
}


def test_a_new_name_leads_to_a_function_only_where_it_means_the_new_one(tmp_path):
    change = {"m.py": "import reading\n\n\ndef f():\n    return 1\n\n\ndef split(text):\n    return [text]\n"}
    found = complete(tmp_path, OTHERS, change, outer=True)["modules"]
    assert ({*found}, {*found["user.py"]["stubs"]}) == ({"m.py", "user.py"}, {"use"})


def test_a_changed_enumeration_takes_the_place_of_the_old_one(tmp_path):
    own = "class Color(Enum):\n    RED = 1\n"
    found = module(tmp_path, own, own + "    BLUE = 2\n")
    assert (found["classes"], found["touched"]) == (["Color"], [])


def test_code_that_may_see_that_it_is_tested_sees_the_tests(tmp_path):
    assert complete(tmp_path, {"m.py": "", "test_m.py": ""}, {"m.py": "A = 1\n"}, aware=True)["hidden"] == []
