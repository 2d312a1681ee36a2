"""Decides on the wait before a request is sent again, from the provider's error and the patience.

It must not know how requests are sent.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from greenloop.plugins.remote_models import provider_errors

# Seconds between retries, doubled from the first to the last. Without patience, a provider that asks to wait longer
# than the longest is not asked again.
FIRST_PAUSE, LAST_PAUSE, LONGEST_PAUSE = 0.5, 8.0, 60.0
OVERLOADED_PAUSE = 30.0  # the last of the pauses for an overloaded provider that states none
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
DURATION = r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+"
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
STATED = re.compile(
    rf"(?:try again|retry)(?: after| in)? ({DURATION})(?![\w])"
    r"|(?:try again|retry)(?: after| in)? (\d+(?:\.\d+)?) ?(?:seconds?|secs?)\b"
    rf"|\"?retryDelay\"?: \"?({DURATION})",
    re.IGNORECASE,
)


@dataclass(kw_only=True)
class Waits:
    """The waits of one request: at most `retries`, and those for an overloaded provider as long as `patience` lasts.

    `patience` is in seconds; None: a wait for an overloaded provider is one of the retries.
    """

    retries: int
    patience: float | None
    rng: random.Random
    failures: int = 0
    overloads: int = 0
    waited: float = 0.0

    def pause_after(self, error: Exception) -> float | None:
        """Seconds to wait before the request is sent again; None: it is given up."""
        if not provider_errors.is_transient(error):
            return None
        stated = stated_wait(error)
        if self.patience is not None and provider_errors.is_overloaded(error):
            growing = self._growing(self.overloads, OVERLOADED_PAUSE)
            pause = growing if stated is None else max(stated, FIRST_PAUSE)
            if self.waited + pause > self.patience:
                return None
            self.overloads += 1
            self.waited += pause
            return pause
        if self.failures >= self.retries:
            return None
        self.failures += 1
        if stated is not None:
            return stated if stated <= LONGEST_PAUSE else None
        return self._growing(self.failures - 1, LAST_PAUSE)

    def _growing(self, number: int, last: float) -> float:
        return min(last, FIRST_PAUSE * 2.0**number) * self.rng.uniform(0.5, 1.5)


def stated_wait(error: Exception, now: datetime | None = None) -> float | None:
    """The seconds that the provider asks to wait, by its headers or its message; None where it says nothing."""
    headers = _headers(error)
    now = now or datetime.now(UTC)
    if milliseconds := _number(headers.get("retry-after-ms")):
        return milliseconds / 1000
    after = _moment(headers.get("retry-after"), now)
    if after is not None:
        return after
    if match := STATED.search(str(error)):
        duration, seconds, delay = match.groups()
        return float(seconds) if seconds else _duration(duration or delay)
    return _reset(headers, now)


def _headers(error: Exception) -> Mapping[str, str]:
    """The headers of the answer in small letters, without the prefix that litellm gives them."""
    headers: Any = getattr(error, "litellm_response_headers", None)
    headers = headers or getattr(getattr(error, "response", None), "headers", None) or {}
    return {str(name).lower().removeprefix("llm_provider-"): str(value) for name, value in dict(headers).items()}


def _reset(headers: Mapping[str, str], now: datetime) -> float | None:
    """The time until the limits are reset that are used up, or, where none is said to be, the first of all."""
    resets = {name: _moment(value, now) for name, value in headers.items() if "ratelimit" in name and "reset" in name}
    known = {name: seconds for name, seconds in resets.items() if seconds is not None}
    used_up = [seconds for name, seconds in known.items() if headers.get(name.replace("reset", "remaining")) == "0"]
    return max(used_up) if used_up else min(known.values(), default=None)


def _moment(text: str | None, now: datetime) -> float | None:
    """The seconds until a moment: a number of seconds, a duration such as 6m0s, or a date in one of two forms."""
    if not text:
        return None
    number = _number(text)
    if number is not None:
        # A number this large is a date: the seconds since 1970.
        return max(0.0, number - now.timestamp() if number > now.timestamp() / 2 else number)
    if re.fullmatch(DURATION, text):
        return _duration(text)
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(text)
            return max(0.0, (moment - now).total_seconds())
        except (ValueError, TypeError):
            continue
    return None


def _duration(text: str) -> float:
    return sum(float(number) * UNITS[unit.lower()] for number, unit in PART.findall(text.lower()))


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


# -- slots of a server ------------------------------------------------------------------------------------------------


SECONDS = 2.0  # until a server counts as one that does not say


class ServedSlots:
    """Owns the one question; `number` is 0 until the server has said it, and where it never does."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.number, self._seconds = 0, seconds
        self._asking: asyncio.Task[None] | None = None

    def ask(self, base: str, key: str = "") -> None:
        """Asks the server with this base URL in the background, the first time that this is called."""
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask(base, key))

    async def close(self) -> None:
        """Withdraws a question that is under way."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    async def _ask(self, base: str, key: str) -> None:
        url = base.rstrip("/").removesuffix("/v1") + "/props"
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            async with httpx.AsyncClient(timeout=self._seconds) as client:
                properties = (await client.get(url, headers=headers)).raise_for_status().json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError):
            return
        slots = properties.get("total_slots") if isinstance(properties, dict) else None
        self.number = slots if isinstance(slots, int) and slots > 0 else 0
