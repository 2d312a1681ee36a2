"""The sampler of optuna."""

from __future__ import annotations

import sys

import pytest

from greenloop.core.errors import UsageError
from greenloop_lab.bench.tuning import ladder
from greenloop_lab.bench.tuning.optuna_sampler import OptunaSampler


def test_without_optuna_one_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(UsageError, match="needs optuna, which is not installed") as raised:
        OptunaSampler(7)
    assert "pip install optuna" in raised.value.remedy


def test_it_begins_with_the_usual_choice_and_finds_what_solves_more():
    pytest.importorskip("optuna")

    def climb() -> list[ladder.Choice]:
        sampler = OptunaSampler(7)
        choices = []
        for _round in range(40):
            choices.append(sampler.ask())
            ladder.make_steps(choices[-1])
            sampler.tell(int(choices[-1]["holes"]) + (choices[-1]["heat"] == "cool") * 10)
        return choices

    choices = climb()
    assert choices[0] == ladder.USUAL
    assert climb() == choices  # the same seed, the same choices
    later = choices[25:]
    assert sum(choice["heat"] == "cool" for choice in later) > len(later) / 2
    assert max(int(choice["holes"]) for choice in later) == 24
