"""The published diagnostics are right for the text at the moment of publishing, whatever changed before."""

import random

import pytest
from lsprotocol import types as lsp

from greenloop.lsp.connection.client import Capabilities, Client
from greenloop.lsp.connection.convert import line_range
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.presenters.diagnostics_store import DiagnosticsStore

TEXT = "def test_a():\n    assert f(1) == 2\n\n\ndef test_b():\n    assert f(2) == 3\n"


class Host:
    """The parts of a server that the store needs; `now` is what an editor shows, by URI."""

    def __init__(self, root, encoding=lsp.PositionEncodingKind.Utf16):
        self.root, self.now, self.sent = root, {}, []
        self.client = Client(self)
        self.client.capabilities = Capabilities(diagnostic_versions=True)
        self.documents = Documents(root.as_uri(), lsp.TextDocumentSyncKind.Incremental, [], encoding)
        self.store = DiagnosticsStore(self)
        (root / "t.py").write_text(TEXT)

    @property
    def path(self):
        return self.root / "t.py"

    @property
    def uri(self):
        return self.path.as_uri()

    def text_document_publish_diagnostics(self, params):
        text = self.documents.get_text_document(params.uri).source if self.path.exists() else ""
        rows = text.split("\n")
        for item in params.diagnostics:
            for point in (item.range.start, item.range.end):
                assert point.line < len(rows)
                assert point.character <= len(rows[point.line].encode("utf-16-le")) // 2
        self.now[params.uri] = params.diagnostics
        self.sent.append(params)

    def open(self, text=TEXT, uri=None, version=1):
        self.documents.put_text_document(
            lsp.TextDocumentItem(uri=uri or self.uri, language_id="python", version=version, text=text)
        )
        self.store.republish(self.path)

    def type(self, text, version=2):
        whole = lsp.TextDocumentContentChangeWholeDocument(text=text)
        identifier = lsp.VersionedTextDocumentIdentifier(uri=self.uri, version=version)
        self.documents.update_text_document(identifier, whole)
        self.store.update(self.path)

    def put(self, *lines, owner="run"):
        text = self.documents.get_text_document(self.uri).source
        codec = self.documents.position_codec
        items = [lsp.Diagnostic(range=line_range(line, text, codec), message=f"line {line}") for line in lines]
        self.store.put(owner, {self.path: items})

    def shown(self, uri=None):
        return [(item.message, item.range.start.line + 1) for item in self.now.get(uri or self.uri, [])]


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_what_many_change_together_is_published_once(host):
    host.open()
    sent = len(host.sent)
    with host.store.batch():
        host.put(2, owner="one")
        with host.store.batch():
            host.put(5, owner="other")
        host.type("\n" + TEXT)
        host.put(6, owner="third")
        host.store.put("third", {})
        assert len(host.sent) == sent
    assert len(host.sent) == sent + 1
    assert host.shown() == [("line 2", 3), ("line 5", 6)]


def test_it_is_published_with_the_version_where_the_document_is_open(host):
    host.put(2)
    assert host.sent[-1].version is None
    host.open(version=0)
    assert host.sent[-1].version == 0
    host.type("\n" + TEXT, version=7)
    assert (host.sent[-1].version, host.shown()) == (7, [("line 2", 3)])
    host.client.capabilities = Capabilities()
    host.store.republish(host.path)
    assert host.sent[-1].version is None


def test_a_deleted_line_takes_its_diagnostic_along_and_only_that(host):
    host.open()
    host.put(2, 6)
    host.type(TEXT.replace("    assert f(1) == 2\n", ""))
    assert host.shown() == [("line 6", 5)]
    host.type("")
    assert host.shown() == []


def test_typing_elsewhere_in_a_line_publishes_nothing(host):
    host.open()
    host.put(6)
    count = len(host.sent)
    host.type(TEXT.replace("f(1)", "f(11)"))
    assert len(host.sent) == count


def test_an_edited_line_is_marked_as_a_whole(host):
    host.open()
    host.put(2)
    host.type(TEXT.replace("== 2", "== 2000 + 😋"))
    (item,) = host.now[host.uri]
    assert item.range == line_range(2, "\n    assert f(1) == 2000 + 😋", host.documents.position_codec)


def test_what_was_never_saved_is_forgotten_at_the_close(host):
    host.open("# typed\n# and typed\n" + TEXT)
    host.put(4)
    assert host.shown() == [("line 4", 4)]
    host.documents.remove_text_document(host.uri)
    host.store.republish(host.path)
    assert host.shown() == [("line 4", 2)]
    host.path.write_text("import os\n" + TEXT)
    host.open("import os\n" + TEXT)
    assert host.shown() == [("line 4", 3)]


def test_a_file_that_others_change_or_delete(host):
    host.put(2, 6)
    host.path.write_text("import os\n" + TEXT.replace("    assert f(1) == 2\n", "    pass\n"))
    host.store.update_all()
    assert host.shown() == [("line 6", 7)]
    host.path.unlink()
    host.store.update(host.path)
    assert host.shown() == []
    assert host.store.items(host.path, "run") == []


def test_a_folder_that_is_elsewhere_shows_nothing_where_it_was(host):
    host.put(2)
    host.store.remove_path(host.root)
    assert host.shown() == []


def test_a_document_under_another_spelling_shows_each_once(host):
    host.put(2)
    other = host.uri.replace("t.py", "%74.py")
    host.open(uri=other)
    assert host.shown(other) == [("line 2", 2)]
    assert host.shown() == []


def test_owners_do_not_disturb_one_another(host):
    host.open()
    host.put(2, owner="run")
    host.put(6, owner="check")
    assert host.shown() == [("line 2", 2), ("line 6", 6)]
    host.put(5, owner="run")
    assert sorted(host.shown()) == [("line 5", 5), ("line 6", 6)]
    host.store.remove_owners(lambda owner: owner == "check")
    assert host.shown() == [("line 5", 5)]
    host.store.put("run", {})
    assert host.shown() == []


def test_a_range_beyond_the_text_ends_at_its_edge(host):
    host.open()
    end = lsp.Position(line=99, character=99)
    where = lsp.Range(start=lsp.Position(line=5, character=4), end=end)
    host.store.put("check", {host.path: [lsp.Diagnostic(range=where, message="here")]})
    assert host.now[host.uri][0].range.end == lsp.Position(line=6, character=0)


def test_a_range_beyond_the_text_moves_with_the_edge(host):
    """A case that ran in a longer text, then the text becomes another still."""
    host.open()
    point = lsp.Position(line=40, character=7)
    host.store.put("check", {host.path: [lsp.Diagnostic(range=lsp.Range(start=point, end=point), message="far")]})
    host.type(TEXT.replace("\n\n\n", "\n\n"))
    host.type(TEXT)
    assert host.shown() in ([], [("far", 7)])


def test_nothing_is_shown_where_there_is_no_file(host):
    item = lsp.Diagnostic(range=line_range(1), message="nowhere")
    host.store.put("run", {host.root / "absent.py": [item]})
    assert host.sent == []


@pytest.mark.story("diagnostics stand at their lines")
@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_typed_a_diagnostic_stands_at_its_own_line_or_nowhere(host, seed):
    dice = random.Random(seed)
    lines = [f"line_{n} = {dice.random()}" for n in range(12)]
    host.open("\n".join(lines))
    marked = {f"line {n + 1}": lines[n] for n in range(0, 12, 2)}
    host.put(*range(1, 13, 2))
    alive = set(marked)
    for version in range(2, 30):
        at = dice.randrange(len(lines) + 1)
        match dice.randrange(5):
            case 0:
                lines[at:at] = [f"fresh {dice.random()}" for _ in range(dice.randrange(1, 4))]
            case 1:
                del lines[at : at + dice.randrange(1, 4)]
            case 2:
                host.documents.remove_text_document(host.uri)
                host.path.write_text("\n".join(lines))
                host.open("\n".join(lines), version=version)
            case 3:
                host.store.put("other", {host.path: [lsp.Diagnostic(range=line_range(1), message="other")]})
                host.store.put("other", {})
            case _:
                lines[at:at] = [""]
        host.type("\n".join(lines), version)
        for message, line in host.shown():
            assert lines[line - 1] == marked[message]
        alive = {message for message in alive if marked[message] in lines}
        assert {message for message, _ in host.shown()} == alive
