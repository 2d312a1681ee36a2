"""The sampler of optuna; the only module that imports it, when it is first used."""

from __future__ import annotations

from typing import Any

from greenloop.core.errors import UsageError
from greenloop_lab.bench.tuning.ladder import NUMBERS, TEMPERATURES, USUAL, Choice


class OptunaSampler:
    """Owns a study (tree-structured Parzen estimators, seeded), which begins with the usual choice."""

    def __init__(self, seed: int) -> None:
        """Raises `UsageError` where optuna is not installed."""
        try:
            import optuna  # noqa: PLC0415 - an optional package that takes a second to import
        except ImportError as error:
            raise UsageError(
                "Tuning settings needs optuna, which is not installed.",
                remedy="Install it: pip install optuna",
            ) from error
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        self._study.enqueue_trial(dict(USUAL))
        self._trial: Any = None

    def ask(self) -> Choice:
        trial = self._trial = self._study.ask()
        numbers = {name: trial.suggest_int(name, low, high, step=step) for name, (low, high, step) in NUMBERS.items()}
        return {**numbers, "heat": trial.suggest_categorical("heat", list(TEMPERATURES))}

    def tell(self, solved: int) -> None:
        self._study.tell(self._trial, solved)
