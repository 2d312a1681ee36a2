"""What the random editor does with its texts and files; each function is one operation with dice of its own."""

import asyncio
import itertools

from chaos_texts import LINE

PLACES = ("# t{n}", "# t{n} ü🙂🙂", "# t{n} \x0c t{n}", "# t{n} \u2028 {n}", "# 🙂🙂 t{n}")
NUMBERS = itertools.count(1)
LONGEST = 90  # lines, from which on lines are rather taken away


def text_of(file):
    """`a.py` and `test_a.py` and so on; `c` with CR LF, `b` with an astral letter and without an end."""
    name = file.removesuffix(".py").removeprefix("test_")
    if file.startswith("test_"):
        text = f"from {name} import f0, f1, f2\n\n\n" + "\n\n".join(
            f"def test_f{n}():\n    assert f{n}(5) == 10\n" for n in range(3)
        )
    else:
        text = "\n\n".join(f"def f{n}(x):\n    value = 1\n    return value + x\n" for n in range(3))
    if name == "b":
        text = "# 🙂\n" + text.rstrip("\n")
    return text.replace("\n", "\r\n") if name == "c" else text


def some(editor, dice):
    return editor.open[dice.choice(sorted(editor.open))] if editor.open else None


def rows_of(text):
    """Start and end (without its line end) of every line, the empty one at the end included."""
    found, at = [], 0
    for row in LINE.findall(text):
        found.append((at, at + len(row.rstrip("\r\n")), at + len(row)))
        at += len(row)
    return found if found and found[-1][1] == found[-1][2] else [*found, (at, at, at)]


def _spot(text, dice):
    """A change that types something: at the end of a line, or a line of its own."""
    typed = dice.choice(PLACES).format(n=next(NUMBERS))
    start, end, _next = dice.choice(rows_of(text))
    if dice.random() < 0.5:
        return end, end, f"  {typed}"
    newline = "\r\n" if "\r\n" in text else "\n"
    return start, start, typed + newline


async def type_text(editor, dice):
    document = some(editor, dice)
    if document is None:
        return
    if len(rows_of(document.text)) > LONGEST:
        await take_away(editor, dice)
    elif dice.random() < 0.3:
        # As it is typed: one letter after another.
        start, end, new = _spot(document.text, dice)
        for n, letter in enumerate(new[:12] if "\n" not in new else new[:0]):
            editor.change(document, [(start + n, end + n, letter)], kept=not n)
    else:
        editor.change(document, [_spot(document.text, dice)])


async def type_at_several(editor, dice):
    """Several changes in one notification, each in the text that the one before left."""
    document = some(editor, dice)
    if document is None:
        return
    text, spans = document.text, []
    for _ in range(dice.randint(2, 4)):
        start, end, new = _spot(text, dice)
        spans.append((start, end, new))
        text = text[:start] + new + text[end:]
    editor.change(document, spans)


async def type_whole(editor, dice):
    document = some(editor, dice)
    if document is not None:
        editor.change(document, [_spot(document.text, dice)], whole=True)


async def take_away(editor, dice):
    """Some lines that somebody typed."""
    document = some(editor, dice)
    if document is None:
        return
    typed = [row for row in rows_of(document.text) if document.text[row[0] : row[1]].lstrip().startswith("# ")]
    if typed:
        at = dice.randrange(len(typed))
        few = typed[at : at + dice.choice((1, 1, 2, 60))]
        editor.change(document, [(start, over, "") for start, _end, over in reversed(few)])


async def break_syntax(editor, dice):
    document = some(editor, dice)
    if document is not None:
        start, _end, _next = dice.choice(rows_of(document.text))
        editor.change(document, [(start, start, dice.choice(("def (:\n", '"""\n', "class\n", "    x = foo(\n")))])
        if dice.random() < 0.8:
            await undo(editor, dice, document)


async def write_scratch(editor, dice):
    """An empty file, odd line ends, nothing but form feeds: whatever a text may be."""
    uri = next(uri for uri in sorted({*editor.disk, *editor.open}) if uri.endswith("scratch.py"))
    if uri not in editor.open:
        editor.show(uri, editor.read(uri))
    document = editor.open[uri]
    pieces = ("\r", "\n", "\r\n", "\x0c", "a", "🙂", "\u2028", "def f0(x):\n    value = 1\n", "")
    text = "".join(dice.choice(pieces) for _ in range(dice.choice((0, 1, 3, 12))))
    if dice.random() < 0.5:
        editor.change(document, [(0, len(document.text), text)], whole=True)
    else:
        editor.become(document, text)


async def undo(editor, dice, document=None):
    document = document or some(editor, dice)
    if document and document.done:
        document.undone.append(document.text)
        editor.become(document, document.done.pop())


async def redo(editor, dice):
    document = some(editor, dice)
    if document and document.undone:
        document.done.append(document.text)
        editor.become(document, document.undone.pop())


async def save(editor, dice):
    document = some(editor, dice)
    if document is not None:
        editor.save(document.uri)
        editor.disk[document.uri] = editor.files[document.uri].read_bytes()


async def close(editor, dice):
    """As one closes: saved before, or what was typed is thrown away."""
    document = some(editor, dice)
    if document is not None and len(editor.open) > 1:
        if dice.random() < 0.5:
            await _saved(editor, document.uri)
        editor.hide(document.uri)


async def _saved(editor, uri):
    editor.save(uri)
    editor.disk[uri] = editor.files[uri].read_bytes()


async def show(editor, dice):
    closed = [uri for uri in sorted(editor.disk) if uri not in editor.open]
    if closed:
        uri = dice.choice(closed)
        editor.show(uri, editor.read(uri))


async def rename(editor, dice):
    """Saves, closes, moves, opens under the new name; and back again some other time."""
    document = some(editor, dice)
    if document is None:
        return
    await _saved(editor, document.uri)
    old = editor.files[document.uri]
    name = old.name.removeprefix("moved_") if old.name.startswith("moved_") else f"moved_{old.name}"
    new = old.with_name(name)
    if new.exists() or new.as_uri() in editor.open:
        return
    editor.hide(document.uri)
    old.rename(new)
    del editor.disk[document.uri]
    editor.disk[editor.uri(new)] = new.read_bytes()
    if dice.random() < 0.5:
        changes = [{"uri": old.as_uri(), "type": 3}, {"uri": new.as_uri(), "type": 1}]
        editor.notify("workspace/didChangeWatchedFiles", {"changes": changes})
    editor.show(new.as_uri(), document.text)


async def change_disk(editor, dice):
    """Another program writes a file, open or not; an editor may read it again."""
    uri = dice.choice(sorted(editor.disk))
    text = editor.read(uri)
    start, end, new = _spot(text, dice)
    text = text[:start] + new + text[end:]
    editor.files[uri].write_bytes(text.encode())
    editor.disk[uri] = text.encode()
    editor.touched[uri] = asyncio.get_running_loop().time()
    if uri in editor.open and dice.random() < 0.7:
        document = editor.open[uri]
        document.done.append(document.text)
        editor.become(document, text)
