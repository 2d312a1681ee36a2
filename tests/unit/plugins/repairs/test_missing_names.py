"""Test first: what is missing, where it belongs, and the stub that stands in for it."""

from __future__ import annotations

import ast

import pytest

from greenloop.localize import regions
from greenloop.plugins.repairs import missing_names, stubs
from greenloop.project import sources
from greenloop_sandbox import Failure, Frame
from project_files import write_files


def failure(message, *frames, kind="ImportError"):
    return Failure(type=kind, message=message, frames=tuple(Frame(path=path, line=1, function="f") for path in frames))


def ask(root, message, test="test_m.py", *frames, kind="ImportError"):
    return missing_names.find_missing(
        [failure(message, *(frames or (test,)), kind=kind)], lambda path: sources.read_text(root, path), root, test
    )


def stubbed(root, found):
    files, created = stubs.add_stubs(found, lambda path: sources.read_text(root, path))
    (path,) = files
    for region in created:
        rows = files[path].replace("\r\n", "\n").split("\n")
        assert region.path == path
        assert region.created
        starts = (f"{region.qualname} = ",) if region.assigns else ("def ", "class ", "async def ", "@")
        assert rows[region.start - 1].strip().startswith(starts)
    ast.parse(files[path])
    return path, files[path], [region.qualname for region in created]


STUB = 'def {0}(*args, **kwargs):\n    raise NotImplementedError("{0}")\n'


def test_a_function_of_a_module_that_exists(tmp_path):
    write_files(
        tmp_path, {"m.py": "import os\n\n\ndef a():\n    pass\n", "test_m.py": "from m import a, slugify, render\n"}
    )
    found = ask(tmp_path, "cannot import name 'slugify' from 'm' (/w/m.py)")
    path, text, names = stubbed(tmp_path, found)
    assert (path, names) == ("m.py", ["slugify", "render"])
    assert text == "import os\n\n\ndef a():\n    pass\n\n\n" + STUB.format("slugify") + "\n\n" + STUB.format("render")


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("", STUB.format("f")),
        ("x = 1", "x = 1\n\n\n" + STUB.format("f")),
        ("x = 1\n\n\n\n", "x = 1\n\n\n" + STUB.format("f")),
        (
            'x = 1\n\n\nif __name__ == "__main__":\n    print(x)\n',
            "x = 1\n\n\n" + STUB.format("f") + '\n\nif __name__ == "__main__":\n    print(x)\n',
        ),
        ("x = 1\r\n", "x = 1\n\n\n".replace("\n", "\r\n") + STUB.format("f").replace("\n", "\r\n")),
        ("def a():\n\tpass\n", "def a():\n\tpass\n\n\n" + STUB.format("f").replace("    ", "\t")),
        ("def a():\n  if 1:\n    pass\n", "def a():\n  if 1:\n    pass\n\n\n" + STUB.format("f").replace("    ", "  ")),
    ],
)
def test_where_a_stub_goes(tmp_path, module, expected):
    write_files(tmp_path, {"m.py": module, "test_m.py": "from m import f\n"})
    assert stubbed(tmp_path, ask(tmp_path, "cannot import name 'f' from 'm' (/w/m.py)"))[1] == expected


@pytest.mark.parametrize(
    ("test", "name", "stub"),
    [
        (
            "from m import Slug\ndef test_a():\n    Slug('x').render()\n",
            "Slug",
            "class Slug:\n    def __init__(self, *args",
        ),
        ("from m import slug\nasync def test_a():\n    await slug('x')\n", "slug", "async def slug(*args"),
        ("from m import SlugError\n", "SlugError", "class SlugError(Exception):\n    pass"),
        (
            "from m import Bad, f\ndef test_a():\n    with pytest.raises(Bad):\n        f()\n",
            "Bad",
            "class Bad(Exception):",
        ),
        ("from m import LIMIT, f\n", "LIMIT", "LIMIT = None"),
    ],
)
def test_the_use_in_the_test_decides_the_kind(tmp_path, test, name, stub):
    write_files(tmp_path, {"m.py": "", "test_m.py": test})
    text = stubbed(tmp_path, ask(tmp_path, f"cannot import name '{name}' from 'm' (/w/m.py)"))[1]
    assert stub in text


@pytest.mark.parametrize(
    ("files", "test", "module", "path", "names"),
    [
        ({}, "from m import f, g\n", "m", "m.py", ["f", "g"]),
        ({}, "import m\ndef test_a():\n    assert m.f(1) == m.g\n", "m", "m.py", ["f", "g"]),
        ({}, "import m as x\ndef test_a():\n    assert x.f(1)\n", "m", "m.py", ["f"]),
        ({"src/pkg/__init__.py": ""}, "from pkg.text import f\n", "pkg.text", "src/pkg/text.py", ["f"]),
        (
            {"pkg/__init__.py": ""},
            "import pkg.text\ndef test_a():\n    pkg.text.f()\n",
            "pkg.text",
            "pkg/text.py",
            ["f"],
        ),
        ({}, "def test_a():\n    from m import f\n    f()\n", "m", "m.py", ["f"]),
        ({"n.py": ""}, "from m import f\ndef test_a(:\n", "m", "m.py", ["f"]),
    ],
)
def test_a_module_that_does_not_exist(tmp_path, files, test, module, path, names):
    write_files(tmp_path, {**files, "test_m.py": test})
    found = ask(tmp_path, f"No module named '{module}'", kind="ModuleNotFoundError")
    assert stubbed(tmp_path, found)[0::2] == (path, names)


def test_a_module_of_a_package_imported_from_it(tmp_path):
    write_files(
        tmp_path, {"pkg/__init__.py": "", "test_m.py": "from pkg import text\ndef test_a():\n    assert text.f()\n"}
    )
    found = ask(tmp_path, "cannot import name 'text' from 'pkg' (/w/pkg/__init__.py)")
    assert stubbed(tmp_path, found)[0::2] == ("pkg/text.py", ["f"])


@pytest.mark.parametrize(
    ("files", "message", "frames"),
    [
        ({"requirements.txt": "slugs>=1\n"}, "No module named 'slugs'", ("test_m.py",)),
        ({"pyproject.toml": "[project]\ndependencies = ['slugs']\n"}, "No module named 'slugs'", ("test_m.py",)),
        ({"setup.cfg": "[options]\ninstall_requires =\n    slugs>1\n"}, "No module named 'slugs'", ("test_m.py",)),
        ({"setup.py": "setup(install_requires=['slugs>=2'])\n"}, "No module named 'slugs'", ("test_m.py",)),
        (
            {"pyproject.toml": "[tool.poetry.group.dev.dependencies]\nslugs = '*'\n"},
            "No module named 'slugs'",
            ("test_m.py",),
        ),
        ({}, "No module named 'numpy'", ("test_m.py",)),
        ({}, "No module named 'distutils'", ("test_m.py",)),
        ({"m.py": "import slugs\n"}, "No module named 'slugs'", ("test_m.py", "m.py")),
        ({"slugs.py": ""}, "No module named 'slugs.text'; 'slugs' is not a package", ("test_m.py",)),
        ({"m.py": "from os import nothing\n"}, "cannot import name 'nothing' from 'os' (unknown)", ("test_m.py",)),
        ({"m.py": "f = 1\n"}, "cannot import name 'f' from 'm' (/w/m.py)", ("test_m.py",)),
        ({"m.py": ""}, "cannot import name 'f' from partially initialized module 'm'", ("test_m.py",)),
        ({"m.py": "from n import f\n", "n.py": ""}, "cannot import name 'f' from 'n' (/w/n.py)", ("test_m.py", "m.py")),
        ({"tests/helpers.py": ""}, "cannot import name 'f' from 'tests.helpers' (x)", ("test_m.py",)),
        ({}, "name 'slugify' is not defined", ("test_m.py",)),
    ],
)
def test_what_is_not_missing_from_the_workspace(tmp_path, files, message, frames):
    write_files(tmp_path, {"test_m.py": "import slugs\nslugs.f()\n", **files})
    assert ask(tmp_path, message, "test_m.py", *frames) is None


CLASS = "class Foo:\n    def a(self):\n        return self.kept\n\n    # the end\n\n\nx = 1\n"


@pytest.mark.parametrize(
    ("message", "test", "block"),
    [
        (
            "'Foo' object has no attribute 'bar'",
            "Foo().bar(1)",
            '\n    def bar(self, *args, **kwargs):\n        raise NotImplementedError("bar")\n',
        ),
        (
            "'Foo' object has no attribute 'bar'. Did you mean: 'baz'?",
            "foo.bar == 1",
            '\n    @property\n    def bar(self):\n        raise NotImplementedError("bar")\n',
        ),
        (
            "type object 'Foo' has no attribute 'bar'",
            "Foo.bar(1)",
            '\n    @classmethod\n    def bar(cls, *args, **kwargs):\n        raise NotImplementedError("bar")\n',
        ),
        (
            "'Foo' object has no attribute 'bar'",
            "await foo.bar(1)",
            '\n    async def bar(self, *args, **kwargs):\n        raise NotImplementedError("bar")\n',
        ),
    ],
)
def test_a_member_of_a_class(tmp_path, message, test, block):
    write_files(
        tmp_path, {"pkg/m.py": CLASS, "test_m.py": f"from pkg.m import Foo\n\nasync def test_a():\n    {test}\n"}
    )
    path, text, names = stubbed(tmp_path, ask(tmp_path, message, kind="AttributeError"))
    assert (path, names) == ("pkg/m.py", ["Foo.bar"])
    assert text == CLASS.replace("return self.kept\n", "return self.kept\n" + block)


def test_a_base_that_sets_it_too_late_is_a_bug(tmp_path):
    source = "class Base:\n    def __init__(self):\n        self.bar = 1\n\nclass Foo(Base):\n    def __init__(self):\n        pass\n"
    write_files(tmp_path, {"m.py": source, "test_m.py": "from m import Foo\nFoo().bar\n"})
    assert ask(tmp_path, "'Foo' object has no attribute 'bar'", "test_m.py", kind="AttributeError") is None


def test_a_member_of_an_enumeration_is_no_method(tmp_path):
    write_files(tmp_path, {"m.py": "class Foo(IntEnum):\n    A = 1\n", "test_m.py": "from m import Foo\nFoo.bar\n"})
    assert ask(tmp_path, "type object 'Foo' has no attribute 'bar'", "test_m.py", kind="AttributeError") is None


@pytest.mark.parametrize(
    ("message", "test", "wanted"),
    [
        ("object of type 'Foo' has no len()", "len(Foo())", "    def __len__(self, *args, **kwargs):\n"),
        ("Foo() takes no arguments", "Foo(1)", "    def __init__(self, *args, **kwargs):\n"),
        (
            "Can't instantiate abstract class Foo with abstract methods b, c",
            "Foo()",
            "    def c(self, *args, **kwargs):\n",
        ),
    ],
)
def test_a_special_or_abstract_method(tmp_path, message, test, wanted):
    source = "class Base(ABC):\n    @abstractmethod\n    def b(self): ...\n\nclass Foo(Base):\n    x = 1\n"
    write_files(tmp_path, {"m.py": source, "test_m.py": f"from m import Foo\n{test}\n"})
    path, text, _names = stubbed(tmp_path, ask(tmp_path, message, "test_m.py", kind="TypeError"))
    assert (path, text.startswith(source), wanted in text) == ("m.py", True, True)


@pytest.mark.parametrize(
    ("message", "frames"),
    [
        ("'Foo' object has no attribute 'kept'", ("test_m.py",)),  # set in the class, only not in time
        ("'Foo' object has no attribute 'bar'", ("test_m.py", "m.py")),  # asked for by the code itself
        ("'NoneType' object has no attribute 'bar'", ("test_m.py",)),
        ("'Foo' object has no attribute '__len__'", ("test_m.py",)),
        ("module 'm' has no attribute 'known'", ("test_m.py",)),
        ("module 'json' has no attribute 'bar'", ("test_m.py",)),
    ],
)
def test_attribute_errors_that_are_bugs(tmp_path, message, frames):
    source = "known = 1\nclass Foo:\n    def a(self):\n        self.kept = 1\n"
    write_files(tmp_path, {"m.py": source, "test_m.py": "from m import Foo\nFoo().bar()\n"})
    assert ask(tmp_path, message, "test_m.py", *frames, kind="AttributeError") is None


def test_an_attribute_of_a_module(tmp_path):
    write_files(
        tmp_path, {"m.py": "x = 1\n", "test_m.py": "import m\ndef test_a():\n    assert m.f() == m.g() == m.x\n"}
    )
    found = ask(tmp_path, "module 'm' has no attribute 'f'", kind="AttributeError")
    assert stubbed(tmp_path, found)[2] == ["f", "g"]


def test_the_message_may_be_in_the_rendering_only(tmp_path):
    write_files(tmp_path, {"m.py": "", "test_m.py": "from m import f\n"})
    text = "test_m.py:1: in <module>\n    from m import f\nE   ImportError: cannot import name 'f' from 'm' (/w/m.py)\n"
    shown = Failure(type="CollectError", message="", text=text)
    found = missing_names.find_missing([shown], lambda path: sources.read_text(tmp_path, path), tmp_path, "test_m.py")
    assert found is not None
    assert found.names == ("f",)


def test_a_second_miss_builds_on_the_first_stub(tmp_path):
    write_files(tmp_path, {"test_m.py": "from m import f\nfrom m import g\nimport m\ndef test_a():\n    m.h()\n"})
    laid = {}

    def text_of(path):
        return laid.get(path) or sources.read_text(tmp_path, path)

    found = missing_names.find_missing([failure("No module named 'm'", "test_m.py")], text_of, tmp_path, "test_m.py")
    files, first = stubs.add_stubs(found, text_of)
    laid.update(files)
    assert {region.qualname for region in first} == {"f", "g", "h"}
    again = missing_names.find_missing(
        [failure("cannot import name 'k' from 'm' (/w/m.py)", "test_m.py")], text_of, tmp_path, "test_m.py"
    )
    files, second = stubs.add_stubs(again, text_of)
    assert [region.qualname for region in second] == ["k"]
    assert files["m.py"].startswith(laid["m.py"].rstrip())
    moved = regions.relocate(first[0], files["m.py"])
    assert moved == first[0]


PROPERTY = "class A:\n    @property\n    def n(self):\n        return 1\n"
SETTER = '\n    @n.setter\n    def n(self, value):\n        raise NotImplementedError("n")\n'


def test_a_setter_of_a_property_that_has_none(tmp_path):
    write_files(tmp_path, {"m.py": PROPERTY, "test_m.py": "from m import A\ndef test_a():\n    A().n = 1\n"})
    found = ask(tmp_path, "property 'n' of 'A' object has no setter", kind="AttributeError")
    assert stubbed(tmp_path, found) == ("m.py", PROPERTY + SETTER, ["A.n"])
    (setter,) = stubs.add_stubs(found, {"m.py": PROPERTY}.get)[1]
    getter = regions.relocate(setter, PROPERTY)
    before, below = PROPERTY + SETTER, "import os\n\n\n" + PROPERTY + SETTER
    moved = [regions.relocate(each, below, before) for each in (getter, setter)]
    assert [(each.start, each.end) for each in (getter, setter, *moved)] == [(2, 4), (6, 8), (5, 7), (9, 11)]
    assert regions.relocate(getter, before, PROPERTY) == getter


def test_a_property_that_no_class_of_the_workspace_has_gets_no_setter(tmp_path):
    write_files(tmp_path, {"m.py": "class A(Base):\n    pass\n", "test_m.py": "from m import A\n"})
    assert ask(tmp_path, "property 'n' of 'A' object has no setter", kind="AttributeError") is None


def test_a_misspelled_import_of_the_code_under_test_asks_for_no_new_module(tmp_path):
    write_files(
        tmp_path, {"pkg/__init__.py": "", "pkg/utils.py": "def low(): ...\n", "pkg/m.py": "from pkg.util import low\n"}
    )
    assert ask(tmp_path, "No module named 'pkg.util'", "test_m.py", "pkg/m.py") is None
    (tmp_path / "pkg" / "m.py").write_text("from pkg.other import new\n")
    assert ask(tmp_path, "No module named 'pkg.other'", "test_m.py", "pkg/m.py").path == "pkg/other.py"


RECORD = "@dataclass\nclass Foo:\n    x: int\n"


@pytest.mark.parametrize(
    ("source", "message", "test", "stub"),
    [
        (RECORD, "'Foo' object has no attribute 'bar'", "Foo(1).bar", False),
        (RECORD, "'Foo' object has no attribute 'bar'", "Foo(1).bar()", True),
        (RECORD, "'<' not supported between instances of 'Foo' and 'Foo'", "Foo(1) < Foo(2)", False),
        (RECORD, "unhashable type: 'Foo'", "{Foo(1)}", False),
        (RECORD, "object of type 'Foo' has no len()", "len(Foo(1))", True),
        (RECORD.replace("@dataclass\n", ""), "'Foo' object has no attribute 'bar'", "Foo().bar", True),
        ("class Foo(Enum):\n    A = 1\n", "'<' not supported between instances of 'Foo' and 'Foo'", "Foo.A < Foo.A", False),
    ],
)  # fmt: skip
def test_what_the_definition_of_a_record_decides_is_no_method(tmp_path, source, message, test, stub):
    write_files(tmp_path, {"m.py": source, "test_m.py": f"from m import Foo\n{test}\n"})
    kind = "AttributeError" if "attribute" in message else "TypeError"
    assert (ask(tmp_path, message, "test_m.py", kind=kind) is not None) is stub


def test_a_module_that_exists_elsewhere_is_not_written_a_second_time(tmp_path):
    test = "packages/api/tests/test_cards.py"
    files = {"packages/api/src/api/cards.py": "def last4(n):\n    return n\n", test: "from api.cards import last4\n"}
    write_files(tmp_path, files)
    assert ask(tmp_path, "No module named 'api'", test, kind="ModuleNotFoundError") is None
