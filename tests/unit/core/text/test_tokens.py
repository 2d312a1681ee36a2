"""core/tokens against true counts of Qwen2.5-Coder's tokenizer."""

import math

import pytest

from greenloop.core.records.model import Message
from greenloop.core.text import tokens

# (text, tokens that the model's own tokenizer makes of it)
TRUE = [
    (('eleted"\nENCODING = "EncodingError"\n\n_RISKY_MODULES = {\n    "os", "subprocess", "socket", "ctypes", '
     '"shutil", "signal", "'), 40),
    (("ested` |\n\n### planned\n\n| field | meaning |\n|---|---|\n| `attempt`, `parent` | its number, and the attempt "
     "it starts from "), 34),
    (("le[[Draft], str]\n    count: Callable[[str], int]\n\n\nasync def refine(\n    problem: Problem, started: Started, "
     "parts: Part"), 31),
    (("  @property\n    def name(self) -> str:\n        return self._name\n\n    async def complete(self, request: "
     "Completion, on_t"), 30),
    (("The code above failed when it was executed:\n\n$feedback\n\nWrite the complete corrected function in one Python "
     "code block.\n"), 23),
    ('{"a": [1, 2, 3.14159, -7]}' * 30, 630),
    ("E       assert [1, 2, 3, 4] == [4, 3, 2, 1]\nE         At index 0 diff: 1 != 4\n" * 10, 420),
    ("x = 1\n" * 100, 500),
    ("1234567890" * 30, 300),
    ("ÄÖÜß" * 50, 200),
    ("zażółć gęślą jaźń " * 20, 221),
]  # fmt: skip


@pytest.mark.parametrize(("text", "true"), TRUE)
def test_an_estimate_is_close_to_the_models_own_count(text, true):
    assert 0.9 * true <= tokens.estimate_tokens(text) <= 1.3 * true


def test_in_all_it_is_within_a_few_per_cent():
    assert sum(tokens.estimate_tokens(text) for text, _ in TRUE) == pytest.approx(
        sum(true for _, true in TRUE), rel=0.05
    )


def test_a_huge_text_is_judged_by_windows():
    text = "def f(x):\n    return x + 1\n" * 400_000
    looked_at = []
    count = tokens._count
    estimate = tokens.estimate_tokens(text, lambda piece: looked_at.append(len(piece)) or count(piece))
    assert estimate == pytest.approx(400_000 * count(text[:27]), rel=0.02)
    assert sum(looked_at) <= tokens.WINDOWS * tokens.WINDOW


@pytest.mark.parametrize("length", [39_999, 40_000, 40_001, 40_010])
def test_windows_begin_without_a_jump(length):
    whole = tokens._count("ab " * 20_000)
    assert tokens.estimate_tokens(("ab " * 20_000)[:length]) == pytest.approx(whole * length / 60_000, rel=0.01)


@pytest.mark.parametrize("text", [" " * 39_999, "=" * 39_999, "\n \n" * 13_000, "\ud800" * 9, "a" * 100_000, "\0"])
def test_strange_texts_have_tokens_too(text):
    assert 1 <= tokens.estimate_tokens(text) <= math.ceil(len(text.encode(errors="surrogatepass")))


def test_nothing_has_none_and_messages_have_a_frame():
    assert tokens.estimate_tokens("") == 0
    assert tokens.estimate_messages([Message(role="user", content=""), Message(role="user", content="a")]) == 9
