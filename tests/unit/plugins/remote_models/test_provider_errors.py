"""Errors of providers as sentences, by status, class and message alone."""

from __future__ import annotations

import pytest

from greenloop.core.errors import ContextTooLongError
from greenloop.plugins.remote_models.provider_errors import (
    Asked,
    explain_error,
    is_overloaded,
    is_too_long,
    is_transient,
)

ASKED = Asked(name="gpt-4o", provider="openai", variable="OPENAI_API_KEY")


class Refused(Exception):
    def __init__(self, message, status=None):
        super().__init__(message)
        self.status_code = status


def explained(message, status=None, **fields):
    asked = Asked(**{"name": "gpt-4o", "provider": "openai", "variable": "OPENAI_API_KEY"} | fields)
    error = explain_error(Refused(message, status), asked, secrets=["hidden-value"])
    assert str(error).endswith((".", "…"))
    assert error.remedy
    return error


@pytest.mark.parametrize(
    ("message", "status", "sentence", "remedy"),
    [
        ("Incorrect API key provided", 401, "openai did not accept the key for gpt-4o.", "OPENAI_API_KEY"),
        ("API key expired. Please renew the API key.", 400, "openai did not accept the key", "OPENAI_API_KEY"),
        ("API key not valid.", 400, "openai did not accept the key", "OPENAI_API_KEY"),
        ("The api_key client option must be set", None, "There is no key for gpt-4o.", "OPENAI_API_KEY"),
        ("You exceeded your current quota", 429, "The quota for gpt-4o is used up.", "account"),
        ("You exceeded your current quota. Please retry in 34s.", 429, "openai limits the rate", "Try again later"),
        ("Your credit balance is too low", 400, "The quota for gpt-4o is used up.", "account"),
        ("busy", 529, "openai is overloaded: busy.", "Try again later."),
        ('b\'{"error": {"message": "Overloaded"}}\'', 500, "openai is overloaded: Overloaded.", "Try again later."),
        ('litellm.BadRequestError: X - b\'{"error": "no \\"m\\""}\'', 400, "rejected the request: no", "api.base"),
        ("the answer ended early", None, "openai rejected the request", "api.base"),
    ],
)
def test_sentences(message, status, sentence, remedy):
    error = explained(message, status)
    assert sentence in str(error)
    assert remedy in error.remedy


def test_a_key_that_was_accepted_before_is_another_sentence():
    assert str(explained("Unauthorized", 401, has_answered=True)) == (
        "openai no longer accepts the key for gpt-4o, which it accepted before."
    )
    assert "editor" in explained("Unauthorized", 401, has_answered=True, key_from_editor=True).remedy


def test_a_stated_wait_is_in_the_remedy():
    assert "in 3600 seconds" in explained("slow down", 429, wait=3600.0).remedy


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("This model's maximum context length is 4096 tokens", 400),
        ("prompt is too long: 215000 tokens > 200000 maximum", 400),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 400),
        ("Your input exceeds the context window of this model.", 400),
        ("request (6030 tokens) exceeds the available context size (4096 tokens)", 400),
        ("Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000.", 429),
    ],
)
def test_prompts_that_are_too_long(message, status):
    assert is_too_long(Refused(message, status))
    assert not is_transient(Refused(message, status))
    assert isinstance(explained(message, status), ContextTooLongError)


@pytest.mark.parametrize(
    ("error", "transient", "overloaded"),
    [
        (Refused("x", 429), True, True),
        (Refused("x", 503), True, True),
        (Refused("x", 529), True, True),
        (Refused("Overloaded", 500), True, True),
        (Refused("x", 500), True, False),
        (Refused("x", 400), False, False),
        (ConnectionError("the answer ended early"), True, False),
        (Refused("insufficient_quota", 429), False, True),
    ],
)
def test_what_may_be_asked_again(error, transient, overloaded):
    assert (is_transient(error), is_overloaded(error)) == (transient, overloaded)


def test_a_connection_that_ends_early_is_lost():
    error = explain_error(ConnectionError("the answer ended early"), ASKED, secrets=[])
    assert str(error) == "The connection to gpt-4o was lost: the answer ended early."


def test_an_import_that_failed_is_no_lost_connection():
    class APIConnectionError(Exception):
        status_code = 500

    def wrapped(message):
        error = APIConnectionError(f"litellm.APIConnectionError: APIConnectionError: OpenAIException - {message}")
        error.__context__ = ImportError("cannot import name 'Foo' from 'openai.types'")
        return error

    failed = wrapped("cannot import name 'Foo' from 'openai.types'")
    assert not is_transient(failed)
    error = explain_error(failed, ASKED, secrets=[])
    assert str(error).endswith("cannot be imported: cannot import name 'Foo' from 'openai.types'.")
    assert "Install" in error.remedy
    # An optional package that was missing earlier is not the reason of a lost connection.
    other = wrapped("Server disconnected")
    assert is_transient(other)
    assert "was lost" in str(explain_error(other, ASKED, secrets=[]))
