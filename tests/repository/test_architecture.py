"""Rules about the repository itself: layers, imports, parts, generated pages, lock files."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from contracts import CONTRACTS
from greenloop import api
from greenloop.core import registry
from greenloop.core.records.verdict import ErrorGroup
from greenloop.core.run_state import RunState
from greenloop.engine.presets import find_preset, load_presets
from greenloop.project import templates
from greenloop.project.settings import keys

HOUSE = Path(__file__).resolve().parents[2]
SOURCES = (HOUSE / "server", HOUSE / "sandbox", HOUSE / "lab")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, SOURCES)), "PYTHONUTF8": "1"}

PROTOCOL = (
    "greenloop.lsp",
    *(
        f"greenloop.plugins.{name}"
        for name in ("agents", "editor_models", "notebooks", "past_runs", "test_runs", "written_tests")
    ),
)
# What an outer package may be imported by: a module, or everything below a package.
IMPORTERS = {
    "litellm": ("greenloop.plugins.remote_models.through_litellm",),
    "docker": ("greenloop_sandbox.backends.docker",),
    "pygls": PROTOCOL,
    "lsprotocol": PROTOCOL,
    "optuna": ("greenloop_lab.bench.tuning.optuna_sampler",),
    "xllamacpp": ("greenloop.plugins.embedded",),
    "rich": ("greenloop.cli", "greenloop.plugins.past_runs"),
    "ray": ("greenloop_lab.bench.on_ray", "greenloop_lab.sandboxes.cluster"),
    "tree_sitter": ("greenloop.project.syntax.tree_sitter",),
    "pyarrow": ("greenloop_lab.engine.history.row_files",),
}

# Parameters, in order, that the engine and the loop give to the function of every variant.
PARAMETERS = {
    "specs": ["problem", "tools"],
    "context": ["problem", "tools"],
    "feedback": ["problem", "attempts", "tools"],
    "search": ["problem", "attempts"],
    "trust": ["poll"],
    "looks": ["arguments", "project"],
    "models": ["name", "settings"],
    "sandboxes": ["settings"],
    "export": ["run"],
}
ASYNCHRONOUS = {"specs", "context", "feedback", "looks"}


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=HOUSE, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def test_layers():
    tool = Path(sys.executable).with_name("lint-imports")
    checked = run(str(tool))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "layers KEPT" in checked.stdout


@pytest.mark.parametrize("package", IMPORTERS)
def test_outer_packages_have_one_door(package):
    """Also behind a door are imports inside functions and those by name."""
    pattern = re.compile(rf"^\s*(?:import|from) {package}\b|import_module\(\"{package}\"", re.MULTILINE)
    found = {
        ".".join(file.relative_to(folder).with_suffix("").parts)
        for folder, package_name in zip(SOURCES, ("greenloop", "greenloop_sandbox", "greenloop_lab"), strict=True)
        for file in (folder / package_name).rglob("*.py")
        if pattern.search(file.read_text())
    }
    assert found, "nobody imports it any more"
    doors = IMPORTERS[package]
    assert [name for name in found if not any(name == door or name.startswith(f"{door}.") for door in doors)] == []


@pytest.mark.parametrize(
    ("module", "engine"),
    [
        ("greenloop.lsp.server", ["greenloop.engine.refine"]),
        ("greenloop.cli.main", ["greenloop.engine.refine"]),
        ("greenloop.api", ["greenloop.engine", "greenloop.project"]),
        ("greenloop.engine.refine", []),
        ("greenloop.cli.commands.fix", []),
    ],
)
def test_light_imports(module, engine):
    heavy = ("litellm", "docker", "xllamacpp", "httpx", "ray", "rich", *engine)
    asked = run(
        sys.executable, "-c", f"import sys, {module}; print(*[name for name in {heavy} if name in sys.modules])"
    )
    assert asked.stderr == ""
    assert asked.stdout.split() == []


@pytest.mark.parametrize("name", api.__all__)
def test_every_public_name_exists_and_says_what_it_is(name):
    assert inspect.getdoc(getattr(api, name))


def variants() -> list[tuple[str, str]]:
    return [(part, name) for part in CONTRACTS for name in registry.list_parts(part)]


@pytest.mark.parametrize(("part", "name"), variants())
def test_every_part_keeps_its_contract(part, name):
    contract = getattr(registry.load_part(part, name), CONTRACTS[part])
    parameters = inspect.signature(contract).parameters.values()
    needed = [each.name for each in parameters if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    assert needed == PARAMETERS[part]
    assert inspect.iscoroutinefunction(contract) is (part in ASYNCHRONOUS)


def test_every_part_has_a_variant():
    assert {part for part, _name in variants()} == set(CONTRACTS) == set(PARAMETERS)


@pytest.mark.parametrize("name", load_presets())
def test_presets_name_what_exists(name):
    preset = find_preset(name, harness=True)
    for part, chosen in (
        ("context", preset.context),
        ("feedback", preset.feedback),
        ("search", (preset.search,)),
        ("specs", preset.specs),
        ("trust", (preset.trust,)),
    ):
        assert set(chosen) <= set(registry.list_parts(part))
    assert set(preset.treat) <= set(ErrorGroup)
    assert {name for names in preset.treat.values() for name in names} <= set(registry.list_parts("feedback"))
    assert {*templates.preset_templates(preset.prompt)} >= {"system", "task", "draft", "refine", "restart"}


def test_settings_page_is_up_to_date():
    checked = run(sys.executable, "scripts/settings_doc.py", "--check")
    assert checked.returncode == 0, f"run scripts/settings_doc.py\n{checked.stderr}"


def test_the_schema_of_exported_rows_is_up_to_date():
    checked = run(sys.executable, "scripts/export_schema.py", "--check")
    assert checked.returncode == 0, f"run scripts/export_schema.py\n{checked.stderr}"


def test_the_table_of_embedded_models_is_up_to_date():
    checked = run(sys.executable, "scripts/models_doc.py", "--check")
    assert checked.returncode == 0, f"run scripts/models_doc.py\n{checked.stderr}"


def test_settings_page_lists_every_key():
    page, laboratory = ((HOUSE / path).read_text() for path in ("docs/settings.md", "lab/docs/parts.md"))
    listed = re.findall(r"^\| `([a-z.]+)` \|", page, re.MULTILINE)
    listed += re.findall(r"^\| `([a-z]+\.[a-z]+)` \|", laboratory, re.MULTILINE)
    assert sorted(listed) == sorted(key for key, *_rest in keys())


@pytest.mark.parametrize("part", ["feedback", "context", "export"])
def test_the_pages_list_every_part(part):
    pages = ["lab/docs/export.md"] if part == "export" else ["docs/extending.md", "lab/docs/parts.md"]
    text = "".join((HOUSE / page).read_text() for page in pages)
    assert set(registry.list_parts(part)) <= set(re.findall(r"^\| `([a-z_]+)` \|", text, re.MULTILINE))


def locks() -> list[Path]:
    names = ("constraints*.txt", "packages*.txt", "requirements*.txt", "package-lock.json", "uv.lock", "yarn.lock")
    listed = run("git", "ls-files", "-z", "--", *(f":(glob)**/{name}" for name in names)).stdout.split("\0")
    # Samples of other projects' locks are data of a test.
    listed = [name for name in listed if not name.startswith("tests/")]
    return [HOUSE / name for name in listed if name] or [HOUSE / "constraints.txt"]


@pytest.mark.parametrize("file", locks(), ids=lambda file: file.relative_to(HOUSE).as_posix())
def test_locks_name_no_registry(file):
    # npm also keeps where a package asks for money.
    text = re.sub(r'"funding": (\{[^}]*\}|\[[^]]*\]|"[^"]*")', "", file.read_text())
    assert re.findall(r"https?://|file:|--(?:extra-)?index-url|--find-links|\"resolved\"", text) == []


def test_constraints_are_exact_and_cover_what_we_ask_for():
    lines = (HOUSE / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.]+", line)] == []
    table = tomllib.loads((HOUSE / "pyproject.toml").read_text())
    wanted = [
        *table["project"]["dependencies"],
        *table["project"]["optional-dependencies"]["local"],
        *table["dependency-groups"]["dev"],
        *table["build-system"]["requires"],
    ]
    names = {re.match(r"[A-Za-z0-9._-]+", requirement)[0].lower().replace("_", "-") for requirement in wanted}
    assert names - {pin.partition("==")[0].lower().replace("_", "-") for pin in pins} == set()


def test_documents_are_linked_from_somewhere_and_their_links_lead_somewhere():
    kept = [*(HOUSE / "docs").rglob("*.md"), *(HOUSE / "lab/docs").rglob("*.md")]
    pages = [*HOUSE.glob("*.md"), *HOUSE.glob("lab/*.md"), HOUSE / "vscode-client/README.md", *kept]
    reached = set()
    for page in pages:
        for link in re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text()):
            aim = (page.parent / link).resolve()
            assert aim.exists(), f"{page.relative_to(HOUSE)} links to {link}"
            reached.add(aim)
    assert [page for page in kept if page not in reached] == []


# Who assigns a field of a run's state, besides core/run_state.py itself.
WRITERS = {
    "attempts": {"engine/loop/loop.py"},
    "evidence": {"verdict/verifier.py"},
    "problem": {"engine/baseline/related_trace.py"},
    "unmeasured": {"engine/baseline/related_trace.py"},
}


@pytest.mark.parametrize("name", [each.name for each in fields(RunState)])
def test_each_field_of_a_run_has_one_writer(name):
    pattern = re.compile(rf"\bstate\.{name}(?:\[[^=\n]*\])? \+?= ")
    package = HOUSE / "server" / "greenloop"
    found = {str(path.relative_to(package)) for path in package.rglob("*.py") if pattern.search(path.read_text())}
    assert found == WRITERS.get(name, set())
