"""Finds signs that a change is incomplete although its tests pass; pure functions of texts and of observations.

Each is a doubt and no accusation. It must not know where candidates come from.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from greenloop.core.python import stubs
from greenloop.core.python.ast_source import FUNCTIONS, Function, docstring_statement, find_definitions, parse_module
from greenloop.core.text.diff import with_plain_ends
from greenloop.plugins.other_inputs import metamorphic
from greenloop.plugins.other_inputs.input_forms import is_small
from greenloop.plugins.other_inputs.other_inputs import LEAST_NEAR, Done, Observation, show_call
from greenloop.plugins.other_inputs.special_casing import ONLY_WRITTEN, answer_of, gives_only_written
from greenloop.plugins.other_inputs.varied_inputs import Instance

LEAST_LACKING = 2  # entries of a list; a single one may be what an `else` stands for
PLAIN_DECORATORS = frozenset({"staticmethod", "classmethod"})
_KEY = re.compile(r"['\"](\w+)['\"]:")
_QUOTED = re.compile(r"``?([^`\s]+)``?|(?<!\w)['\"]([^'\"\s]+)['\"]|(?<![\w-])-(\w+)")
_NAMED = re.compile(r"^(?:None|True|False)$|\w[./(\[=]|(?:Error|Exception)$|^[./]\w")
_BETWEEN = re.compile(r",|;| or | and |: ")
_ARTICLE = re.compile(r"\b(?:an?|the|no) (?=\w)")
_RAISES = re.compile(r"\b[Rr]aises?:? `*(\w+(?:Error|Exception))\b")
_HIDDEN_READS = re.compile(r"\b(?:getattr|vars|asdict|__dict__)\b")
_WORD = re.compile(r"[a-z]{3,}")


def find_unfinished(
    own: Mapping[str, str],
    new: Mapping[str, str],
    observations: Sequence[Observation] = (),
    elsewhere: Callable[[], Iterable[str]] = tuple,
) -> tuple[str, ...]:
    """Returns the signs in the new texts, each with its place: `` `days` never reads `year`, m.py:2 ``.

    `elsewhere` gives the project's other texts, which may read what a class holds; it may block.
    """
    found = []
    for path, text in new.items():
        if path.endswith(".py") and own.get(path, text) != text:
            before, after = with_plain_ends(own[path]), with_plain_ends(text)
            mine = [each for each in observations if each.function.path == path]
            found += [f"{words}, {path}:{line}" for line, words in _in_file(before, after, mine, elsewhere)]
    return tuple(dict.fromkeys(found))


def _in_file(
    before: str, after: str, observations: Sequence[Observation], elsewhere: Callable[[], Iterable[str]]
) -> Iterator[tuple[int, str]]:
    old_module, module = parse_module(before), parse_module(after)
    if isinstance(module, SyntaxError):
        return
    old = {} if isinstance(old_module, SyntaxError) else dict(find_definitions(old_module.body))
    definitions = dict(find_definitions(module.body))
    known = {words for _line, words in stubs.find_todos(before)}
    todos = [(line, words) for line, words in stubs.find_todos(after) if words not in known]
    vocabulary, asked = _Vocabulary(module), _asked_names(module)
    for name, node in definitions.items():
        if not isinstance(node, FUNCTIONS) or (name in old and ast.dump(node) == ast.dump(old[name])):
            continue
        owner = definitions.get(name.rpartition(".")[0])
        class_node = owner if isinstance(owner, ast.ClassDef) else None
        yield from ((line, f"`{words}`") for line, words in todos if node.lineno <= line <= (node.end_lineno or 0))
        if name.rpartition(".")[2] not in asked and (unread := _ignored(node, old.get(name), class_node)):
            yield node.lineno, f"`{name}` never reads {', '.join(f'`{each}`' for each in unread)}"
        group = [each for each in observations if each.function.qualname == name]
        if sentence := _little(group, before, after) or _breaks_relation(node, group):
            yield node.lineno, f"`{name}` {sentence}"
        for described in (node, class_node) if class_node is not None else (node,):
            prose = (ast.get_docstring(described) or "").partition("\n\n")[0]
            if lacks := vocabulary.lacking(prose) or _never_raised(prose, vocabulary, group):
                yield node.lineno, f"`{name}` lacks {', '.join(f'`{each}`' for each in lacks)} of its description"
        if name.endswith(".__init__") and class_node is not None and not _HIDDEN_READS.search(after):
            for parameter in _unread_attributes(node, class_node, after, elsewhere):
                yield node.lineno, f"`{class_node.name}` never reads `{parameter}`"


# -- of the text ----------------------------------------------------------------------------------------------------


def _ignored(node: Function, old: ast.AST | None, owner: ast.ClassDef | None) -> list[str]:
    """The parameters that are never read, unless the place of the function asks for them, or the own code did so."""
    decorators = {each.id if isinstance(each, ast.Name) else "" for each in node.decorator_list}
    is_asked = node.name.startswith("__") or decorators - PLAIN_DECORATORS or (owner is not None and owner.bases)
    if is_asked or stubs.is_stub(node):
        return []
    is_bound = owner is not None and "staticmethod" not in decorators
    unread = _unread(node, is_bound=is_bound)
    if isinstance(old, FUNCTIONS) and not stubs.is_stub(old):
        before = _unread(old, is_bound=is_bound)
        unread = [each for each in unread if each not in before or before == _parameters(old, is_bound=is_bound)]
    return unread


def _unread(node: Function, *, is_bound: bool) -> list[str]:
    inside = (each for statement in node.body for each in ast.walk(statement))
    read = {each.id for each in inside if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store)}
    return [each for each in _parameters(node, is_bound=is_bound) if not read & {each, "locals", "vars"}]


def _parameters(node: Function, *, is_bound: bool) -> list[str]:
    places = [*node.args.posonlyargs, *node.args.args][is_bound:]
    return [each.arg for each in (*places, *node.args.kwonlyargs) if not each.arg.startswith("_")]


def _asked_names(module: ast.Module) -> set[str]:
    """The names of which other code may ask parameters: those that are defined twice, or used other than to call."""
    defined = Counter(name.rpartition(".")[2] for name, _node in find_definitions(module.body))
    called = {id(each.func) for each in ast.walk(module) if isinstance(each, ast.Call)}
    nodes = [each for each in ast.walk(module) if id(each) not in called]
    used = {str(getattr(each, "id", getattr(each, "attr", ""))) for each in nodes}
    return used | {name for name, count in defined.items() if count > 1}


def _unread_attributes(
    start: Function, node: ast.ClassDef, text: str, elsewhere: Callable[[], Iterable[str]]
) -> Iterator[str]:
    """Yields parameters that the class keeps, and that nothing in the project reads."""
    works = sum(isinstance(each, FUNCTIONS) for each in node.body) > 1 and not (node.bases or node.decorator_list)
    for parameter in _parameters(start, is_bound=True) if works else ():
        reading = [each for each in start.body if parameter in _names(each)]
        kept = [each.targets[0] for each in reading if isinstance(each, ast.Assign)]
        names = {each.attr for each in kept if isinstance(each, ast.Attribute)}
        if not names or len(kept) < len(reading):
            continue
        stores = [each for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.attr in names]
        written = sum(isinstance(each.ctx, ast.Store) for each in stores)
        reads = re.compile(rf"\.(?:{'|'.join(names)})\b")
        if len(reads.findall(text)) <= written and not any(map(reads.search, elsewhere())):
            yield parameter


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def _words(text: str) -> set[str]:
    return {each.rstrip("s") for each in _WORD.findall(text.lower())}


class _Vocabulary:
    """The literals and names of a module, without its docstrings."""

    def __init__(self, module: ast.Module) -> None:
        nodes = list(ast.walk(module))
        prose = {id(statement.value) for node in nodes if (statement := docstring_statement(node))}
        texts = [each for each in nodes if isinstance(each, ast.Constant) and id(each) not in prose]
        self.literals = [each.value for each in texts if isinstance(each.value, str)]
        self.names = {
            name for each in nodes for key in ("id", "attr", "arg", "name") if (name := getattr(each, key, None))
        }
        self.spelt = _words(" ".join(self.literals))
        self.words = self.spelt | _words(" ".join(self.names).replace("_", " "))

    def lacking(self, prose: str) -> list[str]:
        """The entries of a list in a sentence that the code lacks, where it has others of the same list as literals."""
        for sentence in re.split(r"\.\s", prose):
            keys = _KEY.findall(sentence)
            quoted = dict.fromkeys(next(filter(None, each.groups())) for each in _QUOTED.finditer(sentence))
            values = [each for each in quoted if not _NAMED.search(each)]
            parts = _BETWEEN.split(re.sub(r"\([^)]*\)", "", sentence))
            items = [words[-1].strip(" .") for each in parts if len(words := _ARTICLE.split(each)) > 1]
            for entries, least in ((keys, 1), (values, LEAST_LACKING), (items, LEAST_LACKING)):
                lacks = [each for each in entries if not self._has(each, self.words)]
                if len(lacks) >= least and any(self._has(each, self.spelt) for each in entries):
                    return lacks
        return []

    def _has(self, entry: str, words: set[str]) -> bool:
        return any(entry in each for each in self.literals) or bool(_words(entry) & words)


# -- of what the code does ------------------------------------------------------------------------------------------


def _never_raised(prose: str, vocabulary: _Vocabulary, group: Sequence[Observation]) -> list[str]:
    """The error that the description promises, where the code does not name it and no other input caused it."""
    others = [each for each in group if not each.is_tested]
    promised = _RAISES.findall(prose) if len(others) >= LEAST_NEAR else []
    raised = {each.new.value for each in group if each.new.kind == "raises"}
    return [each for each in promised if each not in vocabulary.names and each not in raised]


def _breaks_relation(node: Function, group: Sequence[Observation]) -> str:
    """Describes an input on which the function contradicts itself or its description; else empty."""
    tested = [each for each in group if each.is_tested]
    repeated = [
        (each, answer[0], again[0])
        for each in group
        if each.again is not None and (answer := answer_of(each.new)) and (again := answer_of(each.again))
    ]
    if metamorphic.is_steady([(each.call, result, other) for each, result, other in repeated if each.is_tested]):
        for each, result, other in repeated:
            if result != other:
                return f"changes its own result of {show_call(each)} when it gets that, unlike those of its tests"
    old, new = ({each.call.key: side.trees for each, side in sides} for sides in _sides(group))
    calls = [each.call for each in tested]
    sentence = calls and metamorphic.contradicts_order(node, new, calls[0])
    return sentence or metamorphic.ignores_range(node, calls, old, new)


def _sides(group: Sequence[Observation]) -> Iterator[list[tuple[Observation, Done]]]:
    """Returns what the old version returned, and the new one."""
    yield [(each, each.old) for each in group if each.old.kind == "returns"]
    yield [(each, each.new) for each in group if each.new.kind == "returns"]


def _little(group: Sequence[Observation], before: str, after: str) -> str:
    """Describes a function that newly gives one answer of its tests to everything, or computes nothing; else empty."""
    others = [each for each in group if not each.is_tested]
    answers = {each.new.trees for each in group if each.is_tested}
    differing = [each for each in others if each.differs]
    values = [value for each in differing for value in answer_of(each.new)]
    if len(values) < LEAST_NEAR or isinstance(values[0], str | Instance | None) or is_small(values[0]):
        return ""
    if len({each.new.trees for each in differing} | answers) == len(answers) and len({*map(repr, values)}) == 1:
        return f"answers {len(differing)} other inputs alike"
    if all(type(each) in (int, float) for each in values) and gives_only_written(others, before, after):
        return f"on {len(others)} other inputs {ONLY_WRITTEN}"
    return ""
