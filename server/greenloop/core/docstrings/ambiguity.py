"""Finds ambiguities of a docstring, as sentences for users: empty text, effects that no test checks.

Looks at words only. A doubt never stops a run; `unusable_reason` is for docstrings that allow no test at all.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from greenloop.core.docstrings.literals import parse_expression
from greenloop.core.docstrings.sections import MOST, parse_sections

REMEDY = "State what it returns for which input, or add a `>>>` example with its result."
FOREIGN = 0.3  # share of non-ASCII letters above which a text is not English
FEW = 12  # words; in a shorter text they do not identify a language
STOPS = 0.12  # share of stop words that identifies a language


@dataclass(frozen=True, kw_only=True)
class Effect:
    """An effect beyond argument and result that a docstring describes, and the word that shows it.

    `is_testable`: a generated test may be valid in spite of it.
    """

    kind: str
    word: str
    why: str
    testable: bool = True

    @property
    def sentence(self) -> str:
        return f'It describes {self.kind} ("{self.word}"); {self.why}'


_NETWORK = "the sandbox has no network, so tests cannot check it."
_RANDOM = "tests cannot know the right result."
_TIME = "a test that passes today may fail tomorrow."
_FILES = "a test of only the result does not check it."
_A = r"(?:(?:a|an|the)\s+)?(?:\w+\s+)?"
_NET = (
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
_CLOCK = (
    r"current (?:date|time|day|year|month|timestamp)",
    r"today(?:'s)?",
    r"system clock",
    r"sleeps?",
    r"waits? (?:for )?\w+ seconds?",
)
_INPUT = (
    r"stdin",
    r"standard input",
    r"asks? the user",
    r"user input",
    rf"reads? (?:from )?{_A}(?:file|directory|folder|database)",
    r"environment variables?",
)
_OUTPUT = (r"stdout", r"standard output", r"prints?", r"(?:writes?|saves?) [^.]{0,30}\b(?:file|disk|database)", r"logs")
_EFFECTS = (
    (_NET, "a network call", _NETWORK, False),
    (_CHANCE, "randomness", _RANDOM, False),
    (_CLOCK, "the time of day", _TIME, True),
    (_INPUT, "input from outside", _FILES, True),
    (_OUTPUT, "output", _FILES, True),
)
_NEGATED = re.compile(r"\b(?:no|not|never|without(?: any)?|doesn'?t|don'?t|non-?)\W+(?:\w+\W+){0,2}$", re.IGNORECASE)
_SEEDED = re.compile(r"\b(?:seed(?:ed)?|rng|random_state|deterministic)\b", re.IGNORECASE)
_LANGUAGES = {
    "German": "der die das und ist nicht ein eine mit von zu den dem des wird gibt zurück für auf oder wenn liste zahl",
    "French": "le la les des un une et est dans pour avec sur par pas que qui du renvoie retourne liste nombre ou si",
    "Spanish": "el la los las un una y es en para con por no que del devuelve lista número o si de se dado",
}
_STOPS = {language: frozenset(words.split()) for language, words in _LANGUAGES.items()}
_EVERYDAY = frozenset(
    "a an the of and is to in it for with or if from by on that this all each be are as".split()  # noqa: SIM905
)
_MARKED = re.compile(
    r":(?:class|exc|func|meth|obj):`~?([\w.]+)`|``([A-Za-z_]\w*)(?:\(\))?``|(?<!`)`([A-Za-z_]\w*)(?:\(\))?`(?!`)"
)
_FILLER = frozenset("function method the a an this it does do todo fixme docstring for of implements".split())  # noqa: SIM905
_TYPES = frozenset(
    "Any Callable Iterable Iterator Sequence Mapping MutableMapping List Dict Set FrozenSet Tuple Type Optional Union "  # noqa: SIM905
    "Literal Generator Collection Hashable Sized Number Path String Integer Boolean Float Array Function Object "
    "Awaitable Coroutine Counter OrderedDict Deque Decimal Fraction Pattern Match Text NamedTuple Self".split()
)


def why_unusable(name: str, docstring: str | None) -> str:
    """Why the docstring allows no test, in one sentence; "" where it says something.

    It says nothing when it is missing, empty, or only repeats the words of the function's name.
    """
    if re.search(r"\d", docstring or ""):
        return ""
    words = set(_words(docstring or "")) - _FILLER
    name_words = set(_words(name.rpartition(".")[2].replace("_", " ")))
    name_words |= set(_words(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.rpartition(".")[2]).replace("_", " ")))
    name_words |= {f"{word}s" for word in name_words} | {word.removesuffix("s") for word in name_words}
    return "" if words - name_words else f"The docstring of {name} states nothing that can be tested."


_PATTERNS = tuple(
    (re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE), kind, why, testable)
    for words, kind, why, testable in _EFFECTS
)


def find_effects(signature: str, docstring: str) -> tuple[Effect, ...]:
    """Input, output, time, randomness and network calls that a docstring describes; denied ones are left out."""
    text = docstring[:MOST]
    found = []
    for pattern, kind, why, testable in _PATTERNS:
        for match in pattern.finditer(text):
            if _NEGATED.search(text[max(0, match.start() - 40) : match.start()]):
                continue
            if kind == "randomness" and _SEEDED.search(f"{signature} {text}"):
                break
            found.append(Effect(kind=kind, word=" ".join(match[0].split()), why=why, testable=testable))
            break
    return tuple(found)


def is_testable(signature: str, docstring: str) -> bool:
    """May generated tests be believed? Not where the result is random or needs the network."""
    return all(effect.testable for effect in find_effects(signature, docstring))


def find_doubts(signature: str, docstring: str, known_names: Collection[str] | None = None) -> tuple[str, ...]:
    """One sentence for each doubt: language, effects, undefined names.

    `signature` is the source from `def` to the colon; `known_names` are those of the module (None: not checked).
    """
    text = docstring[:MOST]
    sentences = []
    if language := foreign_language(text):
        sentences.append(f"The docstring seems to be in {language}; models understand English best.")
    sentences += [effect.sentence for effect in find_effects(signature, text)]
    if known_names is not None and (missing := list(dict.fromkeys(_undefined_names(signature, text, known_names)))):
        names = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        verb = "is" if len(missing) == 1 else "are"
        sentences.append(f"The docstring mentions {names}, which {verb} not defined or imported in the module.")
    return tuple(sentences)


def foreign_language(text: str) -> str:
    """The language that a text seems to be in where it is certainly not English, else ""."""
    letters = [letter for letter in _without_code(text) if letter.isalpha()]
    if len(letters) > FEW and sum(not letter.isascii() for letter in letters) > FOREIGN * len(letters):
        return "another language than English"
    words = _words(_without_code(text))
    if len(words) < FEW // 2:
        return ""
    english_words = sum(word in _EVERYDAY for word in words)
    hits = {language: sum(word in stops for word in words) for language, stops in _STOPS.items()}
    best = max(hits, key=lambda language: hits[language])
    is_certain = hits[best] >= max(3, STOPS * len(words)) and hits[best] > 2 * english_words
    return best if is_certain else ""


def _without_code(text: str) -> str:
    """The prose alone: no examples, no quoted code, no strings."""
    rows = [row for row in text.split("\n") if not re.match(r"\s*(?:>>>|\.\.\.|assert\b)", row)]
    return re.sub(r"``[^`]*``|`[^`]*`|'[^'\n]*'|\"[^\"\n]*\"", " ", "\n".join(rows))


def _words(text: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[^\W\d_]+(?:'[a-z]+)?", text[:MOST])]


def _undefined_names(signature: str, text: str, known: Collection[str]) -> Iterator[str]:
    """Capitalised names in code marks, and types in sections, that are defined nowhere."""
    defined = set(re.findall(r"\w+", signature)) | set(known) | set(vars(builtins)) | _TYPES
    parsed_sections = parse_sections(text)
    defined |= {param.name for param in parsed_sections.params}
    for match in _MARKED.finditer(text):
        name = (match[1] or match[2] or match[3]).partition(".")[0]
        if re.match(r"[A-Z][a-z]+\w*$", name) and name not in defined:
            yield name
    types = [param.type for param in parsed_sections.params] + (
        [parsed_sections.returns.type] if parsed_sections.returns else []
    )
    for annotation in types:
        tree = parse_expression(annotation)
        nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)] if tree else []
        yield from (node.id for node in nodes if re.match(r"[A-Z][a-z]\w*$", node.id) and node.id not in defined)
