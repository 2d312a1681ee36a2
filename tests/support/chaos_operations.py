"""All that the random editor does, each with its weight; here what it does with the server, whose offers it takes."""

import asyncio

import chaos_typing as typing

COMMANDS = ("greenloop.apply", "greenloop.discard", "greenloop.showAttempts", "greenloop.cancel", "greenloop.showTests")
TESTS = ("greenloop.runTest", "greenloop.refineAll", "greenloop.showAttempt", "greenloop.compare")


def _here(editor, dice):
    document = typing.some(editor, dice)
    if document is None:
        return None, None
    rows = typing.rows_of(document.text)
    named = [n for n, (start, end, _next) in enumerate(rows) if document.text[start:end].startswith("def ")]
    row = dice.choice(named) if named and dice.random() < 0.6 else dice.randrange(len(rows))
    return {"uri": document.uri}, {"line": row, "character": dice.choice((0, 4, 400))}


async def look(editor, dice):
    """Moves the cursor: the editor asks for actions and hovers; nobody waits for the answers."""
    document, here = _here(editor, dice)
    if document:
        context = {"diagnostics": editor.published.get(document["uri"], [])[:3]}
        params = {"textDocument": document, "range": {"start": here, "end": here}, "context": context}
        editor.asked("textDocument/codeAction", params)
        editor.asked("textDocument/hover", {"textDocument": document, "position": here})


async def look_at_lenses(editor, dice):
    document, _ = _here(editor, dice)
    if document and "codeLensProvider" in editor.capabilities:
        lenses = await editor.call("textDocument/codeLens", {"textDocument": document}) or []
        _choose(editor, dice, [each["command"] for each in lenses if each.get("command")])


async def choose_action(editor, dice):
    """Takes one of the actions that are offered, whichever it is."""
    document, here = _here(editor, dice)
    if document:
        params = {"textDocument": document, "range": {"start": here, "end": here}, "context": {"diagnostics": []}}
        before = editor.open[document["uri"]].text
        actions = await editor.call("textDocument/codeAction", params) or []
        edits = [each["edit"] for each in actions if "edit" in each]
        if edits and dice.random() < 0.5 and editor.shows(document["uri"]) == before:
            editor.apply(dice.choice(edits), 0.0)
            return
        _choose(editor, dice, [each["command"] for each in actions if isinstance(each.get("command"), dict)])


def _choose(editor, dice, commands):
    if commands:
        command = dice.choice(commands)
        editor.counts[command["command"]] += 1
        editor.asked("workspace/executeCommand", {"command": command["command"], "arguments": command["arguments"]})


def _target(editor, uri, dice):
    name, number = editor.files[uri].name, dice.randrange(3)
    if dice.random() < 0.3:
        name = dice.choice(("a.py", "test_b.py", "c.py"))
    return f"{name}::{'test_' if 'test_' in name else ''}f{number}"


async def refine(editor, dice):
    uri = dice.choice(sorted(editor.open) or sorted(editor.disk))
    where = {"test": _target(editor, uri, dice)}
    if dice.random() < 0.3:
        where = {"position": {"line": dice.randrange(12), "character": 0}}
    params = {"uri": uri, **where}
    if dice.random() < 0.7:
        editor.asked("workspace/executeCommand", {"command": "greenloop.refine", "arguments": [params]})
        return
    number = editor.asked("greenloop/refine", params)
    if dice.random() < 0.4:
        await asyncio.sleep(dice.choice((0, 0.01)))
        editor.notify("$/cancelRequest", {"id": number})


async def command(editor, dice):
    name, uri = dice.choice(COMMANDS), dice.choice(sorted(editor.open) or sorted(editor.disk))
    argument = dice.choice(({"uri": uri}, {"uri": uri, "target": _target(editor, uri, dice)}))
    editor.asked("workspace/executeCommand", {"command": name, "arguments": [argument]})


async def run_tests(editor, dice):
    """Runs tests, refines all that fail, steps through attempts, compares: of a file or a target that may be there."""
    name, uri = dice.choice(TESTS), dice.choice(sorted(editor.open) or sorted(editor.disk))
    argument = {"uri": uri, **({"target": _target(editor, uri, dice)} if dice.random() < 0.6 else {})}
    if name in ("greenloop.showAttempt", "greenloop.compare"):
        argument = {"uri": uri, "target": _target(editor, uri, dice), "attempt": dice.randrange(4)}
    if name in editor.commands:
        editor.counts[name] += 1
        editor.asked("workspace/executeCommand", {"command": name, "arguments": [argument]})


async def cancel_all(editor, dice):
    editor.asked("workspace/executeCommand", {"command": "greenloop.cancel", "arguments": []})


async def cancel_progress(editor, dice):
    if editor.tokens:
        editor.notify("window/workDoneProgress/cancel", {"token": dice.choice(editor.tokens)})


async def reconfigure(editor, dice):
    table = dice.choice(
        (
            {"apply": "ask"},
            *[{"apply": "verified"}] * 3,
            {"attempts": dice.randint(1, 9)},
            {"editor": {"runs": dice.randint(1, 5), "lens": dice.random() < 0.8}},
            {"editor.save": dice.choice(("off", "affected"))},
            {"attempts": "many"},
            {"nonsense": 1},
        )
    )
    editor.notify("workspace/didChangeConfiguration", {"settings": {"greenloop": table}})


async def change_folders(editor, dice):
    other = {"uri": editor.folders["other"], "name": "other"}
    there = editor.folders["other"] in editor.added
    (editor.added.discard if there else editor.added.add)(other["uri"])
    event = {"added": [] if there else [other], "removed": [other] if there else []}
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})


async def wait(editor, dice):
    await asyncio.sleep(dice.choice((0.01, 0.03)))


OPERATIONS = {
    "type": (28, typing.type_text),
    "type at several places": (5, typing.type_at_several),
    "type, whole text sent": (3, typing.type_whole),
    "take away": (4, typing.take_away),
    "break syntax": (2, typing.break_syntax),
    "scratch": (2, typing.write_scratch),
    "undo": (6, typing.undo),
    "redo": (4, typing.redo),
    "save": (5, typing.save),
    "close": (3, typing.close),
    "open": (4, typing.show),
    "rename": (0.7, typing.rename),
    "change on disk": (3, typing.change_disk),
    "look": (10, look),
    "lenses": (2, look_at_lenses),
    "choose an action": (10, choose_action),
    "refine": (11, refine),
    "command": (5, command),
    "tests": (5, run_tests),
    "cancel all": (0.3, cancel_all),
    "cancel progress": (0.5, cancel_progress),
    "reconfigure": (2, reconfigure),
    "folders": (1, change_folders),
    "wait": (4, wait),
}
