"""Recognises docstrings that no test can check: those that say nothing, or tell of the network or of chance."""

from __future__ import annotations

import re

from greenloop.core.documentation import MOST

REMEDY = "State what it returns for which input, or add a `>>>` example with its result."
_A = r"(?:(?:a|an|the)\s+)?(?:\w+\s+)?"
_NETWORK = (
    r"download\w*",
    r"uploads?",
    r"https? (?:request|call|get|post)s?",
    rf"(?:sends?|makes?) {_A}(?:request|e-?mail)s?",
    r"fetch(?:es)? [^.]{0,40}\b(?:url|web|server|api|internet|page)s?",
    r"network (?:call|request|connection)s?",
    rf"(?:opens?|connects?)(?: to)? {_A}(?:socket|server)",
    r"over the (?:network|internet)",
    r"web ?page",
)
_CHANCE = (
    r"random(?:ly|ness)?",
    r"shuffl(?:es?|ed|ing)",
    r"uuid4?s?",
    r"rolls? (?:a |the )?dice",
    r"(?:flips?|toss(?:es)?) a coin",
)
_EFFECTS = {
    kind: (re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE), why)
    for kind, words, why in (
        ("a network call", _NETWORK, "the sandbox has no network, so tests cannot check it."),
        ("randomness", _CHANCE, "tests cannot know the right result."),
    )
}
_NEGATED = re.compile(r"\b(?:no|not|never|without(?: any)?|doesn'?t|don'?t|non-?)\W+(?:\w+\W+){0,2}$", re.IGNORECASE)
_SEEDED = re.compile(r"\b(?:seed(?:ed)?|rng|random_state|deterministic)\b", re.IGNORECASE)
_FILLER = frozenset("function method the a an this it does do todo fixme docstring for of implements".split())  # noqa: SIM905


def why_unusable(name: str, docstring: str | None) -> str:
    """Returns why the docstring allows no test, in one sentence; "" where it says something.

    It says nothing when it is missing, empty, or only repeats the words of the function's name.
    """
    if re.search(r"\d", docstring or ""):
        return ""
    words = set(_words(docstring or "")) - _FILLER
    name_words = set(_words(name.rpartition(".")[2].replace("_", " ")))
    name_words |= set(_words(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.rpartition(".")[2]).replace("_", " ")))
    name_words |= {f"{word}s" for word in name_words} | {word.removesuffix("s") for word in name_words}
    return "" if words - name_words else f"The docstring of {name} states nothing that can be tested."


def find_untestable_effects(signature: str, docstring: str) -> tuple[str, ...]:
    """One sentence for network calls and one for randomness that a docstring describes; denied ones are left out.

    Generated tests are not to be believed there. `signature` is the source from `def` to the colon.
    """
    text, sentences = docstring[:MOST], []
    for kind, (pattern, why) in _EFFECTS.items():
        if kind == "randomness" and _SEEDED.search(f"{signature} {text}"):
            continue
        for match in pattern.finditer(text):
            if not _NEGATED.search(text[max(0, match.start() - 40) : match.start()]):
                sentences.append(f'It describes {kind} ("{" ".join(match[0].split())}"); {why}')
                break
    return tuple(sentences)


def _words(text: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[^\W\d_]+(?:'[a-z]+)?", text[:MOST])]
