"""Estimates tokens, seconds, cost and, from enough similar runs, the chance of a run before it begins.

Scales the usage of similar runs by the tokens of the first prompt. The length of a run depends on whether its first
answers are right, so an estimate is a range: `Quantiles` covers four of five similar runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.model import Estimate, PastRun, Quantiles

ENOUGH_RUNS = 5  # similar runs; with fewer, the estimate is made from the prompt
ENOUGH_FOR_SOLVED_SHARE = 20  # similar runs; with fewer, the share of solved ones is not shown
QUANTILES = (0.1, 0.5, 0.9)  # low, likely, high
EMBEDDED = (33.0, 12.0)  # tokens a second that the embedded model reads, and writes, on two cores


def estimate_run(
    past: Sequence[PastRun],
    *,
    prompt_tokens: int,
    answer_tokens: int,
    limit: int,
    speeds: tuple[float, float] | None = None,
) -> Estimate:
    """The estimate for a first prompt of `prompt_tokens`.

    While there are too few similar runs, it is made from the tokens of an answer (`answer_tokens`), the token limit of
    the run (`limit`) and the tokens a second that the model reads and writes (`speeds`, where known).
    """
    prompt_tokens = max(prompt_tokens, 1)
    if len(past) < ENOUGH_RUNS:
        first_answer = min(prompt_tokens + answer_tokens, limit)
        tokens = Quantiles(low=first_answer, likely=first_answer, high=limit)
        first_seconds = prompt_tokens / speeds[0] + answer_tokens / speeds[1] if speeds else None
        seconds = (
            Quantiles(low=first_seconds, likely=first_seconds, high=first_seconds * limit / first_answer)
            if first_seconds
            else None
        )
        return Estimate(prompt_tokens=prompt_tokens, tokens=tokens, seconds=seconds, runs=len(past))
    tokens = _quantiles([run.tokens / run.prompt_tokens for run in past], prompt_tokens, limit)
    seconds = _quantiles([run.seconds / run.prompt_tokens for run in past], prompt_tokens)
    prices = [run.cost / run.prompt_tokens for run in past if run.cost is not None]
    return Estimate(
        prompt_tokens=prompt_tokens,
        tokens=tokens,
        seconds=seconds,
        cost=_quantiles(prices, prompt_tokens) if len(prices) == len(past) else None,
        runs=len(past),
        solved=sum(run.solved for run in past) if len(past) >= ENOUGH_FOR_SOLVED_SHARE else None,
    )


def format_estimate(estimate: Estimate) -> str:
    """`about 900 tokens (400 to 3200), 14 s (8 to 55), $0.01; about 7 in 10 such runs are solved, based on 34 …`."""
    if estimate.runs < ENOUGH_RUNS:
        first = [f"about {_round_significant(estimate.tokens.likely)} tokens"]
        first += [f"{_round_significant(estimate.seconds.likely)} s"] if estimate.seconds else []
        return f"{', '.join(first)} for the first answer; at most {_round_significant(estimate.tokens.high)} tokens"
    parts = [f"about {_format_range(estimate.tokens, 'tokens')}"]
    parts += [_format_range(estimate.seconds, "s")] if estimate.seconds else []
    parts += [_format_cost(estimate.cost)] if estimate.cost and estimate.cost.high else []
    chance = ""
    if estimate.solved is not None:
        chance = f"; about {round(10 * estimate.solved / estimate.runs)} in 10 such runs are solved"
    return f"{', '.join(parts)}{chance}, based on {estimate.runs} similar runs"


def _quantiles(ratios: Sequence[float], size: int, limit: float = float("inf")) -> Quantiles:
    sorted_ratios = sorted(ratios)
    return Quantiles(*(min(_quantile(sorted_ratios, share) * size, limit) for share in QUANTILES))


def _quantile(values: Sequence[float], share: float) -> float:
    """A quantile of sorted values, by linear interpolation between the two nearest."""
    position = share * (len(values) - 1)
    lower = int(position)
    upper = min(lower + 1, len(values) - 1)
    return values[lower] + (values[upper] - values[lower]) * (position - lower)


def _format_range(span: Quantiles, unit: str) -> str:
    low, likely, high = map(_round_significant, (span.low, span.likely, span.high))
    return f"{likely} {unit}" if low == high else f"{likely} {unit} ({low} to {high})"


def _format_cost(span: Quantiles) -> str:
    return f"${span.likely:.2g}" if span.likely else f"up to ${span.high:.2g}"


def _round_significant(value: float) -> str:
    """Two significant digits: more would promise too much."""
    digits = max(len(str(int(value))) - 2, 0)
    return str(int(round(value, -digits)))
