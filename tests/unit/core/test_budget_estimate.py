"""What is said before a run about tokens, seconds, money and the chance, and how often it came true."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from greenloop.core.budget import ENOUGH_RUNS, estimate_run, format_estimate
from greenloop.core.records.model import Estimate, PastRun, Quantiles

RECORDED = Path(__file__).parent / "recordings" / "runs.jsonl"


def past(count, *, prompt=100, tokens=300, seconds=10.0, cost: float | None = 0.0, solved=True):
    return [
        PastRun(prompt_tokens=prompt, tokens=tokens, seconds=seconds, cost=cost, solved=solved) for _ in range(count)
    ]


def recorded():
    """Finished runs of the embedded model in their order, by model and preset."""
    groups = defaultdict(list)
    for line in RECORDED.read_text().splitlines():
        row = json.loads(line)
        groups[row.pop("model"), row.pop("preset")].append(PastRun(prompt_tokens=row.pop("prompt"), **row))
    return groups


@pytest.mark.parametrize("what", ["tokens", "seconds"])
def test_four_of_five_recorded_runs_came_to_what_the_runs_before_them_foretold(what):
    came = []
    for runs in recorded().values():
        for number in range(ENOUGH_RUNS, len(runs)):
            estimate = estimate_run(
                runs[:number], prompt_tokens=runs[number].prompt_tokens, answer_tokens=60, limit=50_000
            )
            span = getattr(estimate, what)
            came.append(0.7 * span.low <= getattr(runs[number], what) <= 1.3 * span.high)
    assert len(came) >= 50
    assert sum(came) >= 0.8 * len(came)


def test_a_span_is_not_so_wide_that_it_says_nothing():
    runs = [run for group in recorded().values() for run in group]
    estimate = estimate_run(runs, prompt_tokens=240, answer_tokens=60, limit=50_000)
    assert estimate.tokens.high < 0.1 * 50_000
    assert estimate.tokens.low <= estimate.tokens.likely <= estimate.tokens.high


def test_a_longer_prompt_takes_more():
    short, long = (estimate_run(past(9), prompt_tokens=prompt, answer_tokens=60, limit=9_000) for prompt in (100, 200))
    assert (short.tokens.likely, long.tokens.likely) == (300, 600)
    assert (short.seconds.likely, long.seconds.likely) == (10, 20)


def test_no_more_than_the_limit():
    assert estimate_run(past(9), prompt_tokens=10_000, answer_tokens=60, limit=5_000).tokens == Quantiles(
        5_000, 5_000, 5_000
    )


def test_the_chance_is_told_from_twenty_runs_on():
    runs = [*past(17), *past(2, solved=False)]
    assert estimate_run(runs, prompt_tokens=100, answer_tokens=60, limit=9_000).solved is None
    enough = estimate_run([*runs, *past(1, solved=False)], prompt_tokens=100, answer_tokens=60, limit=9_000)
    assert (enough.solved, enough.runs) == (17, 20)
    assert (
        format_estimate(enough)
        == "about 300 tokens, 10 s; about 8 in 10 such runs are solved, based on 20 similar runs"
    )


@pytest.mark.parametrize(
    ("cost", "shown"), [(0.0123, "$0.012"), (0.0, ""), (None, "")], ids=["priced", "free", "unknown"]
)
def test_money_only_where_the_price_is_known(cost, shown):
    estimate = estimate_run(past(9, cost=cost), prompt_tokens=100, answer_tokens=60, limit=9_000)
    assert ("$" in format_estimate(estimate)) is bool(shown)
    assert shown in format_estimate(estimate)
    mixed = estimate_run([*past(8, cost=0.1), *past(1, cost=None)], prompt_tokens=100, answer_tokens=60, limit=9_000)
    assert mixed.cost is None


@pytest.mark.parametrize(
    ("speeds", "sentence"),
    [
        ((33.0, 12.0), "about 390 tokens, 15 s for the first answer; at most 9000 tokens"),
        (None, "about 390 tokens for the first answer; at most 9000 tokens"),
    ],
)
def test_without_a_history_the_first_answer_is_told(speeds, sentence):
    assert (
        format_estimate(estimate_run(past(4), prompt_tokens=330, answer_tokens=60, limit=9_000, speeds=speeds))
        == sentence
    )


def test_nothing_is_divided_by_nothing():
    assert estimate_run((), prompt_tokens=0, answer_tokens=0, limit=1).tokens == Quantiles(1, 1, 1)
    zero = estimate_run(past(9, tokens=0, seconds=0.0), prompt_tokens=0, answer_tokens=0, limit=1)
    assert format_estimate(zero) == "about 0 tokens, 0 s, based on 9 similar runs"


def test_spans_are_shown_as_wide_as_they_are():
    known = Estimate(
        prompt_tokens=1,
        tokens=Quantiles(12, 3456, 98765),
        seconds=Quantiles(1.2, 3.4, 5.6),
        cost=Quantiles(0, 0, 0.5),
        runs=7,
    )
    assert (
        format_estimate(known) == "about 3500 tokens (12 to 99000), 3 s (1 to 6), up to $0.5, based on 7 similar runs"
    )
