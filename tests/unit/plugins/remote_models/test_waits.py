"""The wait before a request is sent again: all the ways to state one, and the limits of patience."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from greenloop.plugins.remote_models.waits import Waits, stated_wait

NOW = datetime(2026, 5, 4, 12, 0, 0, tzinfo=UTC)


class Refused(Exception):
    def __init__(self, message="", status=429, **headers):
        super().__init__(message)
        self.status_code = status
        self.litellm_response_headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Prefixed(Refused):
    def __init__(self, **headers):
        super().__init__(**headers)
        self.litellm_response_headers = {f"llm_provider-{name}": value for name, value in headers.items()}


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (Refused(), None),
        (Refused(retry_after="7"), 7.0),
        (Refused(retry_after="2.5"), 2.5),
        (Refused(Retry_After="7"), 7.0),
        (Prefixed(**{"retry-after": "7"}), 7.0),
        (Refused(retry_after="Mon, 04 May 2026 12:01:30 GMT"), 90.0),
        (Refused(retry_after="Mon, 04 May 2026 11:00:00 GMT"), 0.0),
        (Refused(retry_after="nonsense"), None),
        (Refused(retry_after_ms="1500", retry_after="9"), 1.5),
        (Refused("Rate limit reached. Please try again in 6m0s. Visit the site."), 360.0),
        (Refused("Please try again in 1.242s."), 1.242),
        (Refused("Please try again in 20ms."), 0.02),
        (Refused("Please try again in 1h2m3s."), 3723.0),
        (Refused("Please retry after 26 seconds."), 26.0),
        (Refused("Try again in 59 seconds."), 59.0),
        (Refused("You exceeded your current quota. Please retry in 34.074824224s."), 34.074824224),
        (Refused('{"details": [{"retryDelay": "34s"}]}'), 34.0),
        (Refused("Please try again later."), None),
        (Refused("Try again in 3 small steps."), None),
        (Refused("Please try again in 20s.", retry_after="7"), 7.0),
        (Refused(x_ratelimit_reset_requests="1s", x_ratelimit_reset_tokens="6m0s"), 1.0),
        (
            Refused(
                x_ratelimit_reset_requests="1s",
                x_ratelimit_reset_tokens="6m0s",
                x_ratelimit_remaining_tokens="0",
                x_ratelimit_remaining_requests="5",
            ),
            360.0,
        ),
        (Refused(anthropic_ratelimit_requests_reset="2026-05-04T12:00:12Z"), 12.0),
        (Refused(x_ratelimit_reset=str(int(NOW.timestamp()) + 40)), 40.0),
    ],
)
def test_what_a_provider_states(error, seconds):
    assert stated_wait(error, NOW) == (None if seconds is None else pytest.approx(seconds))


def pauses(error, most=20, **fields):
    waits = Waits(**{"retries": 2, "patience": None, "rng": random.Random(1)} | fields)
    listed = []
    while len(listed) < most and (pause := waits.pause_after(error)) is not None:
        listed.append(pause)
    return listed


def test_without_patience_waits_are_retries():
    assert pauses(Refused(retry_after="7")) == [7.0, 7.0]
    assert pauses(Refused(retry_after="61")) == []
    assert len(pauses(Refused(status=500))) == 2
    assert pauses(Refused(status=500), retries=0) == []


def test_patience_is_for_what_is_stated_and_ends():
    assert pauses(Refused(retry_after="30"), patience=100.0) == [30.0] * 3
    assert pauses(Refused(retry_after="30"), patience=100.0, retries=0) == [30.0] * 3
    assert pauses(Refused(retry_after="3600"), patience=100.0) == []
    assert pauses(Refused(retry_after="90"), patience=100.0) == [90.0]
    assert pauses(Refused(retry_after="30"), patience=0.0) == []


def test_a_wait_of_nothing_uses_patience_up_as_well():
    assert len(pauses(Refused(retry_after="0"), patience=5.0)) == 10


def test_an_overloaded_provider_that_states_nothing_is_asked_less_and_less():
    listed = pauses(Refused(status=529), patience=300.0, most=99)
    assert 250 < sum(listed) <= 300
    assert listed[0] < 1
    assert max(listed) <= 45
    assert len(listed) < 25


def test_patience_is_for_no_other_error():
    assert len(pauses(Refused(status=500), patience=600.0)) == 2
    assert len(pauses(Refused("Overloaded", status=500), patience=600.0, most=9)) == 9
    assert pauses(Refused("prompt is too long", status=400), patience=600.0) == []
    assert pauses(Refused("insufficient_quota"), patience=600.0) == []
    assert pauses(Refused("Request too large for gpt-4o on tokens per min"), patience=600.0) == []
