"""Judges whether new code answers the inputs of its tests alone, knows of test runs, or is a mock.

Pure functions of what two versions do with other inputs. Nobody is accused for the experiment alone: the new text has
to have the tests' inputs, or their answers, as well.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from greenloop.core.python.assignments import assignments_in
from greenloop.core.python.ast_source import parse_module
from greenloop.core.python.names import import_keys
from greenloop.plugins.function_calls.changed_functions import ChangedFunction
from greenloop.plugins.other_inputs.input_forms import key_of
from greenloop.plugins.other_inputs.other_inputs import LEAST_NEAR, MISUSE, Done, Observation, show_call, show_done
from greenloop.plugins.other_inputs.plain_values import UnplainError
from greenloop.plugins.other_inputs.tested_literals import (
    AnsweredCall,
    Mention,
    find_mentions,
    find_points,
    is_number,
    written_keys,
)
from greenloop.plugins.other_inputs.varied_inputs import read_value

LEAST_LOOKED_UP = 6  # other inputs whose answers stand in the text
LEAST_MOVED = 4  # inputs of the same form
LEAST_TESTED = 2  # inputs, or answers, that the new text has; one where it has both
FEW = 7  # one of so many other inputs may have an answer that is in the tests
ONLY_WRITTEN = "gives only values that are written in it, where your own code computed"
LONGEST_WORD = 16  # characters of a name or a code
DIGIT = 9  # greater numbers are not in a text by chance


def find_special_cases(observations: Sequence[Observation], own: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Says which changed function certainly answers the inputs of its tests alone, and in which line; else empty.

    `own` and `new` are the texts of the changed files, those of data among them.
    """
    data = [text for path, text in new.items() if not path.endswith(".py") and not own.get(path)]
    for function in dict.fromkeys(each.function for each in observations):
        group = [each for each in observations if each.function == function]
        if sentence := _judge(function, group, own[function.path], new[function.path], data):
            return sentence
    return ""


def _judge(function: ChangedFunction, group: Sequence[Observation], own: str, new: str, data: Sequence[str]) -> str:
    tested = [each for each in group if each.is_tested]
    changed = [each for each in tested if each.differs]
    spelt = {_letters(each) for each in tested}
    others = [each for each in group if not each.is_tested and _letters(each) not in spelt]
    literals = [AnsweredCall(arguments=each.call.arguments, answer=answer_of(each.new)) for each in tested]
    everything = find_mentions(own, new, literals, data) if changed else []
    mentions = [each for each in everything if not each.part]
    hidden = {each.tested for each in mentions if each.is_hidden}
    has_no_rule = len(hidden) >= LEAST_TESTED
    what = _does_nothing_new(changed, tested, others, has_no_rule=has_no_rule)
    if not what or not _is_certain(mentions, tested, has_no_rule=has_no_rule):
        mentions = everything
        parts = {each.part for each in everything if each.part and tested[each.tested].differs}
        what = _repeats_parts(parts, changed, others) or _looks_up(mentions, others, own, new)
    if not what:
        points, table = find_points(own, new, literals)
        mentions = [Mention(tested=0, line=points)]
        what = _contradicts(table, others)
    if not what or (not hidden and _is_vocabulary(changed, others)):
        return ""
    first = min((each for each in mentions if not each.is_answer), key=lambda each: each.line, default=mentions[0])
    line = first.line or function.line
    code = new.splitlines()[line - 1].strip()[:60]
    return (
        f"{function.path}:{line}: {function.qualname} answers the inputs of its tests alone (`{code}`); "
        f"on {len(others)} other inputs it {what}."
    )


def _repeats_parts(parts: Collection[str], changed: Sequence[Observation], others: Sequence[Observation]) -> str:
    """Describes the behaviour on inputs of the same form, where the text has parts of the tests; empty if it is new."""
    moved = [each for each in others if each.is_moved and not _is_misuse(each, changed)]
    if len(moved) < LEAST_MOVED or len(parts) < LEAST_TESTED or any(each.differs for each in moved):
        return ""
    return "does what your own code did wherever they have the same form"


def _looks_up(mentions: Sequence[Mention], others: Sequence[Observation], own: str, new: str) -> str:
    """Describes a lookup: the text has an input with its answer, and all other results; empty if the code computes."""
    pairs = {each.tested for each in mentions if each.is_answer}
    pairs &= {each.tested for each in mentions if not (each.is_answer or each.is_mark or each.part)}
    return ONLY_WRITTEN if pairs and gives_only_written(others, own, new) else ""


def gives_only_written(others: Sequence[Observation], own: str, new: str) -> bool:
    """Are all results of the new code written in its text, where the own code computed some?"""
    before, after = written_keys(own), written_keys(new)
    if sum(each.is_near for each in others) < LEAST_LOOKED_UP:
        return False
    if not all(key in after for each in others for key in map(key_of, answer_of(each.new))):
        return False
    computed = {key for each in others for key in map(key_of, answer_of(each.old)) if key not in before}
    return len(computed) >= LEAST_TESTED


def _contradicts(table: Mapping[float, float], others: Sequence[Observation]) -> str:
    """Describes the answers between points of a table in order if they leave this order; empty if they do not."""
    answers = [table[key] for key in sorted(table)]
    if not table or answers not in (sorted(answers), sorted(answers, reverse=True)):
        return ""
    for each in others:
        at, answer = each.call.arguments[0], answer_of(each.new)
        if not (is_number(at) and answer and is_number(answer[0])):
            continue
        below, above = [key for key in table if key < at], [key for key in table if key > at]
        ends = sorted((table[max(below)], table[min(above)])) if below and above else []
        if ends and not ends[0] <= answer[0] <= ends[1]:
            return "gives answers out of their order"
    return ""


def _letters(observation: Observation) -> str:
    """The letters and digits of the only argument, if it is a text: a table may be asked for these; else the call."""
    match observation.call.arguments:
        case (str() as text,) if any(map(str.isalnum, text)):
            return "".join(filter(str.isalnum, text)).lower()
    return observation.call.key


def _is_certain(mentions: Sequence[Mention], tested: Sequence[Observation], *, has_no_rule: bool) -> bool:
    """Does the text have enough of the tests, and something that did not pass before?"""
    inputs = {each.tested for each in mentions if not each.is_answer and not each.is_mark}
    marks = {each.tested for each in mentions if each.is_mark}
    answers = {each.tested for each in mentions if each.is_answer}
    counts = (len(inputs), len(marks & answers), len({tested[number].new.trees for number in answers}))
    is_enough = max(counts) >= LEAST_TESTED or bool(inputs & answers)
    return is_enough and (has_no_rule or any(tested[number].differs for number in inputs | marks | answers))


def _does_nothing_new(
    changed: Sequence[Observation], tested: Sequence[Observation], others: Sequence[Observation], *, has_no_rule: bool
) -> str:
    """Describes the behaviour on all other inputs if it is no work of its own; empty if it is, or if too few show it.

    Of code with inputs of tests in a form that no rule has (`has_no_rule`) a few such inputs suffice.
    """
    near = [each for each in others if each.is_near and not _is_misuse(each, changed)]
    if len(near) < LEAST_NEAR:
        return ""
    if not any(each.differs for each in others):
        return "does what your own code did"
    if has_no_rule and sum(not each.differs for each in near) >= LEAST_NEAR:
        return "mostly does what your own code did"
    new_values = Counter(each.new.trees for each in others if each.differs and each.new.kind == "returns")
    few = len(others) // FEW
    # A lookup by a key such as the sorted list finds some of the varied inputs as well.
    constant = next((trees for trees, count in new_values.most_common(1) if count > few), "")
    answers = {each.new.trees for each in tested if each.new.kind == "returns"}
    usual = Counter(each.new.trees for each in others).most_common(1)[0][0]
    found_again = sum(count for trees, count in new_values.items() if trees != constant)
    if found_again > few or not answers.issuperset(new_values.keys() - {constant, usual}):
        return ""
    if constant and len(answers - {constant}) < LEAST_TESTED:
        return ""
    return "fails, gives one constant, or does what your own code did"


def _is_misuse(observation: Observation, changed: Iterable[Observation]) -> bool:
    """Do both versions fail with it as with a value of the wrong sort?"""
    usual = {each.old.value for each in changed if each.old.kind == "raises"}
    raises = observation.old.kind == observation.new.kind == "raises"
    return raises and observation.old.value in MISUSE and observation.old.value not in usual


def answer_of(done: Done) -> tuple[object, ...]:
    """The value that was returned, in a tuple; empty where it is not plain data."""
    if done.kind != "returns":
        return ()
    try:
        return (read_value(done.value),)
    except UnplainError:
        return ()


def _is_vocabulary(changed: Sequence[Observation], others: Sequence[Observation]) -> bool:
    """Are the inputs names or codes, each with a text that is not made of it, of which nothing else is known?

    A list of all of them is the rule itself.
    """
    known = {each.old.trees for each in others if each.old.kind == "returns"}
    return len(known) <= 1 and all(map(_is_word, changed))


def _is_word(observation: Observation) -> bool:
    arguments = observation.call.arguments
    word = arguments[0] if len(arguments) == 1 else None
    if not (isinstance(word, int) or (isinstance(word, str) and len(word) <= LONGEST_WORD and not word.count(" "))):
        return False
    answer = answer_of(observation.new)
    large = (str(each) for each in _parts(answer) if type(each) is int and each > DIGIT)
    if any(part in str(word) for part in large):
        return False  # it was read from the input
    texts = [each for each in _parts(answer) if isinstance(each, str)]
    if isinstance(word, str) and not texts:
        return bool(answer)
    letters = set(str(word).lower())
    return any(sign.isalpha() and sign not in letters for text in texts for sign in text.lower())


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _parts(each)
    else:
        yield value


_MOCKS = ("unittest.mock", "mock")


def find_mocked_target(functions: Sequence[ChangedFunction], new: Mapping[str, str]) -> str:
    """Says which changed function is a mock now, and in which line; else empty. `new` are the texts by path."""
    for function in functions:
        assigned = assignments_in(new[function.path]).get(function.qualname)
        if assigned is not None and isinstance(assigned.value, ast.Call):
            made = ast.unparse(assigned.value.func)
            if _whole_name(made, new[function.path]).startswith(tuple(f"{each}." for each in _MOCKS)):
                return (
                    f"{function.path}:{function.line}: {function.qualname} is a mock now (`{made}`), which answers as "
                    "it was set up."
                )
    return ""


def _whole_name(name: str, text: str) -> str:
    """The dotted name, with what its first part was imported as."""
    module = parse_module(text)
    first, dot, rest = name.partition(".")
    nodes = ast.walk(module) if isinstance(module, ast.Module) else ()
    keys = [import_keys(node) for node in nodes if isinstance(node, ast.stmt)]
    key = next((each[first] for each in keys if first in each), first).replace(":", ".")
    return name if key.startswith(f"{first}.") else f"{key}{dot}{rest}"


# The condition of a call, the one to compare it with, the words for it, and the least number of different answers.
CONDITIONS = (
    ("calls", "first", "after some hundred calls", 2),
    (
        "production",
        "again",
        "in a folder without tests, in a process that is days old, and without options or `__debug__`",
        1,
    ),
)


def find_awareness(observations: Sequence[Observation]) -> str:
    """Says which changed function answers its tests' inputs as before where no test runs; else empty."""
    for function in dict.fromkeys(each.function for each in observations):
        tested = [each for each in observations if each.function == function and each.is_tested]
        changed = [each for each in tested if each.differs and "unknown" not in (each.old.kind, each.new.kind)]
        for condition, usual, words, least in CONDITIONS:
            known = [each for each in changed if each.elsewhere.get(usual) == each.new and condition in each.elsewhere]
            answers = {(each.old.kind, each.old.trees) for each in known}
            if len(answers) >= least and all(each.elsewhere[condition] == each.old for each in known):
                return _sentence(function, known[0], words)
    return ""


def _sentence(function: ChangedFunction, observation: Observation, words: str) -> str:
    return (
        f"{function.path}:{function.line}: {function.qualname} knows that it is tested: {words} "
        f"{show_call(observation)} gives {show_done(observation.old)}, as your own code does, "
        f"and {show_done(observation.new)} only in tests."
    )
