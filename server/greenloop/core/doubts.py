"""What is unclear about a docstring, in plain sentences: where it says nothing, and what no test could hold.

Only words are read. A doubt stops nobody; `unusable` is for docstrings from which no test could be designed.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from greenloop.core.docstring import MOST, sections

REMEDY = "Say what it returns for which input, or add a `>>>` example with its result."
FOREIGN = 0.3  # share of letters beyond ASCII from which a text is not taken for English
FEW = 12  # words below which the words alone do not tell a language
STOPS = 0.12  # share of stop words that tells one


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Something outside of argument and result that a docstring describes, and the word that says so.

    `testable`: a designed test may hold it all the same.
    """

    kind: str
    word: str
    why: str
    testable: bool = True

    @property
    def sentence(self) -> str:
        return f'It describes {self.kind} ("{self.word}"); {self.why}'


_NETWORK = "the sandbox has no network, so that nothing can verify it."
_RANDOM = "no test knows which result is right."
_TIME = "a test that holds today may fail tomorrow."
_FILES = "a test of the result alone does not see it."
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


def unusable(name: str, docstring: str | None) -> str:
    """Why nothing could be tested, in one sentence; empty where the docstring says something.

    It says nothing when it is missing, empty, or only has the words of the function's own name.
    """
    if re.search(r"\d", docstring or ""):
        return ""
    said = set(_words(docstring or "")) - _FILLER
    own = set(_words(name.rpartition(".")[2].replace("_", " ")))
    own |= set(_words(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.rpartition(".")[2]).replace("_", " ")))
    own |= {f"{word}s" for word in own} | {word.removesuffix("s") for word in own}
    return "" if said - own else f"The docstring of {name} says nothing that could be tested."


_PATTERNS = tuple(
    (re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE), kind, why, testable)
    for words, kind, why, testable in _EFFECTS
)


def effects(signature: str, docstring: str) -> tuple[Effect, ...]:
    """Input and output, time, randomness and network calls that a docstring describes; what it denies is left out."""
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


def designable(signature: str, docstring: str) -> bool:
    """May tests that somebody designs for it be believed? Not for what is random or needs the network."""
    return all(effect.testable for effect in effects(signature, docstring))


def doubts(signature: str, docstring: str, known: Collection[str] | None = None) -> tuple[str, ...]:
    """One sentence for each thing that is unclear: language, effects, names that nobody defines.

    `signature` is the source from `def` to the colon; `known` are the names that the module has (None: do not look).
    """
    text = docstring[:MOST]
    found = []
    if language := foreign(text):
        found.append(f"The docstring seems to be in {language}; models understand English best.")
    found += [effect.sentence for effect in effects(signature, text)]
    if known is not None and (missing := list(dict.fromkeys(_undefined(signature, text, known)))):
        names = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        verb = "is" if len(missing) == 1 else "are"
        found.append(f"The docstring mentions {names}, which {verb} not defined or imported in the module.")
    return tuple(found)


def foreign(text: str) -> str:
    """The language a text seems to be in when that is surely not English, else nothing."""
    letters = [sign for sign in _without_code(text) if sign.isalpha()]
    if len(letters) > FEW and sum(not sign.isascii() for sign in letters) > FOREIGN * len(letters):
        return "another language than English"
    words = _words(_without_code(text))
    if len(words) < FEW // 2:
        return ""
    everyday = sum(word in _EVERYDAY for word in words)
    hits = {language: sum(word in stops for word in words) for language, stops in _STOPS.items()}
    best = max(hits, key=lambda language: hits[language])
    sure = hits[best] >= max(3, STOPS * len(words)) and hits[best] > 2 * everyday
    return best if sure else ""


def _without_code(text: str) -> str:
    """Prose alone: no examples, no quoted code, no strings."""
    rows = [row for row in text.split("\n") if not re.match(r"\s*(?:>>>|\.\.\.|assert\b)", row)]
    return re.sub(r"``[^`]*``|`[^`]*`|'[^'\n]*'|\"[^\"\n]*\"", " ", "\n".join(rows))


def _words(text: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[^\W\d_]+(?:'[a-z]+)?", text[:MOST])]


def _undefined(signature: str, text: str, known: Collection[str]) -> Iterator[str]:
    """Names set in code marks that begin with a capital, and types in sections, that nothing explains."""
    own = set(re.findall(r"\w+", signature)) | set(known) | set(vars(builtins)) | _TYPES
    stated = sections(text)
    own |= {param.name for param in stated.params}
    for match in _MARKED.finditer(text):
        name = (match[1] or match[2] or match[3]).partition(".")[0]
        if re.match(r"[A-Z][a-z]+\w*$", name) and name not in own:
            yield name
    types = [param.type for param in stated.params] + ([stated.returns.type] if stated.returns else [])
    for written in types:
        try:
            nodes = [node for node in ast.walk(ast.parse(written, mode="eval")) if isinstance(node, ast.Name)]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        yield from (node.id for node in nodes if re.match(r"[A-Z][a-z]\w*$", node.id) and node.id not in own)
