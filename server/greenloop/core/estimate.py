"""What a run will come to, before it begins: tokens, seconds, money, and from enough runs on the chance.

By what similar runs came to for each token of their first prompt. How long a run takes depends on whether its first
answers are right, so that there is no one number: a span holds what four of five such runs came to.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.core.nouns import Estimate, Past, Span

ENOUGH = 5  # similar runs from which on they are believed
FOR_A_CHANCE = 20  # similar runs from which on their share of solved ones is told
QUANTILES = (0.1, 0.5, 0.9)  # that a span has
EMBEDDED = (33.0, 12.0)  # tokens a second that the embedded model reads and writes on two cores
CLOSE = 0.3  # how far outside of a span an outcome may be that it still foretold


def foreseen(
    past: Sequence[Past], *, prompt: int, answer: int, limit: int, speeds: tuple[float, float] | None = None
) -> Estimate:
    """The estimate for a first prompt of so many tokens.

    `answer` is how many tokens an answer should have and `limit` the run's own; they, and the tokens that the model
    reads and writes in a second (`speeds`, where known), speak as long as there are too few similar runs.
    """
    prompt = max(prompt, 1)
    if len(past) < ENOUGH:
        first = min(prompt + answer, limit)
        tokens = Span(low=first, likely=first, high=limit)
        wait = prompt / speeds[0] + answer / speeds[1] if speeds else None
        seconds = Span(low=wait, likely=wait, high=wait * limit / first) if wait else None
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
    """Did it come to what was said, give or take 30 %?"""
    return span.low * (1 - CLOSE) <= value <= span.high * (1 + CLOSE)


def told(estimate: Estimate) -> str:
    """`about 900 tokens (400 to 3200), 14 s (8 to 55), $0.01; about 7 in 10 are solved, from 34 runs like this`."""
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
    known = sorted(ratios)
    return Span(*(min(_quantile(known, share) * size, limit) for share in QUANTILES))


def _quantile(known: Sequence[float], share: float) -> float:
    """Of sorted values, by linear interpolation between the two nearest."""
    place = share * (len(known) - 1)
    below = int(place)
    above = min(below + 1, len(known) - 1)
    return known[below] + (known[above] - known[below]) * (place - below)


def _shown(span: Span, unit: str) -> str:
    low, likely, high = map(_rounded, (span.low, span.likely, span.high))
    return f"{likely} {unit}" if low == high else f"{likely} {unit} ({low} to {high})"


def _money(span: Span) -> str:
    return f"${span.likely:.2g}" if span.likely else f"up to ${span.high:.2g}"


def _rounded(value: float) -> str:
    """Two digits that count: more would promise too much."""
    digits = max(len(str(int(value))) - 2, 0)
    return str(int(round(value, -digits)))
