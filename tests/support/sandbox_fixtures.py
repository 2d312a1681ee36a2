"""Small workspaces and open sandboxes for them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from docstring_project import DocstringProject
from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Spec
from greenloop.core.records.verdict import Verdict
from greenloop.engine import after_run, sandbox_spec
from greenloop.project.settings import SandboxSettings, Settings
from greenloop_sandbox import Environment, Limits, SandboxSpec, Session, payload
from greenloop_sandbox.backends.bubblewrap import Bubblewrap
from project_files import write_files

MASKED = (".env*", "*.pem", "id_rsa*", ".git")

# The plugins that happen to be installed beside these tests would take most of each run's time.
_PLUGINS = ("anyio", "asyncio", "hypothesispytest", "platformdirs", "pytest-lsp", "timeout")
PYTEST_INI = "[pytest]\naddopts = " + " ".join(f"-p no:{name}" for name in _PLUGINS) + "\n"

Open = Callable[..., Awaitable[Session]]


def this_environment() -> Environment:
    prefix, base = Path(sys.prefix), Path(sys.base_prefix)
    return Environment(
        executable=Path(sys.executable),
        prefix=prefix,
        base=base,
        version=sys.version_info[:2],
        source="test",
        has_pytest=True,
    )


@pytest.fixture(scope="session")
def bare_environment(bare_python: Path) -> Environment:
    """An interpreter without any plugin; greenloop lends it pytest."""
    return Environment(
        executable=bare_python,
        prefix=bare_python.parents[1],
        base=Path(sys.base_prefix),
        version=sys.version_info[:2],
        source="test",
        has_pytest=False,
    )


@pytest.fixture
def lay() -> Callable[[Path, Mapping[str, str]], Path]:
    """`lay(root, files)`: a workspace of these files, with a configuration file of its own."""

    def write(root: Path, files: Mapping[str, str]) -> Path:
        write_files(root, {"pytest.ini": PYTEST_INI, **files})
        return root

    return write


@pytest.fixture
def snapshot() -> Callable[[Path], dict[str, tuple[bytes, int]]]:
    """`snapshot(root)`: content and time of every file."""

    def take(root: Path) -> dict[str, tuple[bytes, int]]:
        return {
            str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    return take


@pytest.fixture
def environment() -> Environment:
    """The Python that runs these tests."""
    return this_environment()


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """As root a folder that everybody may read: without staging, tests of root's workspaces run as somebody else."""
    if os.getuid() != 0:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="greenloop-test-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def open_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """An interpreter that every user may read, with this pytest lent to it."""
    if os.getuid() != 0:
        return this_environment()
    python = Path("/usr/bin/python3")
    if not python.exists():
        pytest.skip("needs /usr/bin/python3, because the Python of these tests is root's alone")
    lent = {}
    for name, path in payload.borrowed_packages().items():
        (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / name)
        lent[name] = folder / name
    monkeypatch.setattr(payload, "borrowed_packages", lambda: lent)
    version = python.resolve().name.removeprefix("python").split(".")
    return Environment(
        executable=python,
        prefix=Path("/usr"),
        base=Path("/usr"),
        version=(int(version[0]), int(version[1])),
        source="test",
        has_pytest=False,
    )


@pytest.fixture
async def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Open]:
    """`opened(root, writable=..., **place)`: a bubblewrap session that is closed after the test."""
    async with AsyncExitStack() as stack:

        async def open_session(root: Path, *, writable: bool = True, limits: Limits | None = None, **more) -> Session:
            if writable:
                environment = this_environment()
            else:
                (tmp_path / "lent").mkdir()
                environment = open_environment(tmp_path / "lent", monkeypatch)
            place = SandboxSpec(root=root, environment=environment, masked=MASKED, limits=limits or Limits(), **more)
            session = await Bubblewrap(writable=writable).open(place)
            stack.push_async_callback(session.close)
            return session

        yield open_session


@pytest.fixture(autouse=True)
def projects_without_plugins(bare_python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Projects that name no interpreter get the bare one: a run then takes a fifth of the time."""
    monkeypatch.setenv("GREENLOOP_INTERPRETER", str(bare_python))


@pytest.fixture
def docstring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DocstringProject:
    """Requests for a function by its docstring, with a state of their own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "project"
    root.mkdir()
    return DocstringProject(root)


@pytest.fixture
def accept(tmp_path: Path, bare_python: Path) -> Callable[[str, str, str], Awaitable[tuple[Verdict, list[str]]]]:
    """Accepts a new text of m.py: the verdict, and the differences as sentences."""
    settings = Settings(interpreter=str(bare_python), sandbox=SandboxSettings(kind="bubblewrap"))

    async def accept(old: str, new: str, test: str) -> tuple[Verdict, list[str]]:
        texts = {"m.py": old, "test_m.py": test}
        write_files(tmp_path, texts)
        names = [line[4:].partition("(")[0] for line in test.split("\n") if line.startswith("def test_")]
        cases = tuple(Case(id=f"test_m.py::{name}", path="test_m.py", line=1) for name in names)
        spec = Spec(cases=cases, selectors=("test_m.py",))
        problem = Problem(root=tmp_path, spec=spec, regions=(), originals=texts, files=texts)
        sandbox, place = await sandbox_spec.choose_sandbox(tmp_path, settings)
        verifier = after_run.past_run_verifier(problem, {}, sandbox=sandbox, place=place, settings=settings)
        verdict = await verifier.accept({**texts, "m.py": new})
        differences = verifier.state.evidence.data.get("other_inputs", {}).get("differences", ())
        return verdict, [f"{each['call']}: old → {each['old']}, new → {each['new']}" for each in differences]

    return accept
