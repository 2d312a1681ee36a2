"""Reads the refused parameter from a provider's error, and leaves it out of later requests.

It must not know how requests are sent.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from greenloop.plugins.remote_models import provider_errors

LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"
STATUSES = {400, 404, 422, 500, 501}
# Words that are about the request's form; others are about its content, which no parameter changes.
REFUSED = re.compile(
    r"not (?:\w+ )?support|unsupported|unrecogni[sz]ed|unknown|unexpected|deprecated|extra (?:inputs|fields)"
    r"|not (?:permitted|allowed|enabled|available|accepted|recogni[sz]ed|implemented)|requires? --|no endpoints found"
    r"|only the default|may only be|cannot (?:both )?be|invalid (?:value|parameter|argument)|must (?:be|contain)",
    re.IGNORECASE,
)
# By what words a parameter is known. The one that a message names first is left out, tools only where no other is.
NAMES = {
    "stream_options": r"stream_?options|include_usage",
    "reasoning_effort": r"reasoning[_.]?effort|reasoning\.effort|\breasoning\b|thinking(?:_?(?:budget|level|config))?\b"
    r"|effort parameter",
    "frequency_penalty": r"frequency_?penalty|\bpenalty\b",
    "temperature": r"\btemperature\b",
    "seed": r"\bseed\b",
    "stop": r"\bstop\b|stop_?sequences",
    "reasoning_content": r"reasoning_content",
    "cache_control": r"cache_control|cache_?point|prompt caching",
    NEW_LIMIT: r"max_completion_tokens",
    LIMIT: r"max_(?:output_|new_)?tokens|maxOutputTokens|num_predict",
    "tools": r"\btools\b|\btool[ _](?:use|calling|choice)\b|function[ _-]?calling|function_?declarations",
}
PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in NAMES.items()}
# Thinking of an earlier turn that is missing, changed, or another model's.
BROKEN_THINKING = re.compile(
    r"expected `?thinking|when `?thinking`? is disabled|invalid `?signature"
    r"|(?:thinking|redacted_thinking)`? blocks?\b.*(?:modified|must)",
    re.IGNORECASE | re.DOTALL,
)
BUDGET = re.compile(r"budget_tokens")  # of thinking, which the whole answer has to be longer than
LARGE = re.compile(r"too large|at most|maximum|less than|valid range|must be between|exceeds", re.IGNORECASE)
ROOM = re.compile(r"maximum context length is (\d+) tokens.*?(\d+) (?:input tokens|in the messages)", re.DOTALL)
LEAST_ROOM = 256  # tokens; a model that leaves less for an answer was asked too much


@dataclass(kw_only=True)
class Refusals:
    """Refusals of a model so far: parameters, and answers of more than `most` tokens (0: none)."""

    left_out: set[str] = field(default_factory=set)
    is_renamed: bool = False
    most: int = 0

    def accepted(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """The parameters without those that were refused, and with a limit as this model wants it."""
        accepted = dict(parameters)
        if self.most:
            accepted[LIMIT] = min(accepted[LIMIT], self.most)
        if self.is_renamed:
            accepted[NEW_LIMIT] = accepted.pop(LIMIT)
        return {name: value for name, value in accepted.items() if name not in self.left_out}

    def learn(self, error: Exception, parameters: dict[str, Any], fields: Collection[str] = ()) -> bool:
        """Notes what a refusal names; False: nothing that was sent and that the request can do without.

        `parameters` and `fields` (of messages) are those that were sent.
        """
        message = str(error)
        if provider_errors.status_of(error) not in STATUSES:
            return False
        sent = parameters.get(LIMIT) or parameters.get(NEW_LIMIT) or 0
        if most := _stated_limit(message, sent):
            self.most = most
            return True
        if provider_errors.is_too_long(error):
            return False
        if BROKEN_THINKING.search(message):
            return self._leave_out({"thinking_blocks", "reasoning_effort"} & {*parameters, *fields})
        if BUDGET.search(message):
            return self._leave_out({"reasoning_effort"} & {*parameters})
        if not REFUSED.search(message):
            return False
        named = _first_named(message, {*parameters, *fields})
        if named == LIMIT:
            self.is_renamed = True
            return True
        return self._leave_out({named} - {""})

    def _leave_out(self, names: set[str]) -> bool:
        self.left_out |= names
        return bool(names)


def _first_named(message: str, sent: Collection[str]) -> str:
    matches = {name: pattern.search(message) for name, pattern in PATTERNS.items() if name in sent}
    places = {name: match.start() for name, match in matches.items() if match}
    return min(places, key=lambda name: (name == "tools", places[name]), default="")


def _stated_limit(message: str, sent: int) -> int:
    """The most tokens of an answer by a message that calls a limit too large; 0 where it states none."""
    if room := ROOM.search(message):
        left = int(room[1]) - int(room[2])
        return left if LEAST_ROOM <= left < sent else 0
    if not (PATTERNS[LIMIT].search(message) or PATTERNS[NEW_LIMIT].search(message)) or not LARGE.search(message):
        return 0
    smaller = [number for number in map(int, re.findall(r"\d+", message)) if LEAST_ROOM <= number < sent]
    return max(smaller, default=0)
