"""Estimates tokens, seconds, cost and, from enough similar runs, the chance of a run before it begins.

Scales the usage of similar runs by the tokens of the first prompt. The length of a run depends on whether its first
answers are right, so an estimate is a range: `Quantiles` covers four of five similar runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.records.usage import Estimate, Past, Span

ENOUGH = 5  # similar runs; with fewer, the estimate is made from the prompt
FOR_A_CHANCE = 20  # similar runs; with fewer, the share of solved ones is not shown
QUANTILES = (0.1, 0.5, 0.9)  # low, likely, high
EMBEDDED = (33.0, 12.0)  # tokens a second that the embedded model reads, and writes, on two cores
CLOSE = 0.3  # share by which a value may be outside the range of a correct estimate


def foreseen(
    past: Sequence[Past], *, prompt: int, answer: int, limit: int, speeds: tuple[float, float] | None = None
) -> Estimate:
    """The estimate for a first prompt of `prompt_tokens`.

    While there are too few similar runs, it is made from the tokens of an answer (`answer_tokens`), the token limit of
    the run (`limit`) and the tokens a second that the model reads and writes (`speeds`, where known).
    """
    prompt = max(prompt, 1)
    if len(past) < ENOUGH:
        first_answer = min(prompt + answer, limit)
        tokens = Span(low=first_answer, likely=first_answer, high=limit)
        first_seconds = prompt / speeds[0] + answer / speeds[1] if speeds else None
        seconds = (
            Span(low=first_seconds, likely=first_seconds, high=first_seconds * limit / first_answer)
            if first_seconds
            else None
        )
        return Estimate(prompt_tokens=prompt, tokens=tokens, seconds=seconds, runs=len(past))
    tokens = _span([run.tokens / run.prompt for run in past], prompt, limit)
    seconds = _span([run.seconds / run.prompt for run in past], prompt)
    prices = [run.cost / run.prompt for run in past if run.cost is not None]
    return Estimate(
        prompt_tokens=prompt,
        tokens=tokens,
        seconds=seconds,
        cost=_span(prices, prompt) if len(prices) == len(past) else None,
        runs=len(past),
        solved=sum(run.solved for run in past) if len(past) >= FOR_A_CHANCE else None,
    )


def foretold(span: Span, value: float) -> bool:
    """Is a value in the estimated range, give or take 30 %?"""
    return span.low * (1 - CLOSE) <= value <= span.high * (1 + CLOSE)


def told(estimate: Estimate) -> str:
    """`about 900 tokens (400 to 3200), 14 s (8 to 55), $0.01; about 7 in 10 are solved, based on 34 similar runs`."""
    if estimate.runs < ENOUGH:
        first = [f"about {_rounded(estimate.tokens.likely)} tokens"]
        first += [f"{_rounded(estimate.seconds.likely)} s"] if estimate.seconds else []
        return f"{', '.join(first)} for the first answer; at most {_rounded(estimate.tokens.high)} tokens"
    parts = [f"about {_shown(estimate.tokens, 'tokens')}"]
    parts += [_shown(estimate.seconds, "s")] if estimate.seconds else []
    parts += [_money(estimate.cost)] if estimate.cost and estimate.cost.high else []
    chance = ""
    if estimate.solved is not None:
        chance = f"; about {round(10 * estimate.solved / estimate.runs)} in 10 are solved"
    return f"{', '.join(parts)}{chance}, from {estimate.runs} runs like this"


def _span(ratios: Sequence[float], size: int, limit: float = float("inf")) -> Span:
    sorted_ratios = sorted(ratios)
    return Span(*(min(_quantile(sorted_ratios, share) * size, limit) for share in QUANTILES))


def _quantile(known: Sequence[float], share: float) -> float:
    """A quantile of sorted values, by linear interpolation between the two nearest."""
    position = share * (len(known) - 1)
    lower = int(position)
    upper = min(lower + 1, len(known) - 1)
    return known[lower] + (known[upper] - known[lower]) * (position - lower)


def _shown(span: Span, unit: str) -> str:
    low, likely, high = map(_rounded, (span.low, span.likely, span.high))
    return f"{likely} {unit}" if low == high else f"{likely} {unit} ({low} to {high})"


def _money(span: Span) -> str:
    return f"${span.likely:.2g}" if span.likely else f"up to ${span.high:.2g}"


def _rounded(value: float) -> str:
    """Two significant digits: more would promise too much."""
    digits = max(len(str(int(value))) - 2, 0)
    return str(int(round(value, -digits)))
