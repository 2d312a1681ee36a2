"""Answers put together from the pieces in which they come."""

from __future__ import annotations

from types import SimpleNamespace as Piece

import pytest

from greenloop.plugins.remote_models.streamed import StreamedAnswer


def chunk(finish=None, usage=None, **delta):
    delta = Piece(**{"content": None} | delta)
    return Piece(choices=[Piece(delta=delta, finish_reason=finish)], usage=usage)


def call(index=0, call_id=None, name=None, arguments="", **fields):
    return Piece(index=index, id=call_id, function=Piece(name=name, arguments=arguments), **fields)


def read(*chunks, provider="p"):
    pieces = []
    answer = StreamedAnswer(provider=provider, on_token=pieces.append)
    for each in chunks:
        answer.add(each)
    answer.end()
    assert "".join(pieces) == answer.text
    return answer


def called(*lists):
    answer = read(*[chunk(tool_calls=pieces) for pieces in lists])
    assert len({each.id for each in answer.calls}) == len(answer.calls)
    return [(each.id, each.name, each.arguments) for each in answer.calls]


@pytest.mark.parametrize(
    ("lists", "calls"),
    [
        (  # OpenAI: one after the other
            [
                [call(0, "a", "read")],
                [call(0, None, None, '{"p')],
                [call(0, None, None, '": 1}')],
                [call(1, "b", "find")],
                [call(1, None, None, "{}")],
            ],
            [("a", "read", '{"p": 1}'), ("b", "find", "{}")],
        ),
        (  # in turns
            [
                [call(0, "a", "read"), call(1, "b", "find")],
                [call(1, None, None, '{"q": ')],
                [call(0, None, None, '{"p": ')],
                [call(1, None, None, "2}"), call(0, None, None, "1}")],
            ],
            [("a", "read", '{"p": 1}'), ("b", "find", '{"q": 2}')],
        ),
        (  # whole calls that all have the number 0
            [[call(0, "a", "read", "{}")], [call(0, "b", "read", "{}")], [call(0, "c", "find", "{}")]],
            [("a", "read", "{}"), ("b", "read", "{}"), ("c", "find", "{}")],
        ),
        (  # id and name in every piece
            [[call(0, "a", "read", '{"p')], [call(0, "a", "read", '": 1}')]],
            [("a", "read", '{"p": 1}')],
        ),
        (  # no ids, no numbers
            [[call(None, None, "read", "{}")], [call(None, None, "find", "{}")]],
            [("call00000", "read", "{}"), ("call00001", "find", "{}")],
        ),
        (  # an id that is used twice
            [[call(0, "a", "read", "{}"), call(1, "a", "find", "{}")]],
            [("a", "read", "{}"), ("call00001", "find", "{}")],
        ),
        ([[call(0, "a", "read", {"p": 1})]], [("a", "read", '{"p": 1}')]),
        ([[call(0, "a", "read", None)]], [("a", "read", "")]),
        ([[call(0, None, None, "{}")]], []),
        ([[call(0, "a__thought__c2ln", "read", "{}")]], [("a", "read", "{}")]),
    ],
)
def test_calls(lists, calls):
    assert called(*lists) == calls


def test_data_of_the_provider_stays_with_its_call():
    answer = read(
        chunk(tool_calls=[call(0, "a", "read", "{}", provider_specific_fields={"thought_signature": "s"})]),
        provider="gemini",
    )
    (only,) = answer.calls
    assert only.extra == {"provider": "gemini", "provider_specific_fields": {"thought_signature": "s"}}


def test_blocks_of_thinking_end_with_their_signatures():
    blocks = [
        {"type": "thinking", "thinking": "I "},
        {"type": "thinking", "thinking": "think"},
        {"type": "thinking", "thinking": "", "signature": "one"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "thinking", "thinking": "again"},
        {"type": "thinking", "thinking": "", "signature": "two"},
    ]
    answer = read(*[chunk(thinking_blocks=[block], reasoning_content="-") for block in blocks], chunk(content="Yes."))
    assert answer.text == "Yes."
    assert answer.thinking == "-" * 6
    assert answer.extra == {
        "provider": "p",
        "thinking_blocks": [
            {"type": "thinking", "thinking": "I think", "signature": "one"},
            {"type": "redacted_thinking", "data": "xyz"},
            {"type": "thinking", "thinking": "again", "signature": "two"},
        ],
    }


@pytest.mark.parametrize(
    ("pieces", "text", "thinking"),
    [
        (["Yes."], "Yes.", ""),
        (["<th", "ink>\nwell</th", "ink>\n\nYes", "."], "Yes.", "\nwell"),
        (["\n", "<think>", "</think>", "Yes."], "Yes.", ""),
        (["<", "div>"], "<div>", ""),
        (["<thi"], "<thi", ""),
        (["  x = 1"], "  x = 1", ""),
        (["<think>", "no end"], "", "no end"),
        (["Say <think>it</think>."], "Say <think>it</think>.", ""),
        (["\n", "\n"], "\n\n", ""),
    ],
)
def test_thinking_at_the_beginning_of_the_text(pieces, text, thinking):
    answer = read(*[chunk(content=piece) for piece in pieces])
    assert (answer.text, answer.thinking) == (text, thinking)


def test_text_is_passed_on_piece_by_piece():
    pieces = []
    answer = StreamedAnswer(provider="p", on_token=pieces.append)
    for piece in ("def ", "f(): ", "..."):
        answer.add(chunk(content=piece))
    assert pieces == ["def ", "f(): ", "..."]


def test_thinking_is_written_once():
    silent = read(chunk(content="Yes, it is."))
    loud = read(chunk(reasoning_content="Is it? It may be."), chunk(content="Yes, it is."))
    tagged = read(chunk(content="<think>Is it? It may be.</think>Yes, it is."))
    assert silent.written_tokens < loud.written_tokens == tagged.written_tokens


def test_the_last_word_about_end_and_tokens_counts():
    answer = read(chunk(content="x"), chunk(finish="length"), Piece(choices=[], usage=7))
    assert (answer.finish, answer.counts) == ("length", 7)
