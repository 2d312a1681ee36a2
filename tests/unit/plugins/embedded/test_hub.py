"""embedded/hub: what the hub sends is resumed and checked, and what it says of a file is taken once."""

import asyncio

import pytest

from greenloop.core.errors import ModelError
from greenloop.plugins.embedded import catalogue, weights
from tiny_hub import Hub, Portal, sha256
from tiny_weights import DATA, make_tiny_model, pull_weights


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "greenloop" / "models"


FROM_HUB = {"hub": "some/repo", "packages": (), "part_bytes": 0}
OTHER = bytes(len(DATA))


def starts(hub, method="GET"):
    """The first bytes that were asked of the store."""
    return [start for asked, path, start in hub.asked if path == "/store" and asked == method]


async def test_a_download_goes_on_where_it_stopped(cache, monkeypatch):
    cache.mkdir(parents=True)
    (cache / "tiny.gguf.partial").write_bytes(DATA[:1234])
    async with Hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        assert (await pull_weights(model=make_tiny_model(**FROM_HUB, revision="v7"))).read_bytes() == DATA
    assert hub.asked == [("GET", "/some/repo/resolve/v7/tiny.gguf", 1234), ("GET", "/store", 1234)]


async def test_a_model_without_packages_goes_on_where_the_hub_broke_off(cache, monkeypatch):
    model = make_tiny_model(**FROM_HUB)
    async with Hub(cut=1500) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        with pytest.raises(ModelError, match=r"tiny cannot be downloaded: the hub could not be reached") as caught:
            await pull_weights(model=model)
    assert "resumes where it stopped" in caught.value.remedy
    assert (cache / "tiny.gguf.partial").read_bytes() == DATA[:-1500]
    async with Hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        assert (await pull_weights(model=model)).read_bytes() == DATA
    assert starts(hub) == [len(DATA) - 1500]


async def test_a_server_without_ranges_sends_the_whole_file_again(cache, monkeypatch):
    cache.mkdir(parents=True)
    (cache / "tiny.gguf.partial").write_bytes(b"damaged")
    async with Hub(ranges=False) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        assert (await pull_weights(model=make_tiny_model(**FROM_HUB))).read_bytes() == DATA


async def test_wrong_bytes_of_the_hub_are_one_sentence_and_are_removed(cache, monkeypatch):
    async with Hub(OTHER, states=False) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        with pytest.raises(ModelError, match=r"^tiny cannot be downloaded: .* hub has a different hash\.$"):
            await pull_weights(model=make_tiny_model(**FROM_HUB))
    assert [entry.name for entry in cache.iterdir()] == ["download.lock"]


async def test_a_hash_that_is_stated_to_be_another_is_refused_before_the_download(cache, monkeypatch):
    async with Hub(OTHER) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        with pytest.raises(ModelError, match="has a different hash"):
            await pull_weights(model=make_tiny_model(**FROM_HUB))
    assert not (cache / "tiny.gguf.partial").exists()


async def test_the_hubs_word_is_taken_once_and_recorded(cache, monkeypatch):
    unknown = make_tiny_model(**FROM_HUB, size=0, sha256="")
    async with Hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        path = await pull_weights(model=unknown)
        assert path.read_bytes() == DATA
        assert [method for method, *_ in hub.asked] == ["GET", "GET"]
    recorded = catalogue.find("tiny")
    assert (recorded.name, recorded.size, recorded.sha256) == ("tiny", len(DATA), sha256(DATA))
    assert weights.downloaded_file(recorded) == path
    path.unlink()
    async with Hub(OTHER) as changed:
        monkeypatch.setenv("HF_ENDPOINT", changed.address)
        with pytest.raises(ModelError, match=r"different hash than when it was recorded in .*tiny\.json") as caught:
            await pull_weights(model=recorded)
    assert "Delete that file if you trust the new one" in caught.value.remedy
    assert weights.downloaded_file(recorded) is None


@pytest.mark.parametrize(("hub", "words"), [(Hub(states=False), "answered 206"), (Portal(), "answered 200")])
async def test_a_hub_that_states_no_hash_is_not_believed(cache, monkeypatch, hub, words):
    async with hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        with pytest.raises(ModelError, match=f"states no size and hash of tiny.gguf .*{words}") as caught:
            await pull_weights(model=make_tiny_model(**FROM_HUB, size=0, sha256=""))
    assert "--from" in caught.value.remedy
    assert not catalogue.record_file("tiny").exists()


async def test_a_hub_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    for values in ({}, {"size": 0, "sha256": ""}):
        with pytest.raises(ModelError, match=r"tiny cannot be downloaded: the hub could not be reached"):
            await pull_weights(model=make_tiny_model(**FROM_HUB | values))


async def test_the_hub_is_asked_through_the_proxy_of_the_environment(monkeypatch):
    async with Hub() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.address)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("HF_ENDPOINT", "http://hub.example")
        assert (await pull_weights(model=make_tiny_model(**FROM_HUB))).read_bytes() == DATA
    assert proxy.asked[0][1] == "http://hub.example/some/repo/resolve/main/tiny.gguf"


@pytest.mark.parametrize("known", [{}, {"size": 0, "sha256": ""}], ids=["known hash", "unknown hash"])
async def test_two_pulls_at_once_download_once(monkeypatch, known):
    model = make_tiny_model(**FROM_HUB | known)
    async with Hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        first, second = await asyncio.gather(*(pull_weights(model=model) for _ in range(2)))
    assert first == second
    assert starts(hub) == [0]


async def test_a_full_disk_is_seen_before_the_hub_is_asked_for_the_file(monkeypatch):
    async with Hub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        with pytest.raises(ModelError, match=r"^tiny needs .* GB more"):
            await pull_weights(model=make_tiny_model(**FROM_HUB, size=1 << 60))
    assert hub.asked == []
