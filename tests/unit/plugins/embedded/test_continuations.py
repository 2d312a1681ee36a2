"""The next best texts: an engine that knows a few texts with their probabilities, token by token."""

from __future__ import annotations

from math import log

import pytest

from greenloop.plugins.embedded.continuations import Beginning, LikelyToken, Step, best_texts, read_steps

WORDS = ["if", " a", " b", " >", " >=", " 0", " 1", ":", "else", "\n", ""]


def token(text: str, probability: float) -> LikelyToken:
    return LikelyToken(number=WORDS.index(text), text=text, logprob=log(probability))


class Engine:
    """Knows the rivals of each token of `if a > 0:`; after another token it goes on as it would have."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.rivals = {"if": ("else", 0.05), " a": (" b", 0.1), " >": (" >=", 0.3), " 0": (" 1", 0.001)}
        self.rivals[":"] = ("\n", 0.04)

    async def write(self, beginning: Beginning) -> tuple[str, list[Step]]:
        self.asked.append(beginning.text)
        text, steps = beginning.text, []
        for word, (rival, share) in list(self.rivals.items())[len(beginning.numbers) :]:
            steps.append(Step(token=token(word, 0.9), rivals=[token(word, 0.9), token(rival, share)]))
            text += word
        return text, steps


def cut(text: str) -> tuple[str, bool]:
    line, end, _rest = text.partition("\n")
    return line, bool(end)


async def test_the_next_best_text_differs_where_another_token_is_most_probable():
    engine = Engine()
    assert await best_texts(engine.write, cut, count=3, avoid="") == ["if a > 0:", "if a >= 0:", "if b > 0:"]
    assert engine.asked == ["", "if a >=", "if b"]


async def test_what_stood_there_is_no_answer():
    assert await best_texts(Engine().write, cut, count=1, avoid="if a>0:") == ["if a >= 0:"]


async def test_a_token_that_ends_the_text_needs_no_request():
    engine = Engine()
    engine.rivals = {"if": ("else", 0.001), ":": ("\n", 0.5)}
    assert await best_texts(engine.write, cut, count=2, avoid="") == ["if:", "if"]
    assert engine.asked == [""]


async def test_improbable_texts_are_not_written():
    engine = Engine()
    engine.rivals = {" 0": (" 1", 0.001)}
    assert await best_texts(engine.write, cut, count=2, avoid="") == [" 0"]


async def test_without_another_text_the_answer_stays():
    engine = Engine()
    engine.rivals = {" 0": (" 1", 0.001)}
    assert await best_texts(engine.write, cut, count=2, avoid="0") == [" 0"]


@pytest.mark.parametrize("event", [{}, {"completion_probabilities": None}, {"completion_probabilities": []}])
def test_events_without_probabilities_have_no_steps(event):
    assert read_steps(event) == []


def test_steps_are_read():
    row = {"id": 7, "bytes": [195, 164], "logprob": -0.5}
    [step] = read_steps({"completion_probabilities": [row | {"top_logprobs": [row]}]})
    assert (step.token.number, step.token.text, step.rivals) == (7, "ä", [step.token])
