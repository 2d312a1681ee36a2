"""What a model is asked about a template, and which of its answers can be used."""

from __future__ import annotations

import pytest

from greenloop.core.records.model import Role
from greenloop_lab.bench.tuning import rewriting
from greenloop_lab.bench.tuning.rewriting import Tried


def test_the_question_has_the_text_its_score_what_was_tried_and_what_went_wrong(make):
    failure = make("a", "task-3", ("AssertionError", False))
    failure.attempts[1]["answer"] = "def f(): return 0"
    tried = [Tried(text="Please $names $feedback", solved=3), Tried(text="$names", fault="it lacks the variable")]
    best = Tried(text="Do `$names`.\n$feedback", solved=4)
    request = rewriting.rewrite_request("default/draft", best, 10, tried, [failure], 5)
    text = request.messages[-1].content
    for part in (
        "Do `$names`.\n$feedback", "4 of 10 tasks", "3 of 10 solved:\nPlease", "not usable: it lacks the variable",
        "task-3: AssertionError\ndef f(): return 0", "$feedback, $names",
    ):  # fmt: skip
        assert part in text
    assert (request.role, request.seed) == (Role.PLANNER, 5)
    assert request.temperature > 0


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("<template>\nFirst: $feedback\n\nWrite `$names`.\n</template>", ""),
        ("<template>Write `$names`.</template>", "it lacks the variable $feedback"),
        ("<template>$names ${feedback} for $spec</template>", "it uses the unknown variable $spec"),
        ("<template>$names $feedback costs 5$</template>", "it has a `$` that does not start a variable"),
        ("<template>\n\n</template>", "it is empty"),
        ("Write `$names`. $feedback", "it has no text between <template> and </template>"),
        (f"<template>$names $feedback {'x' * 70_000}</template>", "it has more than 64 KiB"),
    ],
)
def test_an_answer_that_cannot_replace_the_template_is_refused(answer, fault):
    rewritten = rewriting.read_rewritten("default/draft", answer)
    assert rewritten.fault.startswith(fault)
    assert bool(rewritten.fault) is bool(fault)
    if not fault:
        assert rewritten.text == "First: $feedback\n\nWrite `$names`.\n"


def test_a_literal_template_has_no_variables():
    assert rewriting.read_rewritten("default/system", "<template>5$ if it is right</template>").fault == ""


def test_spaces_make_no_other_text():
    assert rewriting.same_text("a  b\n", "a\nb")
    assert not rewriting.same_text("a b", "a c")
