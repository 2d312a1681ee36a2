"""The log: on standard error, in its file, and at the client, each bounded and without anything of the user's."""

import asyncio
import logging
import os
import stat
import threading
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from greenloop.core.errors import UsageError
from greenloop.lsp.connection import logs

from .conftest import EVERYTHING, Editor, spawn, without
from .test_presentation import target

log = logging.getLogger("greenloop.test")


@pytest.fixture
def fresh(monkeypatch, tmp_path):
    """A process that has not begun to log; what the tests begin is taken back."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("GREENLOOP_LOG", raising=False)
    root, ours = (
        logging.getLogger(),
        [logging.getLogger(name) for name in ("", "greenloop", "greenloop_sandbox", "pygls")],
    )
    before, levels = list(root.handlers), [logger.level for logger in ours]
    root.handlers = []
    yield tmp_path / "greenloop" / "logs"
    for handler in root.handlers:
        handler.close()
    root.handlers = before
    for logger, level in zip(ours, levels, strict=True):
        logger.setLevel(level)


async def received(count):
    """What the client gets: waits until there are so many."""
    got, enough = [], asyncio.Event()

    def send(level, text):
        got.append((level, text))
        # Sending speaks too, as pygls does.
        log.error("sending")
        if len(got) >= count:
            enough.set()

    logs.connect(send)
    async with asyncio.timeout(10):
        await enough.wait()
    return got


async def test_what_was_logged_before_there_was_a_client_comes_with_it(fresh):
    logs.start()
    log.info("not for the client")
    log.warning("early %d", 1)
    threads = [threading.Thread(target=log.error, args=("from a thread",)) for _ in range(3)]
    for thread in threads:
        thread.start()
        thread.join()
    assert await received(4) == [
        (logging.WARNING, "greenloop.test: early 1"),
        *[(logging.ERROR, "greenloop.test: from a thread")] * 3,
    ]


async def test_of_a_flood_before_there_is_a_client_the_newest_lines_are_kept(fresh):
    logs.start()
    for number in range(logs.HELD + 7):
        log.warning("line %d", number)
    got = await received(logs.HELD)
    assert [text for _level, text in got] == [f"greenloop.test: line {n}" for n in range(7, logs.HELD + 7)]


async def test_a_client_that_cannot_be_told_is_told_no_more(fresh):
    logs.start()
    asked, done = [], asyncio.Event()

    def send(_level, text):
        asked.append(text)
        done.set()
        raise OSError("gone")

    logs.connect(send)
    log.warning("one")
    async with asyncio.timeout(10):
        await done.wait()
    log.warning("two")
    assert await received(1) == [(logging.WARNING, "greenloop.test: two")]
    assert asked == ["greenloop.test: one"]


@pytest.mark.story("logs hold none of your code")
async def test_nothing_of_the_users_is_told_or_kept(fresh, capfd):
    logs.start(level="info")
    secret = "sk-THE-SECRET"
    try:
        int(secret)
    except ValueError:
        log.exception("A run failed")
        logging.getLogger("pygls.protocol").warning("Error in %s\n%s", secret, secret, exc_info=True)
    logging.getLogger("another").warning("Request with key %s", "shown on the screen only")
    logging.getLogger("another").info("GET /?key=%s", secret)
    got = [text for _level, text in await received(4)]
    assert got == [
        f"greenloop.lsp.connection.logs: {logs.path().read_text().splitlines()[0].split(': ', 1)[1]}",
        "greenloop.test: A run failed (ValueError)",
        "pygls.protocol: Error in … ValueError",
        "another: warning; greenloop.showLog opens the log.",
    ]
    kept = logs.path().read_text()
    assert "A run failed\nValueError\n" in kept
    assert f"{Path(__file__)}:" in kept
    assert secret not in "".join(line for line in kept.splitlines() if "another" not in line)
    assert secret not in "".join(got)


async def test_debug_is_for_the_file_and_never_for_the_client(fresh, tmp_path):
    file = tmp_path / "here.log"
    logs.start(level="debug", file=str(file))
    log.debug("the whole prompt")
    log.warning("after it")
    assert [text for _level, text in await received(2)][1] == "greenloop.test: after it"
    assert "the whole prompt" in file.read_text()


def test_the_file_is_private_bounded_and_one_older_is_kept(fresh, tmp_path):
    file = tmp_path / "here.log"
    file.write_text("before\n")
    file.chmod(0o644)
    logs.start(file=str(file))
    for _ in range(3 * logs.SIZE // 10_000):
        log.info("x" * 10_000)
    found = {path.name: path.stat() for path in tmp_path.glob("here.log*")}
    assert sorted(found) == ["here.log", "here.log.1"]
    for each in found.values():
        assert stat.S_IMODE(each.st_mode) == 0o600
        assert each.st_size <= logs.SIZE


def test_files_of_ended_servers_are_removed_and_those_of_living_ones_are_not(fresh):
    fresh.mkdir(parents=True)
    ended = [fresh / f"serve-20200101-00000{n}-999999{n}.log" for n in range(9)]
    mine = fresh / f"serve-20190101-000000-{os.getpid()}.log"
    for path in (*ended, mine, fresh / (ended[0].name + ".1")):
        path.write_text("")
    logs.start()
    assert mine.exists()
    assert sorted(fresh.iterdir()) == [mine, *ended[-logs.FILES + 1 :], logs.path()]


def test_a_named_file_that_cannot_be_written_is_an_error_with_a_remedy(fresh, tmp_path):
    with pytest.raises(UsageError, match=r"cannot be written: No such file") as caught:
        logs.start(file=str(tmp_path / "absent/here.log"))
    assert "--log-file" in caught.value.remedy


def test_without_a_state_folder_it_goes_on(fresh, monkeypatch, tmp_path, capfd):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    logs.start()
    log.warning("told")
    assert logs.path() is None
    assert "told" in capfd.readouterr().err


# -- the server ---------------------------------------------------------------------------------------------------


async def test_the_client_is_told_once_it_is_initialized(editor):
    await editor.start(model="play:crash")
    await editor.call("greenloop/refine", target(editor))
    said = await editor.wait(
        lambda m: m.get("method") == "window/logMessage" and "A run failed" in m["params"]["message"], "a log message"
    )
    assert said["params"] == {"type": 1, "message": "greenloop.lsp.runs.drive: A run failed (RuntimeError)"}


async def test_a_request_that_is_cancelled_too_late_is_nothing_to_tell(editor):
    """Kate does so with every request of which its menu is closed again."""
    await editor.start()
    hover = {"textDocument": {"uri": editor.uri("m.py")}, "position": {"line": 0, "character": 5}}
    number = editor.request("textDocument/hover", hover)
    await editor.reply(number)
    editor.notify("$/cancelRequest", {"id": number})
    assert await editor.stop() == 0
    assert "Cancel notification" not in await editor.errors()
    assert not editor.got("window/logMessage")


@pytest.mark.parametrize("declared", [True, False])
async def test_the_log_is_opened_or_its_path_is_named(editor, declared, tmp_path):
    editor.answers["window/showDocument"] = {"success": True}
    await editor.start(without(EVERYTHING, *([] if declared else ["window.showDocument"])))
    await editor.execute("greenloop.showLog", {})
    if declared:
        opened = await editor.wait(lambda m: m.get("method") == "window/showDocument", "a document")
        path = Path(unquote(urlsplit(opened["params"]["uri"]).path))
    else:
        path = Path((await editor.told("The log is in "))["params"]["message"].removeprefix("The log is in "))
    assert path.is_relative_to(tmp_path / "state")
    assert path.read_text().splitlines()[0].endswith(f"process {editor.process.pid}")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.story("logs hold none of your code")
async def test_serve_takes_a_log_file_and_a_level(project, tmp_path):
    file = tmp_path / "here.log"
    process = await spawn(tmp_path, "-m", "greenloop", "serve", "--log-file", str(file), "--log-level", "info")
    editor = Editor(process, project)
    await editor.start()
    assert await editor.stop() == 0
    assert f"process {process.pid}" in file.read_text()
    assert f"process {process.pid}" in await editor.errors()


async def test_serve_refuses_a_log_file_that_cannot_be_written(tmp_path):
    process = await spawn(tmp_path, "-m", "greenloop", "serve", "--log-file", str(tmp_path / "absent/here.log"))
    out, err = await process.communicate(b"")
    assert (process.returncode, out) == (2, b"")
    assert b"cannot be written" in err
    assert b"Name another with --log-file." in err
