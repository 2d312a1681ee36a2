"""Messages between judge and code: calls in both directions, and what ends a conversation."""

from __future__ import annotations

import json

import pytest

from two_sides import CannotCross, apart, conversation, said

peer = apart["apart_peer"]


def test_calls_cross_in_both_directions_at_any_depth():
    def count(number, further):
        return [number, *(further(number - 1) if number else [])]

    with conversation(count=count) as judge:
        assert judge.ask("count", 5, lambda number: judge.ask("count", number, judge_calls)) == [5, 4, 2]


def judge_calls(number):
    return [number - 1] if number else []


def test_an_exception_of_the_tests_comes_back_through_the_code():
    class Own(ValueError):
        pass

    def fail():
        raise Own("x")

    caught = []

    def call(given):
        try:
            given()
        except ValueError as error:
            caught.append(type(error).__name__)
            raise

    with conversation(call=call) as judge, pytest.raises(Own, match="x"):
        judge.ask("call", fail)
    assert caught == ["Own"]


def test_what_cannot_cross_is_told_and_noted_and_the_conversation_goes_on():
    with conversation(make=lambda: json.JSONDecoder, ok=lambda: 1) as judge:
        with pytest.raises(CannotCross, match="the class JSONDecoder"):
            judge.ask("make")
        assert judge.given_up == ["the class JSONDecoder"]
        assert judge.ask("ok") == 1


def test_an_unknown_question_is_refused_by_the_judge():
    with pytest.raises(CannotCross, match="unknown question"):
        said(b"").answer("call", ["os", "system", True, (), {}])


@pytest.mark.parametrize("value", [[1], "x", 5, pytest])
def test_the_judge_serves_only_what_it_has_lent(value):
    with pytest.raises(CannotCross, match="not lent"):
        said(b"").answer("op", ["call", value, [], {}])
    with pytest.raises(CannotCross, match="not lent"):
        said(b"").answer("method", [int, "__add__", (1, 1), {}])


def test_the_judge_serves_no_method_that_is_not_written_in_python():
    judge = said(b"")
    judge.share(list)
    with pytest.raises(CannotCross, match="no method"):
        judge.answer("method", [list, "append", ([], 1), {}])


DEEP = b'{"k": "return", "o": {}, "v": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}"
TUPLES = '{"k": "return", "o": {}, "v": [' + '["t", ' * 900 + "1" + "]" * 900 + "]}"


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (b"", None), (b"{", None), (b"[]", None), (b"null", None), (b'{"k": "return", "v": [1]}', None), (b'{"v": 1, "o": {}}', None),
        (b'{"k": "return", "v": [], "o": {"": []}}', None), (b'{"k": "return", "v": [1], "o": {}}', 7), (b"{}", peer.MOST_BYTES + 1),
        (b"\xff\xfe", None), (DEEP, None), (TUPLES.encode(), None),
    ],
    ids=["nothing", "half", "a list", "null", "no states", "no list", "no number", "too short", "too large", "no text", "deep", "deep tuples"],
)  # fmt: skip
def test_what_is_no_message_is_refused(body, size):
    with pytest.raises(CannotCross):
        said(body, size=size).receive()


def test_a_message_that_is_too_large_is_not_sent(monkeypatch):
    monkeypatch.setattr(peer, "MOST_BYTES", 100)
    with conversation(ok=lambda *_: 1) as judge:
        assert judge.ask("ok", "x" * 10) == 1
        with pytest.raises(CannotCross, match="bytes"):
            judge.ask("ok", "x" * 100)


def test_more_objects_than_a_message_may_have_are_not_sent(monkeypatch):
    monkeypatch.setattr(apart["apart_encoder"], "MOST_OBJECTS", 50)
    with conversation(ok=lambda *_: 1) as judge, pytest.raises(CannotCross, match="more than 50 objects"):
        judge.ask("ok", [[] for _ in range(60)])


def test_an_answer_that_raises_what_is_no_exception_is_refused():
    with pytest.raises(CannotCross, match="no exception"):
        said(b"")._result("raise", [5])


def test_only_changed_states_are_sent_again(monkeypatch):
    sizes = []
    with conversation(ok=lambda _: None) as judge:
        write = judge.wire.write
        monkeypatch.setattr(judge, "wire", Wire(judge.wire, lambda data: sizes.append(len(json.loads(data[4:])["o"])) or write(data)))  # fmt: skip
        items = [[1], [2]]
        judge.ask("ok", items)
        judge.ask("ok", items)
        items[1].append(3)
        judge.ask("ok", items)
    assert sizes == [3, 0, 1]


class Wire:
    """A stream whose writes are looked at."""

    def __init__(self, stream, write):
        self.read, self.flush, self.write = stream.read, stream.flush, write
