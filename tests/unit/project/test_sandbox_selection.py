"""Which back end is taken when one fails its self-test, does not open, or breaks in the middle."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from greenloop.core.errors import CannotVerifyError, SandboxBrokenError, SettingsError
from greenloop.project import sandbox_selection
from greenloop.project.environment import cgroups
from greenloop.project.settings import SandboxSettings, Settings
from greenloop_sandbox import Environment, Limits, Probe, SandboxPool, SandboxSpec

PLACE = SandboxSpec(
    root=Path("/w"),
    environment=Environment(
        executable=Path("/p"), prefix=Path("/"), base=Path("/"), version=(3, 11), source="", has_pytest=True
    ),
)


class Session:
    def __init__(self, name: str) -> None:
        self.name = name


@dataclass
class Wall:
    name: str
    works: bool = True
    opens: bool = True
    opened: list = field(default_factory=list)

    async def probe(self) -> Probe:
        return Probe(name=self.name, ok=self.works, detail=f"{self.name} is away", remedy=f"Bring {self.name}.")

    async def open(self, place: SandboxSpec):
        if not self.opens:
            raise CannotVerifyError(f"{self.name} stays shut.", remedy=f"Push {self.name}.")
        self.opened.append(place)
        return Session(self.name)


@pytest.fixture
def back_ends(monkeypatch):
    def put(**found: Wall) -> None:
        modules = {name: SimpleNamespace(create=lambda _settings, wall=wall: wall) for name, wall in found.items()}
        monkeypatch.setattr(sandbox_selection.registry, "load_part", lambda _kind, name: modules[name])

    return put


def wanting(kind: str = "auto") -> Settings:
    return Settings(sandbox=SandboxSettings(kind=kind))  # type: ignore[arg-type]


async def test_the_first_that_works_is_opened(back_ends):
    first, second = Wall("bubblewrap"), Wall("docker")
    back_ends(bubblewrap=first, docker=second)
    sandbox, session = await sandbox_selection.open_first(PLACE, wanting(), print, SandboxPool())
    assert (sandbox, session.name, second.opened) == (first, "bubblewrap", [])


@pytest.mark.parametrize("trouble", [{"works": False}, {"opens": False}], ids=["self-test", "opening"])
async def test_the_next_one_is_taken_and_said(back_ends, trouble):
    back_ends(bubblewrap=Wall("bubblewrap", **trouble), docker=Wall("docker"))
    said: list[str] = []
    sandbox, _session = await sandbox_selection.open_first(PLACE, wanting(), said.append, SandboxPool())
    assert sandbox.name == "docker"
    assert any(text.startswith("bubblewrap cannot be used: ") for text in said)


async def test_a_named_one_is_the_only_one(back_ends):
    other = Wall("docker")
    back_ends(bubblewrap=Wall("bubblewrap", opens=False), docker=other)
    with pytest.raises(CannotVerifyError, match="bubblewrap stays shut") as caught:
        await sandbox_selection.open_first(PLACE, wanting("bubblewrap"), print, SandboxPool())
    assert caught.value.remedy == "Push bubblewrap."
    assert other.opened == []


async def test_none_at_all_names_every_remedy(back_ends):
    back_ends(bubblewrap=Wall("bubblewrap", works=False), docker=Wall("docker", opens=False))
    with pytest.raises(CannotVerifyError, match="No sandbox can be used here") as caught:
        await sandbox_selection.open_first(PLACE, wanting(), print, SandboxPool())
    assert caught.value.remedy == "Bring bubblewrap. Or: Push docker."


async def test_a_wall_that_broke_offers_the_other_one(back_ends):
    back_ends(bubblewrap=Wall("bubblewrap"), docker=Wall("docker"))
    error = await sandbox_selection.suggest_other(SandboxBrokenError("gone."), wanting(), "bubblewrap")
    assert error.remedy.startswith("docker works here: set sandbox.kind = docker (or --sandbox docker).")
    error = await sandbox_selection.suggest_other(SandboxBrokenError("gone."), wanting("docker"), "docker")
    assert "--sandbox bubblewrap" in error.remedy


@pytest.mark.parametrize(("works", "services"), [(False, []), (True, ["redis"])])
async def test_another_one_that_does_not_work_or_starts_no_services_is_not_offered(back_ends, works, services):
    back_ends(bubblewrap=Wall("bubblewrap"), docker=Wall("docker", works=works))
    settings = Settings(sandbox=SandboxSettings(services=services))
    error = await sandbox_selection.suggest_other(SandboxBrokenError("gone."), settings, "bubblewrap")
    assert error.remedy == "Run `greenloop doctor`."


def test_limits_are_no_more_than_the_container_allows():
    said: list[str] = []
    allowed = cgroups.CgroupLimits(memory=256 << 20, free_memory=0, processes=20)
    limits = sandbox_selection.clamp_limits(Limits(memory=1 << 30, processes=64), said.append, allowed)
    assert limits.memory == 256 << 20
    assert len(said) == 2
    assert "sandbox.memory = 1024" in said[0]
    assert "20 processes" in said[1]


def test_limits_that_fit_stay():
    said: list[str] = []
    allowed = cgroups.CgroupLimits(memory=2 << 30, free_memory=1 << 30)
    assert sandbox_selection.clamp_limits(Limits(), said.append, allowed) == Limits()
    assert not said


@pytest.mark.usefixtures("install")
def test_without_the_laboratory_a_cluster_is_refused_with_the_way_to_get_it():
    with pytest.raises(SettingsError, match="belong to greenloop's laboratory, which is not installed") as raised:
        sandbox_selection.load_back_end("ray")
    assert "pip install ./lab" in raised.value.remedy
