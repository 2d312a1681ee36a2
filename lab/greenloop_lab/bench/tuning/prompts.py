"""Tunes one template of a preset: a model rewrites it, tasks score each text, other tasks confirm the best.

After Prochemy (arXiv 2503.11085), whose prompt is evolved on a small set once and then fixed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from greenloop.core.errors import UsageError
from greenloop.core.ports import Model
from greenloop.engine.presets import Preset, find_preset, load_presets
from greenloop.project import templates
from greenloop_lab.bench.plans import Arm
from greenloop_lab.bench.reporting.figures import Pair
from greenloop_lab.bench.tuning.rewriting import Tried, read_rewritten, rewrite_request, same_text
from greenloop_lab.bench.tuning.trials import Trials, is_better


@dataclass(frozen=True, kw_only=True)
class Tunable:
    """A template of a preset: `name` is that of its file, such as `default/refine`; `text` is what is sent now."""

    preset: Preset
    template: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.preset.prompt}/{self.template}"

    def arm(self, text: str) -> Arm:
        """The arm that sends this text in place of the template."""
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        name = f"{self.preset.name}:{self.template}={digest}"
        return Arm(name=name, preset=replace(self.preset, templates={self.template: text}))


def parse_tunable(words: str) -> Tunable:
    """Parses `PRESET:TEMPLATE`. Raises `UsageError`, `SettingsError`."""
    preset_name, _, template = words.partition(":")
    preset = find_preset(preset_name, harness=True)
    texts = templates.preset_templates(preset.prompt)
    if template not in texts:
        raise UsageError(
            f"The preset {preset_name} has no template '{template}'.",
            remedy=f"Name one as {preset_name}:TEMPLATE: {', '.join(sorted(texts))}.",
        )
    return Tunable(preset=preset, template=template, text=texts[template])


def presets_with(tunable: Tunable) -> list[str]:
    """The presets whose prompt has this template, so that they all change with it."""
    return [name for name, preset in load_presets().items() if preset.prompt == tunable.preset.prompt]


@dataclass(frozen=True, kw_only=True)
class Tuned:
    """The result: `text` is the best one found, `pair` how it did on the other half (None: none was better)."""

    text: str
    pair: Pair | None = None

    @property
    def is_confirmed(self) -> bool:
        return self.pair is not None and is_better(self.pair)


async def tune_template(tunable: Tunable, trials: Trials, model: Model, *, rounds: int, seed: int) -> Tuned:
    """Rewrites for so many rounds, always the best text so far; one round is one answer of the model."""
    count = len(trials.halves.search)
    now = tunable.arm(tunable.text)
    best = Tried(text=tunable.text, solved=await trials.search(now))
    tried: list[Tried] = []
    for number in range(rounds):
        failures = await trials.failures(tunable.arm(best.text))
        if not failures:
            break  # there is nothing left to gain on this half
        request = rewrite_request(tunable.name, best, count, tried, failures, seed + number)
        reply = await model.complete(request, lambda _token: None)
        rewritten = read_rewritten(tunable.name, reply.text)
        if not rewritten.fault and any(same_text(rewritten.text, each.text) for each in (best, *tried)):
            rewritten = replace(rewritten, fault="it repeats an earlier one")
        if not rewritten.fault:
            rewritten = replace(rewritten, solved=await trials.search(tunable.arm(rewritten.text)))
        outcome = f"refused: {rewritten.fault}" if rewritten.fault else f"{rewritten.solved} of {count}"
        trials.report_status(f"round {number + 1} of {rounds}: {outcome} (best so far {best.solved})")
        tried.append(rewritten)
        if rewritten.solved is not None and rewritten.solved > (best.solved or 0):
            best = rewritten
    if best.text == tunable.text:
        return Tuned(text=best.text)
    return Tuned(text=best.text, pair=await trials.confirm(now, tunable.arm(best.text)))
