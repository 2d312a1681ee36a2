"""All settings with their defaults and limits, as frozen dataclasses, and the user's folders.

Plugins have settings of their own: an entry point of the group `greenloop.settings` names such a dataclass, whose
class variable `section` begins its keys. `configuration.py` loads them all; this module must not know from where.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_type_hints

import platformdirs

from greenloop.core import entry_points
from greenloop_sandbox.cache import APP as APP  # noqa: PLC0414
from greenloop_sandbox.cache import cache_folder as cache_folder  # noqa: PLC0414

# The name of the model that only an editor can query.
EDITOR = "editor"
Section = TypeVar("Section")
Key = tuple[str, Any, Any, Mapping[str, Any]]  # dotted key, type, default, metadata


def setting(
    default: Any,
    doc: str,
    *,
    repository: Literal["no", "yes", "lower"] = "no",
    least: float | None = None,
    most: float | None = None,
    editor: bool = True,
    key: str = "",
) -> Any:
    """A documented field. `repository`: may a repository's file set it (`lower`: only to a smaller number)?

    `editor`: may an editor set it, whose settings may come from the repository (`.vscode`)? `key`: its dotted key,
    where that is not made of the names of the fields.
    """
    metadata = {"doc": doc, "repository": repository, "least": least, "most": most, "editor": editor, "key": key}
    if isinstance(default, (list, dict)):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class SandboxSettings:
    kind: Literal["auto", "bubblewrap", "docker", "ray", "none"] = setting(
        "auto",
        "Back end that runs the tests; `ray` splits long runs among the nodes of a Ray cluster, `none` means no "
        "isolation and needs `sandbox.unsafe`.",
    )
    cluster: str = setting(
        "", "Address (HOST:PORT) of the Ray cluster for `sandbox.kind = ray`; empty: the one this machine belongs to."
    )
    image: str = setting(
        "", "Docker image to use unchanged instead of the one greenloop builds; it must contain Python."
    )
    runtime: str = setting("", "Container runtime, such as `runsc`; empty: the engine's default.")
    seconds: float = setting(
        10.0,
        "Seconds for one execution of the target tests, without those in which a loaded machine had no processor for "
        "them.",
        repository="lower",
        least=0.1,
    )
    longest: float = setting(
        120.0,
        "Maximum seconds for one execution of slow target tests; the limit is ten times what they took with "
        "your own code, at least `sandbox.seconds` and at most this.",
        repository="lower",
        least=0.1,
    )
    memory: int = setting(1024, "Mebibytes of memory for one execution.", repository="lower", least=64)
    processes: int = setting(64, "Maximum number of simultaneous processes and threads.", repository="lower", least=8)
    network: bool = setting(False, "Allow tests to access the network; mentioned in every result.")
    services: list[str] = setting(
        [],
        "Services that tests connect to: `postgres`, `redis` or `mysql` (the installed server), an image "
        "(`docker:rabbitmq:4`, `docker:IMAGE=PORT`), or `compose` (the images of the compose file). Each runs empty "
        "and without network for as long as the tests' sandbox is open. Only with bubblewrap.",
    )
    env: list[str] = setting([], "Names of environment variables that tests may see.")
    expose: list[str] = setting(
        [], "Hidden workspace files (`.env*`, keys, `.git`) that tests may see: patterns of names, or paths with a `/`."
    )
    unsafe: bool = setting(
        False,
        "Consent to `sandbox.kind = none`: candidates then run with your permissions; ignored in editor "
        "settings, because these may come from a repository.",
        editor=False,
    )


@dataclass(frozen=True, kw_only=True)
class SuiteSettings:
    seconds: float = setting(
        60.0,
        "Maximum seconds for running related tests. A result does not wait for slow ones: it is offered while they "
        "continue, longer than this only if all of them end within the run's time (`seconds`), and not where a "
        "partially verified result is enough (`--accept partial`, `apply`).",
        repository="lower",
        least=0,
    )


@dataclass(frozen=True, kw_only=True)
class VerifySettings:
    noticed: float = setting(
        0.5,
        "Share of one-token changes to a result's changed lines that its tests should notice; if they notice "
        "less, the first line of the result says so. 0: not measured, which saves up to four seconds.",
        least=0,
        most=1,
    )


@dataclass(frozen=True, kw_only=True)
class PromptSettings:
    tokens: int = setting(
        2600,
        "Maximum tokens of a prompt; with the answer, the default fits a 4k context. Models known to take "
        "16,000 or more get `prompt.room` instead, unless you set another number here.",
        repository="lower",
        least=200,
    )
    room: int = setting(
        8000,
        "Maximum tokens of a prompt for models known to take 16,000 or more, so that several suspects and "
        "the outline of their files fit; used only with the default of `prompt.tokens`.",
        repository="lower",
        least=200,
    )
    places: int = setting(
        0,
        "Number of suspects that a prompt shows with the outline of their files, so that one answer may "
        "change them and the code around them; 0: the preset's number if a prompt may have 6000 tokens, "
        "otherwise only the functions to change.",
        repository="lower",
        least=0,
    )


@dataclass(frozen=True, kw_only=True)
class AnswerSettings:
    tokens: int = setting(1024, "Maximum tokens of an answer.", repository="lower", least=16)
    format: Literal["auto", "whole", "search-replace", "unified-diff"] = setting(
        "auto",
        "Format in which models are asked for changes: `whole` functions suit small models, the others suit "
        "models that copy faithfully; `auto`: `whole` if it fits into an answer. Answers in any format are "
        "accepted.",
    )


@dataclass(frozen=True, kw_only=True)
class FeedbackSettings:
    syntax: list[str] = setting([], "Feedback parts for code that does not compile; empty: the preset's own.")
    runtime: list[str] = setting([], "Feedback parts for exceptions; empty: the preset's own.")
    logic: list[str] = setting([], "Feedback parts for failing assertions; empty: the preset's own.")
    timeout: list[str] = setting([], "Feedback parts for timeouts; empty: the preset's own.")
    resource: list[str] = setting([], "Feedback parts for too much memory or output; empty: the preset's own.")


@dataclass(frozen=True, kw_only=True)
class ApiSettings:
    base: str = setting("", "Base URL of an OpenAI-compatible server or of Ollama, for models that need one.")
    key: str = setting("", "Environment variable that contains the API key, if it is not the provider's usual one.")
    timeout: float = setting(120.0, "Seconds without any response after which a model request is aborted.", least=1)
    retries: int = setting(2, "Number of retries after a transient error.", least=0)
    effort: Literal["", "minimal", "low", "medium", "high"] = setting(
        "", "How much a reasoning model thinks before it answers; empty: the provider's default."
    )
    slots: int = setting(
        0,
        "Requests that the model answers at the same time, unless it is the embedded one; 0: the number that "
        "the server reports (llama.cpp, at `api.base`) or OLLAMA_NUM_PARALLEL for Ollama, otherwise 4. Set "
        "it for vLLM and others that do not report it: the search then draws that many answers at once, and "
        "more in total.",
        least=0,
        most=256,
    )


@dataclass(frozen=True, kw_only=True)
class RoleSettings:
    model: str = setting("", "Model for this role; empty: `model`.")
    temperature: Literal["constant", "rising", "decay"] = setting(
        "constant",
        "How its temperature changes: `constant`: as the preset plans; `rising`: by 0.4 with each repeated "
        "failure; `decay`: from 0.8, halved with each answer, down to the preset's.",
    )
    tokens: int = setting(0, "Maximum tokens of an answer in this role; 0: the request's limit.", least=0)


@dataclass(frozen=True, kw_only=True)
class EscalationSettings:
    models: list[str] = setting([], "Models that take over, one after another, when attempts keep failing.")
    after: int = setting(3, "Failed attempts before the next of `escalation.models` takes over.", least=1)


@dataclass(frozen=True, kw_only=True)
class HistorySettings:
    runs: int = setting(1000, "Number of runs to keep in the history; older ones are deleted.", least=1)
    messages: bool = setting(
        False,
        "Keep the messages sent to models, with secrets masked, for `greenloop history export --as`; they "
        "contain your code and tests.",
    )


@dataclass(frozen=True, kw_only=True)
class EditorSettings:
    runs: int = setting(2, "Number of refinements that run in parallel in an editor; others wait.", least=1)
    lens: bool = setting(True, "Show code lenses above tests and targets: run, refine, the last result.")


Rung = Literal["holes", "answer", "more-holes", "another", "second-fillings", "pairs", "inserts", "samples"]
RUNGS: tuple[str, ...] = get_args(Rung)


@dataclass(frozen=True, kw_only=True)
class LadderSettings:
    order: list[Rung] = setting(
        list(RUNGS),
        "Steps of the search `ladder` after the one-token changes, in this order; steps left out are skipped.",
    )
    first: int = setting(4, "Holes filled in each of the first functions by the step `holes`.", least=0, most=40)
    brief: int = setting(2, "Holes filled in each other suspect (up to ten) by the step `holes`.", least=0, most=40)
    holes: int = setting(
        12, "Holes filled in one function by the steps `holes` and `more-holes` together.", least=0, most=100
    )
    pairs: int = setting(8, "Pairs of statements, each filled as one hole.", least=0, most=100)
    inserts: int = setting(8, "Places between statements where a new line is filled in.", least=0, most=100)
    temperatures: list[float] = setting(
        [0.6, 0.75, 0.9, 1.0], "Temperatures of the samples, one answer each.", least=0, most=2
    )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every setting; docs/settings.md is generated from this class and those of plugins.

    `plugins` are the settings of plugins that have other values than by default; `of` reads them.
    """

    model: str = setting(
        "",
        "Model: `local` (embedded), `local/NAME` (another embedded one, see docs/models.md), a provider and its model "
        "such as `ollama/llama3.2` or `openai/gpt-4o`, `editor` (the editor's own, where it has one), `scripted:FILE`, "
        "`replay:FILE`.",
    )
    model_kind: Literal["auto", "small", "capable"] = setting(
        "auto",
        "Kind of model: `small` models get many small questions, `capable` ones a conversation about a bug "
        "report, in which they may look at the project; `auto`: embedded models and local ones below 14 "
        "billion parameters are small, hosted models and the editor's are capable.",
        key="model.kind",
    )
    preset: str = setting(
        "default",
        "Search strategy: `default`, or another preset from docs/settings.md.",
        repository="yes",
    )
    attempts: int = setting(
        0,
        "Maximum number of model attempts; 0: the preset's number.",
        repository="yes",
        least=0,
    )
    regions: int = setting(
        2,
        "Maximum number of functions that an answer is asked to change, unless `prompt.places` shows more. "
        "Other changes are kept only if the tests need them; with 1, never.",
        repository="lower",
        least=1,
    )
    seconds: float = setting(
        600.0,
        "Maximum seconds of wall time for a run. A quarter, at most 60, is reserved for proving a result; a "
        "result that cannot be proved in time is partially verified.",
        repository="lower",
        least=1,
    )
    tokens: int = setting(50_000, "Maximum tokens (prompt and completion) for a run.", repository="lower", least=1)
    cost: float = setting(0.0, "Maximum cost of a run in US dollars; 0: no limit.", least=0)
    apply: Literal["verified", "partial", "ask"] = setting(
        "verified",
        "Apply verified results automatically, partially verified ones too (for example if a test could not "
        "be proven apart), or ask first.",
    )
    ask: int = setting(
        3,
        "Maximum number of questions about generated tests in one run; none without a terminal or an editor that can "
        "ask.",
        least=0,
        most=5,
    )
    interpreter: str = setting(
        "", "Python that runs the project's tests; empty: detected (`.venv`, VIRTUAL_ENV and others)."
    )
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
    suite: SuiteSettings = field(default_factory=SuiteSettings)
    verify: VerifySettings = field(default_factory=VerifySettings)
    ladder: LadderSettings = field(default_factory=LadderSettings)
    prompt: PromptSettings = field(default_factory=PromptSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    feedback: FeedbackSettings = field(default_factory=FeedbackSettings)
    api: ApiSettings = field(default_factory=ApiSettings)
    drafter: RoleSettings = field(default_factory=RoleSettings)
    refiner: RoleSettings = field(default_factory=RoleSettings)
    critic: RoleSettings = field(default_factory=RoleSettings)
    tester: RoleSettings = field(default_factory=RoleSettings)
    planner: RoleSettings = field(default_factory=RoleSettings)
    escalation: EscalationSettings = field(default_factory=EscalationSettings)
    history: HistorySettings = field(default_factory=HistorySettings)
    editor: EditorSettings = field(default_factory=EditorSettings)
    plugins: tuple[Any, ...] = ()

    def of(self, kind: type[Section]) -> Section:
        """The settings of a plugin, by their class."""
        return next((each for each in self.plugins if isinstance(each, kind)), None) or kind()


def state_folder() -> Path:
    """The user's state folder (history, port files), made private on first use if it can be made.

    Where it cannot, reading finds nothing in it, and who writes into it gets an `OSError`.
    """
    path = Path(os.environ.get("XDG_STATE_HOME") or platformdirs.user_state_dir()) / APP
    with suppress(OSError):
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path


def user_file() -> Path:
    """The user's own settings file, which need not exist."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or platformdirs.user_config_dir()) / APP / "config.toml"


# Settings are read at every refinement and every save; inspecting the classes takes most of that time.
@cache
def keys() -> tuple[Key, ...]:
    """Every setting: greenloop's own in the order of the class, then those of plugins."""
    return (*_keys(Settings, ""), *(key for kind in _plugin_kinds().values() for key in kind))


@cache
def _plugin_kinds() -> dict[type, tuple[Key, ...]]:
    """The classes of plugins' settings with their keys, none of which is greenloop's own."""
    own = {key for key, *_ in _keys(Settings, "")}
    kinds = entry_points.load_all(entry_points.SETTINGS)
    return {kind: tuple(key for key in _keys(kind, f"{kind.section}.") if key[0] not in own) for kind in kinds}


def _keys(kind: type, prefix: str) -> Iterator[Key]:
    hints = get_type_hints(kind)
    defaults = kind()
    for setting_field in fields(kind):
        hint = hints[setting_field.name]
        if is_dataclass(hint):
            yield from _keys(hint, f"{prefix}{setting_field.name}.")  # type: ignore[arg-type]
        elif setting_field.metadata:
            key = setting_field.metadata["key"] or prefix + setting_field.name
            yield key, hint, getattr(defaults, setting_field.name), setting_field.metadata


def models(settings: Settings) -> set[str]:
    """Names of all models that a run with these settings may use."""
    roles = {value for key, value in values(settings).items() if key.endswith(".model")}
    return {settings.model, *roles, *settings.escalation.models} - {""}


def get(settings: Settings, key: str) -> Any:
    """The value of a dotted key."""
    kind = _plugin_kind(key)
    value: Any = settings if kind is None else settings.of(kind)
    for part in _field_names(key) if kind is None else [key.rpartition(".")[2]]:
        value = getattr(value, part)
    return value


def values(settings: Settings) -> dict[str, Any]:
    """The value of each setting by its dotted key."""
    return {key: get(settings, key) for key, *_ in keys()}


def with_value(settings: Settings, key: str, value: Any) -> Settings:
    """The settings with another value of a dotted key."""
    kind = _plugin_kind(key)
    if kind is None:
        own: Settings = _replace(settings, _field_names(key), value)
        return own
    changed = _replace(settings.of(kind), [key.rpartition(".")[2]], value)
    plugins = [each for each in settings.plugins if not isinstance(each, kind)]
    # In one order, so that equal values are equal settings.
    return replace(settings, plugins=tuple(sorted([*plugins, changed], key=lambda each: type(each).__qualname__)))


def _replace(values: Any, path: Sequence[str], value: Any) -> Any:
    head, *rest = path
    return replace(values, **{head: _replace(getattr(values, head), rest, value) if rest else value})


def _plugin_kind(key: str) -> type | None:
    """The class of plugins' settings that has a dotted key; None for greenloop's own."""
    return next((kind for kind, own in _plugin_kinds().items() if any(key == each[0] for each in own)), None)


def _field_names(key: str) -> list[str]:
    """The names of the fields that lead to the value of a dotted key."""
    own = (each.name for each in fields(Settings) if each.metadata.get("key") == key)
    return [name] if (name := next(own, "")) else key.split(".")
