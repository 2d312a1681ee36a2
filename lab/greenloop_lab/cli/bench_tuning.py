"""`greenloop bench tune`: looks for a better prompt or better numbers, confirms and saves them.

It must not know how texts are rewritten or judged; it reads arguments and prints what was found.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from greenloop.cli import exit_codes, interrupt
from greenloop.core.errors import UsageError
from greenloop.core.records.model import Role
from greenloop.engine.presets import Preset
from greenloop.models.roles import Models
from greenloop.project import templates
from greenloop.project.settings import user_file
from greenloop_lab.bench import sources
from greenloop_lab.bench.plans import settings_for
from greenloop_lab.bench.recordings import Meter, Recordings, wrap_model
from greenloop_lab.bench.run import Experiment
from greenloop_lab.bench.sources import TaskSelection
from greenloop_lab.bench.tuning import ladder, prompts, saved
from greenloop_lab.bench.tuning.ladder import TunedLadder
from greenloop_lab.bench.tuning.optuna_sampler import OptunaSampler
from greenloop_lab.bench.tuning.prompts import Tunable, Tuned
from greenloop_lab.bench.tuning.trials import Trials, describe_pair, split_tasks

ROUNDS = 8
CHANCE = "That may be chance, so nothing was changed."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--tasks", action="append", default=[], metavar="TASKS", help="tune: the tasks that score (repeatable)"
    )
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, metavar="N", help=f"tune: texts that are tried (default: {ROUNDS})"
    )
    parser.add_argument(
        "--settings",
        action="store_true",
        help="tune: the numbers of the ladder of PRESET in place of a template (needs optuna)",
    )
    parser.add_argument("--undo", action="store_true", help="tune: restore what was there before the last tuning")


def run(arguments: argparse.Namespace, settings: Mapping[str, Any], selection: TaskSelection) -> int:
    if len(arguments.what) != 2:
        raise UsageError("Name what to tune.", remedy="Such as `greenloop bench tune default:draft --tasks FILE`.")
    what = arguments.what[1]
    tunable = prompts.parse_tunable(what) if not arguments.settings else None
    preset = ladder.parse_preset(what) if arguments.settings else None
    if arguments.undo:
        print(saved.undo(_file_of(tunable) if tunable else user_file()))
        return exit_codes.VERIFIED
    if not arguments.tasks:
        raise UsageError("No tasks to score with were named.", remedy="Name them with --tasks, as for a run.")
    if arguments.rounds < 1:
        raise UsageError("--rounds must be at least 1.")
    selection = replace(selection, names=tuple(arguments.tasks))
    try:
        if tunable is not None:
            return _finish(tunable, interrupt.run(_tune(tunable, arguments, settings, selection)))
        assert preset is not None
        return _finish_ladder(preset, interrupt.run(_tune_ladder(preset, arguments, settings, selection)))
    except asyncio.CancelledError:
        _report_status("Stopped. Run the same command again to continue.")
        return exit_codes.CANCELLED


async def _tune(
    tunable: Tunable, arguments: argparse.Namespace, settings: Mapping[str, Any], selection: TaskSelection
) -> Tuned:
    trials = await _open_trials(arguments, settings, selection)
    models = Models(settings=settings_for(settings, None))
    try:
        # Its answers are recorded, too, so that the same command continues where it was stopped.
        model = await models.model_for(Role.PLANNER)
        recorded = wrap_model(model, Recordings(trials.experiment.answers), Meter())
        return await prompts.tune_template(tunable, trials, recorded, rounds=arguments.rounds, seed=arguments.seed)
    finally:
        await models.close()


async def _open_trials(arguments: argparse.Namespace, settings: Mapping[str, Any], selection: TaskSelection) -> Trials:
    """The trials of the tasks that the command line names. Raises `UsageError`."""
    tasks = await sources.collect_tasks(selection, settings, _report_status)
    halves = split_tasks(tasks, arguments.seed)
    experiment = Experiment(
        tasks=tasks,
        arms=(),
        out=arguments.out,
        answers=arguments.answers or arguments.out.with_suffix(".answers.jsonl"),
        settings=settings,
        history=arguments.out.with_suffix(".history.sqlite3"),
    )
    return Trials(experiment=experiment, halves=halves, report_status=_report_status)


async def _tune_ladder(
    preset: Preset, arguments: argparse.Namespace, settings: Mapping[str, Any], selection: TaskSelection
) -> TunedLadder:
    sampler = OptunaSampler(arguments.seed)
    trials = await _open_trials(arguments, settings, selection)
    present = settings_for(settings, None).ladder
    return await ladder.tune_ladder(preset, present, trials, sampler, rounds=arguments.rounds)


def _finish_ladder(preset: Preset, tuned: TunedLadder) -> int:
    if tuned.pair is None:
        print(f"No settings of the preset {preset.name} were better than the present ones; nothing was changed.")
        return exit_codes.NOT_SOLVED
    lines = ladder.format_toml(tuned.steps)
    print(f"{lines}\n{describe_pair(tuned.pair)}")
    if not tuned.is_confirmed:
        print(CHANCE)
        return exit_codes.NOT_SOLVED
    print(f"Saved in {saved.save_settings(lines, ladder.PREFIX)}.")
    print(f"`greenloop bench tune {preset.name} --settings --undo` restores what was before.")
    return exit_codes.VERIFIED


def _finish(tunable: Tunable, tuned: Tuned) -> int:
    if tuned.pair is None:
        print(f"No text was better than the template {tunable.name}; nothing was changed.")
        return exit_codes.NOT_SOLVED
    print(tuned.text)
    print(describe_pair(tuned.pair))
    if not tuned.is_confirmed:
        print(CHANCE)
        return exit_codes.NOT_SOLVED
    file = _file_of(tunable)
    saved.save(file, tuned.text)
    presets = ", ".join(prompts.presets_with(tunable))
    print(f"Saved as {file}, for these presets: {presets}.")
    print(f"`greenloop bench tune {tunable.preset.name}:{tunable.template} --undo` restores what was before.")
    return exit_codes.VERIFIED


def _file_of(tunable: Tunable) -> Path:
    """The user's file that replaces the template, which need not exist."""
    return templates.user_folder() / f"{tunable.name}.txt"


def _report_status(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
