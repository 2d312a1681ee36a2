"""An editor for the random session: buffers with undo, manners of its own, and edits checked as they land."""

import asyncio
import json
import re
from collections import Counter
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from chaos_texts import Broken, Document, aligned, offset, owned, position
from client_capabilities import missing_capabilities

# Seconds: what a server may not know yet of files, of documents, of keys.
RECENT = 1.0
BRIEF = 0.3
BLINK = 0.1


class Editor:
    """Speaks with a server process; `manners` decides by request how an edit is treated."""

    def __init__(self, process, root, dice):
        self.process, self.root, self.dice = process, root, dice
        self.open, self.files, self.published, self.counts = {}, {}, {}, Counter()
        self.pending, self.ids, self.late, self.broken = {}, 0, set(), None
        self.shown = {}
        self.tokens, self.errors, self.capabilities, self.commands = [], [], {}, []
        self.declared = {}
        self.encoding, self.answers = "utf-16", True
        self.disk, self.touched, self.folders, self.added = {}, {}, {}, set()
        self.closed = {}
        self.tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._read_errors())]

    # -- the wire -------------------------------------------------------------------------------------------------

    async def _read(self):
        await self._guarded(self._listen(self.process.stdout))
        for future in self.pending.values():
            if not future.done():
                future.set_exception(Broken("the server has ended"))

    async def _listen(self, stream):
        while line := await stream.readline():
            if not line.startswith(b"Content-Length: "):
                raise Broken(f"not the protocol: {line!r}")
            while await stream.readline() != b"\r\n":
                pass
            self._take(json.loads(await stream.readexactly(int(line.split(b":")[1]))))

    async def _read_errors(self):
        while line := await self.process.stderr.readline():
            self.errors.append(line.decode(errors="replace"))

    def _take(self, message):
        method, params = message.get("method"), message.get("params")
        if method is None:
            future = self.pending.pop(message["id"])
            # What is shown at this point of the stream, for whoever compares the two later.
            message["shown"] = dict(self.published)
            if not future.done():
                future.set_result(message)
        elif "id" in message:
            self.later(self._answer(message["id"], method, params))
        elif method == "window/showMessage":
            text = re.sub(r"\S*f\d\b|\d+", "…", params["message"])[:300]
            self.counts[re.sub(r"^.*(fixed|; not applied)", r"\1", text)] += 1
        elif method == "textDocument/publishDiagnostics":
            self.published[params["uri"]] = params["diagnostics"]
            self.counts["diagnostics published"] += 1

    def later(self, work):
        task = asyncio.create_task(self._guarded(work))
        self.late.add(task)
        task.add_done_callback(self.late.discard)

    async def _guarded(self, work):
        try:
            await work
        except Exception as error:  # noqa: BLE001 - told by whoever looks next
            self.broken = self.broken or error

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method, params=None):
        self.send({"method": method, "params": params})

    def request(self, method, params=None):
        self.ids += 1
        self.pending[self.ids] = future = asyncio.get_running_loop().create_future()
        self.send({"id": self.ids, "method": method, "params": params})
        return self.ids, future

    async def call(self, method, params=None, seconds=60):
        _number, future = self.request(method, params)
        async with asyncio.timeout(seconds):
            reply = await future
        self.shown = reply["shown"]
        if "error" in reply:
            raise Broken(f"{method} was answered {reply['error']}")
        return reply["result"]

    def asked(self, method, params):
        """A request whose reply is looked at when it comes: an internal error is none. Its number."""
        number, future = self.request(method, params)

        async def read():
            reply = await future
            # Parameters may have become wrong meanwhile, a request may have been cancelled.
            if reply.get("error", {}).get("code") not in (None, -32602, -32800):
                raise Broken(f"{method} {params} was answered {reply['error']}")

        self.later(read())
        return number

    # -- what the server asks -------------------------------------------------------------------------------------

    async def _answer(self, number, method, params):
        self.counts[method] += 1
        if lacking := missing_capabilities(self.declared, method, params or {}):
            raise Broken(f"the server asks for what this client never declared: {lacking}")
        if not self.answers:
            return
        if method == "workspace/applyEdit":
            await self._edit(number, params["edit"])
            return
        result = None
        if method == "window/showMessageRequest":
            # A person: takes a while, and sometimes chooses none.
            await asyncio.sleep(self.dice.choice((0, 0.01, 0.1)))
            options = params.get("actions") or []
            result = self.dice.choice([None, *options])
        elif method == "workspace/configuration":
            result = [self.dice.choice((None, {})) for _ in params["items"]]
        elif method == "window/showDocument":
            result = {"success": self.dice.random() < 0.8}
        elif method == "window/workDoneProgress/create":
            self.tokens = [*self.tokens[-5:], params["token"]]
            if self.dice.random() < 0.1:
                self.send({"id": number, "error": {"code": -32603, "message": "no"}})
                return
        self.send({"id": number, "result": result})

    async def _edit(self, number, edit):
        """Most editors do what they say; some are slow, some refuse, some say what is not so."""
        since = asyncio.get_running_loop().time() - RECENT
        manner = self.dice.choices(
            ("good", "refuses", "replies late", "applies late", "lies no", "lies yes", "error", "silent"),
            (70, 8, 6, 6, 3, 1, 3, 3),
        )[0]
        if manner == "applies late":
            self.send({"id": number, "result": {"applied": True}})
            await asyncio.sleep(self.dice.uniform(0, 0.3))
        if manner in ("refuses", "lies yes"):
            self.send({"id": number, "result": {"applied": manner == "lies yes", "failureReason": "not now"}})
            return
        if manner == "error":
            self.send({"id": number, "error": {"code": -32601, "message": "what?"}})
            return
        applied = self.apply(edit, since)
        if manner == "replies late":
            await asyncio.sleep(self.dice.uniform(0, 0.2))
        if manner in ("good", "replies late"):
            self.send({"id": number, "result": {"applied": applied}})
        elif manner == "lies no":
            self.send({"id": number, "result": {"applied": False}})
        elif manner == "silent":
            # As good as never; an answer that is none.
            await asyncio.sleep(1.5)
            self.send({"id": number, "result": None})

    def apply(self, edit, since):
        """All of it or nothing; False where a version or a file is not as the server thought.

        A file that the server believes closed carries no version: here one that was opened or written a moment ago
        is left alone, as nothing else could tell that the edit was made for another text. So is one that was closed
        and opened a moment ago, and has had that version before. An edit without versions is left alone in the blink
        of an eye after something was typed: the server waits for longer than that, and what crosses it nobody could
        tell.
        """
        wanted, changes, now = [], edit.get("documentChanges"), asyncio.get_running_loop().time()
        blind = changes is None
        if blind:
            changes = [{"textDocument": {"uri": u, "version": None}, "edits": e} for u, e in edit["changes"].items()]
        for change in changes:
            if "kind" in change:
                continue
            uri, version = change["textDocument"]["uri"], change["textDocument"]["version"]
            document = self.open.get(uri)
            new = {"kind": "create", "uri": uri, "options": {"overwrite": False, "ignoreIfExists": True}} in changes
            if version is not None and (document is None or document.version != version):
                self.counts["edits refused: stale"] += 1
                return False
            if blind and document is not None:
                if document.typed > now - BLINK:
                    self.counts["edits refused: typed meanwhile"] += 1
                    return False
                version = document.version
            if version is None and (document is not None or self.touched.get(uri, 0) > since):
                self.counts["edits refused: opened or written meanwhile"] += 1
                return False
            first, last, when = self.closed.get(uri, (0, 0, 0.0))
            if version is not None and first <= version <= last and when > now - BRIEF:
                self.counts["edits refused: closed and opened meanwhile"] += 1
                return False
            old = document.text if document else self.read(uri) if not new or self.there(uri) else ""
            if old is None:
                return False
            wanted.append((uri, old, change["edits"]))
        for uri, old, edits in wanted:
            at = partial(offset, old, encoding=self.encoding)
            ordered = sorted(edits, key=lambda each: at(each["range"]["start"]), reverse=True)
            spans = [(at(e["range"]["start"]), at(e["range"]["end"]), e["newText"]) for e in ordered]
            text = old
            for start, end, new in spans:
                text = text[:start] + new + text[end:]
            self._check(uri, old, text, edits)
            if uri not in self.open:
                self.show(uri, old)
            self.change(self.open[uri], [(start, end, new) for start, end, new in spans])
        self.counts["edits applied"] += 1
        return True

    def _check(self, uri, old, new, edits):
        mine, marks = owned(old)
        after, landed = owned(new)
        if mine != after:
            lost = next(
                (pair for pair in zip(mine, after, strict=False) if pair[0] != pair[1]), (mine[-1:], after[-1:])
            )
            raise Broken(f"an edit damaged {uri} (open: {uri in self.open}): {lost}: {edits} in {old!r}")
        twice = [mark for mark in set(landed) - set(marks) if landed.count(mark) > 1]
        twice += [mark for mark in marks if landed.count(mark) > max(marks.count(mark), 1)]
        if twice:
            raise Broken(f"a result landed twice in {uri}: {twice}")

    # -- buffers --------------------------------------------------------------------------------------------------

    def path(self, uri):
        return self.files[uri]

    def uri(self, path):
        uri = path.as_uri()
        self.files[uri] = path
        return uri

    def there(self, uri):
        return uri in self.files and self.files[uri].is_file()

    def read(self, uri):
        return self.files[uri].read_bytes().decode() if self.there(uri) else None

    def shows(self, uri):
        """The text of an open document; None where it is closed."""
        return self.open[uri].text if uri in self.open else None

    def show(self, uri, text):
        if uri not in self.files:
            self.files[uri] = Path(unquote(urlsplit(uri).path))
        version = self.dice.choice((0, 0, 1, 7))
        self.open[uri] = Document(uri, text, version)
        item = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def hide(self, uri):
        document = self.open.pop(uri)
        self.closed[uri] = (document.first, document.version, asyncio.get_running_loop().time())
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def save(self, uri):
        self.files[uri].write_bytes(self.open[uri].text.encode("utf-8", "surrogatepass"))
        self.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    def change(self, document, spans, *, whole=False, kept=True):
        """Replaces spans one after another, each counted in the text that the ones before it left."""
        if kept:
            document.done = [*document.done[-20:], document.text]
            document.undone = []
        changes = []
        for start, end, new in spans:
            text = document.text
            at = partial(position, text, encoding=self.encoding)
            changes.append({"range": {"start": at(start), "end": at(end)}, "text": new})
            document.text = text[:start] + new + text[end:]
        document.version += 1
        document.typed = asyncio.get_running_loop().time()
        item = {"uri": document.uri, "version": document.version}
        content = [{"text": document.text}] if whole else changes
        self.notify("textDocument/didChange", {"textDocument": item, "contentChanges": content})

    def become(self, document, text):
        """To another text by one change of what differs (undo, redo)."""
        old = document.text
        least = min(len(old), len(text))
        head = next((n for n in range(least) if old[n] != text[n]), least)
        tail = next((n for n in range(least - head) if old[-1 - n] != text[-1 - n]), least - head)
        start, end = aligned(old, head, len(old) - tail)
        new = text[start : start + len(text) - (len(old) - (end - start))]
        assert old[:start] + new + old[end:] == text
        self.change(document, [(start, end, new)], kept=False)
