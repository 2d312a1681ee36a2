"""The whole story in real editors, with the real server and sandbox and a scripted model.

An editor is started once; each story has files of its own. A candidate that waits for a file holds a run where it is.
"""

import json
from pathlib import Path

import pytest

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(240)]

REFINE = "Refine until tests pass: "


def code(text):
    """A model's answer with this code."""
    return f"```python\n{text}```"


def edit(path, before, after):
    """A capable model's answer that replaces lines of a file."""
    return f"{path}\n<<<<<<< SEARCH\n{before}=======\n{after}>>>>>>> REPLACE\n"


def double(value, name="double"):
    return f"def {name}(x):\n    return {value}\n"


def red(name):
    """A module whose function adds one, and its test."""
    test = f"from {name} import {name}\n\n\ndef test_{name}():\n    assert {name}(5) == 10\n"
    return {name: double("x + 1", name), f"test_{name}": test}


def waiting(value, name, root):
    """A candidate that returns when something stands in the file `NAME.go`.

    It is there from the start: what is made while a candidate runs, the throw-away layer over the folder does not show.
    """
    (root / f"{name}.go").touch()
    go = json.dumps(str(root / f"{name}.go"))
    return code(
        f"def {name}(x):\n    import time\n    while not open({go}).read():\n"
        f"        time.sleep(0.01)\n    return {value}\n"
    )


def go(name, editor):
    """Lets the candidate that waits go on."""
    (editor.root / f"{name}.go").write_text("go")


@pytest.mark.story("a red test becomes a verified edit")
def test_a_red_test_becomes_a_verified_edit_that_one_undo_takes_back(editor):
    files = red("plus")
    answers = code(double("x * 3", "plus")), waiting("x * 4", "plus", editor.root), code(double("x * 2", "plus"))
    editor.put(*answers, **files)
    editor.open("plus.py", "test_plus.py")
    offered = editor.act("test_plus.py", 4, REFINE + "test_plus")
    assert REFINE + "test_plus" in offered
    # The first attempt's failure at the line of its assertion, the summary at the test's name.
    first = editor.shows("test_plus.py", 5, "15 == 10")
    assert "attempt 1/" in first["source"] or not editor.kind.sources
    editor.shows("test_plus.py", 4, "Refining test_plus", "attempt 1: 0/1 passed")
    if editor.kind.progress:
        editor.wait("progress", lambda: "Refining test_plus: attempt 2/" in editor("progress"))
    go("plus", editor)
    editor.becomes("plus.py", double("x * 2", "plus"))
    editor.told("Changed plus.py:2")
    editor.is_clear("test_plus.py")
    hover = editor("hover", "plus.py", 1, 5)
    assert all(row in hover for row in ("| attempt", "your code", "AssertionError", "passed 1/1")), hover
    editor("undo", "plus.py")
    assert editor("text", "plus.py") == files["plus"]
    editor.act("test_plus.py", 4, "Apply refined plus (verified")
    editor.becomes("plus.py", double("x * 2", "plus"))
    assert {name: editor.disk(f"{name}.py") for name in files} == files


@pytest.mark.parametrize("module", ["open", "closed"])
def test_a_test_written_first_gets_its_function(editor, module):
    """The test is typed and not saved; the function lands in the module, whether it is open or not."""
    name = f"first_{module}"
    before = "def other(x):\n    return x\n"
    editor.put(code(double("x * 2")), **{name: before, f"test_{name}": f"import {name}\n"})
    editor.open(*([f"{name}.py"] if module == "open" else []), f"test_{name}.py")
    editor("append", f"test_{name}.py", f"\n\ndef test_double():\n    assert {name}.double(5) == 10")
    editor.act(f"test_{name}.py", 4, REFINE + "test_double")
    editor.becomes(f"{name}.py", f"{before}\n\n{double('x * 2')}")
    editor.told(f"Changed {name}.py:5")
    assert "wants to edit" not in "".join(editor("messages"))
    editor("undo", f"{name}.py")
    assert editor("text", f"{name}.py") == before
    assert editor.disk(f"{name}.py") == before
    assert editor.disk(f"test_{name}.py") == f"import {name}\n"


def test_a_test_written_first_gets_its_module(editor):
    """An editor that cannot create files keeps the result; it fits as soon as the file is there."""
    test = "from fresh import double\n\n\ndef test_double():\n    assert double(5) == 10\n"
    editor.put(code(double("x * 2")), test_fresh=test)
    editor.open("test_fresh.py")
    editor.act("test_fresh.py", 4, REFINE + "test_double")
    if not editor.kind.creates:
        editor.told("Not applied: this editor cannot create fresh.py")
        (editor.root / "fresh.py").write_text("")
        editor.open("fresh.py")
        editor.act("test_fresh.py", 4, "Apply refined double (verified")
    editor.becomes("fresh.py", double("x * 2"))
    editor.told("Changed fresh.py:1")
    assert editor.disk("fresh.py") in (None, "")


@pytest.mark.story("a docstring becomes an implementation", only=("nvim-0.11", "eglot"))
def test_a_docstring_becomes_an_implementation(editor):
    head = 'def triple(x):\n    """Three times x.\n\n    >>> triple(2)\n    6\n    """\n'
    before = f"{head}    raise NotImplementedError\n"
    editor.put(code("def triple(x):\n    return x + 3\n"), code("def triple(x):\n    return x * 3\n"), told=before)
    editor.open("told.py")
    assert "Implement from docstring: triple" in editor.act("told.py", 2, "Implement from docstring: triple")
    editor.becomes("told.py", f"{head}    return x * 3\n")
    editor.told("Changed told.py:7")
    editor("undo", "told.py")
    assert editor("text", "told.py") == before


@pytest.mark.story("a class is filled", only=("nvim-0.11",))
def test_a_class_is_filled_in_one_edit(editor):
    def box(*bodies):
        heads = ("__init__(self)", "put(self, item)", "take(self)")
        return "class Box:\n" + "\n".join(
            f"    def {head}:\n        {body}\n" for head, body in zip(heads, bodies, strict=True)
        )

    before = box(*["raise NotImplementedError"] * 3)
    after = box("self.items = []", "self.items.append(item)", "return self.items.pop()")
    test = "from filled import Box\n\n\ndef test_box():\n    box = Box()\n    box.put(1)\n    assert box.take() == 1\n"
    editor.put(code(after), filled=before, test_filled=test)
    editor.open("filled.py")
    assert "Fill this class: Box" in editor.act("filled.py", 1, "Fill this class: Box")
    editor.becomes("filled.py", after)
    editor("undo", "filled.py")
    assert editor("text", "filled.py") == before


@pytest.mark.story("an unsolved run goes on", only=("nvim-0.11",))
def test_an_unsolved_run_goes_on(editor):
    editor.put(code(double("x * 3", "again")), **red("again"))
    editor.open("again.py", "test_again.py")
    editor.act("test_again.py", 4, REFINE + "test_again")
    editor.told("test_again is not solved: The scripted model ran out")
    editor.put(code(double("x * 2", "again")))
    editor.act("test_again.py", 4, "Continue after 1 attempt: test_again")
    editor.becomes("again.py", double("x * 2", "again"))
    hover = editor("hover", "again.py", 1, 5)
    assert all(row in hover for row in ("AssertionError", "passed 1/1")), hover


@pytest.mark.story("text typed meanwhile is merged and verified again", only=("nvim-0.11", "lsp-mode"))
def test_what_is_typed_meanwhile_stays(editor):
    files = red("typed")
    editor.put(waiting("x * 4", "typed", editor.root), code(double("x * 2", "typed")), **files)
    editor.open("typed.py", "test_typed.py")
    editor.act("test_typed.py", 4, REFINE + "test_typed")
    editor.shows("test_typed.py", 4, "Refining test_typed")
    editor("type", "typed.py", 1, "# mine")
    go("typed", editor)
    editor.becomes("typed.py", "# mine\n" + double("x * 2", "typed"))
    editor.told("together with your edits")
    editor("undo", "typed.py")
    assert editor("text", "typed.py") == "# mine\n" + files["typed"]


def test_passing_code_becomes_faster(editor):
    head = "def unique(items):\n"
    slow = f"{head}    seen = []\n    for item in items:\n        if item not in seen:\n            seen.append(item)\n"
    slow += "    return seen\n"
    fast = f"{head}    return list(dict.fromkeys(items))\n"
    test = "from swift import unique\n\n\ndef test_few():\n    assert unique([3, 1, 3]) == [3, 1]\n\n\n"
    test += "def test_many():\n    many = list(range(2000))\n    assert unique(many * 2) == many\n"
    editor.put(code(fast), swift=slow, test_swift=test)
    editor.open("swift.py", "test_swift.py")
    editor.configure(sandbox={"seconds": 60})  # on a busy machine the comparison may take more than the default
    editor.act("swift.py", 1, REFINE + "unique")
    editor.told("already passes", "choose 'Improve while tests pass'")
    offered = editor.act("swift.py", 1, "Improve while tests pass (faster): unique")
    assert "Improve while tests pass (less memory): unique" in offered
    # Both texts run fifteen times at least, and once more for the proof.
    editor.wait("faster swift.py", lambda: editor("text", "swift.py") == fast, seconds=120)
    editor.told("Improved: unique, ", " ms → ", "2 tests unchanged", "Changed swift.py:2")
    hover = editor("hover", "swift.py", 1, 5)
    assert all(row in hover for row in ("before: ", "██", "if item not in seen:", "after: ")), hover
    editor("undo", "swift.py")
    assert editor("text", "swift.py") == slow
    assert editor.disk("swift.py") == slow


@pytest.mark.story("a capable model looks at the project", only=("nvim-0.11",))
def test_a_capable_model_looks_before_it_answers(editor):
    """Its looks are in the hover, at the test and at the function that it changed."""
    lookup = "    return RATES[kind.strip()]\n"
    shop = 'import json\nfrom pathlib import Path\n\nRATES = json.loads((Path(__file__).parent / "rates.json").read_text())\n'
    shop += f"\n\ndef price(kind):\n{lookup}"
    right = lookup.replace("strip()", "strip().lower()")
    (editor.root / "rates.json").write_text('{"pen": 19}\n')
    test = "from shop import price\n\n\ndef test_price():\n    assert price(' Pen ') == 19\n"
    calls = {"calls": [["read", {"path": "rates.json"}], ["search", {"text": "RATES"}]], "text": ""}
    editor.put(calls, edit("shop.py", lookup, right), shop=shop, test_shop=test)
    editor.open("shop.py", "test_shop.py")
    editor.configure(preset="default", modelKind="capable")
    editor.act("test_shop.py", 4, REFINE + "test_price")
    editor.becomes("shop.py", shop.replace(lookup, right))
    editor.told("Changed shop.py:8")
    hover = editor("hover", "shop.py", 7, 5)
    assert "scripted (capable)" in hover, hover
    assert "1 question, 2 looks, " in hover, hover
    looks = hover.partition("Looks before attempt ")[2]
    assert "read rates.json" in looks, hover
    assert "search RATES: shop.py:4: RATES = json.loads(" in looks, hover
    assert hover == editor("hover", "test_shop.py", 4, 5)
    editor("undo", "shop.py")
    assert editor("text", "shop.py") == shop


def test_what_is_typed_in_the_same_lines_wins(editor):
    files = red("clash")
    editor.put(waiting("x * 4", "clash", editor.root), code(double("x * 2", "clash")), **files)
    editor.open("clash.py", "test_clash.py")
    editor.act("test_clash.py", 4, REFINE + "test_clash")
    editor.shows("test_clash.py", 4, "Refining test_clash")
    editor("type", "clash.py", 2, "    x = x")
    go("clash", editor)
    editor.told("Not applied: clash.py changed at the same place during the run.")
    assert editor("text", "clash.py") == "def clash(x):\n    x = x\n    return x + 1\n"
    editor("undo", "clash.py")
    assert editor("text", "clash.py") == files["clash"]
    editor.act("clash.py", 1, "Apply refined clash (verified")
    editor.becomes("clash.py", double("x * 2", "clash"))


@pytest.mark.story("cancelling leaves nothing behind", only=("nvim-0.11-action", "eglot-action"))
@pytest.mark.parametrize("by", ["action", "name"])
def test_a_run_is_cancelled(editor, by):
    name = f"halt_{by}"
    files = red(name)
    editor.put(waiting("x * 4", name, editor.root), **files)
    editor.open(f"{name}.py", f"test_{name}.py")
    editor.act(f"test_{name}.py", 4, REFINE + f"test_{name}")
    editor.shows(f"test_{name}.py", 4, f"Refining test_{name}")
    if by == "action":
        offered = editor.act(f"test_{name}.py", 4, f"Cancel refinement: test_{name}")
        assert REFINE + f"test_{name}" not in offered
    else:
        editor("command", f"test_{name}.py", 4, "cancel")
    editor.is_clear(f"test_{name}.py")
    assert REFINE + f"test_{name}" in editor("titles", f"test_{name}.py", 4)
    assert editor("text", f"{name}.py") == files[name]


def test_attempts_are_shown(editor):
    files = red("shown")
    editor.put(code(double("x * 3", "shown")), code(double("x * 2", "shown")), **files)
    editor.open("shown.py", "test_shown.py")
    editor.act("test_shown.py", 4, REFINE + "test_shown")
    editor.becomes("shown.py", double("x * 2", "shown"))
    editor.told("Changed shown.py:2")
    editor.act("test_shown.py", 4, "Show attempts: test_shown")
    if editor.kind.shows:
        editor.wait("report", lambda: any(each.startswith("test_shown-") for each in editor("buffers")))
    else:
        report = editor.told("The attempts are in ").rpartition("The attempts are in ")[2].strip()
        assert "return x * 3" in Path(report).read_text()


def test_settings_hold_at_once(editor):
    files = red("asked")
    editor.put(code(double("x * 2", "asked")), **files)
    editor.open("asked.py", "test_asked.py")
    editor.configure(apply="ask")
    editor.act("test_asked.py", 4, REFINE + "test_asked")
    editor.told("test_asked passes", "Not applied automatically")
    assert not any("Apply the change?" in each for each in editor("messages"))
    assert editor("text", "asked.py") == files["asked"]
    editor.configure(apply="verified")
    editor.act("test_asked.py", 4, "Apply refined asked (verified")
    editor.becomes("asked.py", double("x * 2", "asked"))


def test_tests_run_on_request_and_on_save(editor):
    files = red("saved")
    right = double("x * 2", "saved")
    editor.put(**files)
    editor.open("saved.py", "test_saved.py")
    editor("command", "test_saved.py", 4, "runTest")
    editor.shows("test_saved.py", 5, "6 == 10")
    editor.told("1 failed in ")
    editor.configure(editor={"save": "affected"})
    editor("type", "saved.py", 2, "    return x * 2")
    editor("save", "saved.py")
    editor.is_clear("test_saved.py")
    assert editor.disk("saved.py") == right + "    return x + 1\n"


def test_lenses_stand_above_tests(editor):
    if not editor.kind.lenses:
        pytest.skip(f"{editor.kind.name} does not declare code lenses")
    files = red("seen")
    editor.put(code(double("x * 2", "seen")), **files)
    editor.open("seen.py", "test_seen.py")

    def shown():
        editor("lenses", "seen.py", 1)  # to another buffer and back, which looks again
        return [each["title"] for each in editor("lenses", "test_seen.py", 4) if each["line"] == 4]

    editor.wait("lenses of the test", lambda: {"▶ Run", "Refine"} <= set(shown()))
    editor("lens", "test_seen.py", 4, "Refine")
    editor.becomes("seen.py", double("x * 2", "seen"))
    editor.wait("lens of the result", lambda: "✓ verified" in shown())


@pytest.mark.story("a killed server is started again", only=("nvim-0.11",))
def test_a_killed_server_is_started_again(editor):
    files = red("killed")
    editor.put(waiting("x * 4", "killed", editor.root), code(double("x * 2", "killed")), **files)
    editor.open("killed.py", "test_killed.py")
    editor("type", "killed.py", 1, "# mine")
    editor.act("test_killed.py", 4, REFINE + "test_killed")
    editor.shows("test_killed.py", 4, "Refining test_killed")
    (server,) = editor.servers()
    family = [server, *server.children(recursive=True)]
    server.kill()
    editor.wait("end of all that belonged to the server", lambda: not any(each.is_running() for each in family))
    editor("restart", ["test_killed.py", "killed.py"])
    assert editor("text", "killed.py") == "# mine\n" + files["killed"]
    go("killed", editor)
    editor.act("test_killed.py", 4, REFINE + "test_killed")
    editor.becomes("killed.py", "# mine\n" + double("x * 2", "killed"))
    editor.is_clear("test_killed.py")
    assert editor.disk("killed.py") == files["killed"]


@pytest.mark.story("a server ends with its editor", only=("nvim-0.11", "eglot"))
def test_the_end_leaves_nothing(editor):
    family = [each for server in editor.servers() for each in (server, *server.children(recursive=True))]
    assert family
    editor("stop")
    editor.wait("end of the server and its sandboxes", lambda: not any(each.is_running() for each in family))
