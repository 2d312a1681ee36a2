"""Asks comparisons and operators again, with wrong operands: one that says the same of them proves nothing.

It must not know how values cross.
"""

import enum
import functools
import operator
import re
import string
import types

from apart_rules import COMPARISONS, SPECIAL, VALUE_OPERATORS, is_plain, texts_in
from apart_values import attributes_of
from apart_wrong import CHANCE, SHIFTED, copy_of, fresh, is_same, larger, perturbed, wrong_operands

MOST_OTHERS = 5  # objects in place of one that contains all
UNRELATED = (int, str, float, list)
MOST_DRAWN = 20  # texts, of which some are contained
MOST_SEEN = 500  # values that are kept as wrong operands, and questions
# What a comparison must not say of wrong operands too.
ANSWER_WRONGLY = {"__eq__": True, "__ne__": False, "__contains__": True}
INJECTIVE = frozenset(("__add__", "__radd__", "__sub__", "__rsub__"))
OPPOSITES = {"__lt__": operator.gt, "__gt__": operator.lt, "__le__": operator.ge, "__ge__": operator.le}
LOOKING = INJECTIVE | {"__truediv__", "__rtruediv__", "__mod__", "__rmod__", "__xor__", "__rxor__"}
MAKE_NUMBERS = frozenset(("__abs__", "__round__", "__neg__", "__pos__", "__trunc__", "__floor__", "__ceil__"))
NUMBERS = (int, float, *SHIFTED)
# Methods of values that do not change: asked as an operator is where another object takes their place.
OF_BUILTINS = frozenset(name for kind in (str, bytes, frozenset, tuple, range) for name in dir(kind) if name[0] != "_")
SEARCHING = re.compile(r"(starts|ends)with|count|remove(pre|suf)fix|intersection|isdisjoint|issu(b|per)set")
# What a pass may rest on besides values: arguments changed in place, constants of changed code, its operators.
CHANGES, CONSTANTS, OPERATORS = "changes", "constants", "operators"
STATES = "states"  # of other objects than the one whose method was called, and of files
RESULTS, ALL = "results", "all"  # `all`: everything that the code hands over, but yes and no


class Questions:
    """The part of the evidence that asks again."""

    def ask_stub(self, class_name, name, args, ask, is_new):
        """The answer to a call of a stub, which is a method of a mirror where it has the name of a class."""
        if name == "__init__":
            return ask(args)
        if name in COMPARISONS or (SPECIAL.match(name) and name not in VALUE_OPERATORS):
            owner = class_name or type(args[0]).__name__
            compares = name in COMPARISONS
            return self.compare(owner, name, args, ask, is_new) if compares else self.operate(owner, name, args, ask)
        if class_name and len(args) > 1 and name in OF_BUILTINS:
            return self.asked_as_builtin(class_name + "." + name, args, ask)
        if class_name and name in ("__repr__", "__str__") and self._record.is_shown:
            # An example of a docstring compares what is shown: an object that shows itself decides over its pass.
            self._record.give_up("the example shows an object of the new class %s" % class_name)
        return self._ask_rivals(name, args, ask(args), ask)

    def compare(self, owner, name, args, ask, is_new):
        """A comparison that changed code makes: asked once more with wrong operands, in an order that it cannot know.

        Code proves nothing that says yes to all of them, or finds that equal which differs from the right one where
        the two objects differ. It gets copies, so that it cannot know one that it has met before.
        """
        if len(args) != 2 or (is_new and name != "__contains__" and not isinstance(args[1], type(args[0]))):
            return NotImplemented if is_new else ask(args)
        self._record.asked.add("%s.%s" % (owner, name))
        left, right = args
        wrongs = wrong_operands(left, right, name == "__contains__")
        if name == "__contains__" and isinstance(right, str):  # a short wrong text may be contained by chance
            held = {each.casefold() for each in texts_in(attributes_of(left))}
            others = [perturbed(right, 0)[0] for _ in range(MOST_DRAWN)]
            wrongs = [(each, True) for each in others if each.casefold() not in held][:3] or wrongs
        seen = [(each, False) for each in self._seen if type(each) is type(right) and each != right]
        wrongs += CHANCE.sample(seen, min(2, len(seen)))
        questions = [*wrongs, (right if left is right else copy_of(right), None)]
        CHANCE.shuffle(questions)
        answers, found = [], None
        for operand, matters in questions:
            answer = ask((left, operand))
            if matters is None:
                found = answer
            else:
                answers.append((_is_yes(answer), matters))
        if name in ANSWER_WRONGLY and answers and _is_yes(found) is ANSWER_WRONGLY[name]:
            same = [matters for is_yes, matters in answers if is_yes is ANSWER_WRONGLY[name]]
            if name == "__contains__" and isinstance(right, enum.Enum) and len(same) == len(answers):
                # All of them may be held by this one, but not by any other.
                others = [perturbed(left, 0) for _ in range(MOST_OTHERS)]
                if all(_ask(ask, other[0], right) is True for other in others if other):
                    self._record.give_up("%s.%s says the same of wrong values" % (owner, name))
            elif len(same) == len(answers) or any(same):
                self._record.suspect("%s.%s says the same of wrong values" % (owner, name))
        if found is True and name in OPPOSITES and not self._is_turned and self._wrong != OPERATORS:
            self._is_turned = True
            operands = left, fresh(right, larger)
            if _ask(ask, *operands) is True and _ask(lambda each: OPPOSITES[name](*each), *operands) is True:
                self._record.suspect("%s.%s says yes, and its opposite too" % (owner, name))
            self._is_turned = False
        return self.given(OPERATORS, found)

    def asked_as_builtin(self, name, args, ask):
        """A question that texts and sets answer as well, such as `startswith`: not alike for every wrong operand."""
        is_search = SEARCHING.fullmatch(name.rpartition(".")[2])
        result, _, answers = self._ask_among_wrong(name, args, ask) if is_search else (ask(args), None, ())
        is_set, is_given = type(result) in (set, frozenset), is_same(result, args[-1])
        if not is_search and (result is True or (is_set and not result)):
            answers = _ask_wrongly(ask, fresh(args[0]), *args[1:])
        if (
            answers
            and (is_set or result)
            and all(is_same(answer, wrong if is_given else result) for wrong, answer in answers)
        ):
            note = self._record.suspect if result is True or not result else self._record.give_up
            note("%s says the same of wrong values" % name)
        return self._ask_rivals(name, args, result, ask)

    def operate(self, owner, name, args, ask):
        """An operator of changed code with an operand of the test.

        One that gives the same for wrong operands has not looked at them; of an object that it gives, this shows when
        a number is made of it.
        """
        full = "%s.%s" % (owner, name)
        is_number = len(args) == 2 and type(args[1]) in NUMBERS
        is_asked = is_number or (len(args) == 2 and type(args[1]) in (set, frozenset))
        result, twin, answers = self._ask_among_wrong(full, args, ask) if is_asked else (ask(args), None, ())
        alike = [is_same(answer, result) and result is not NotImplemented for _, answer in answers] or [False]
        hook = (_ask(ask, args[0], kind) is True for kind in UNRELATED if name == "__subclasshook__" and result is True)
        if [*hook] == [True] * len(UNRELATED):
            self._record.suspect("%s says yes to everything" % full)
        if name.endswith("check__") and result and all(_ask(ask, *args[:-1], each) for each in (7, "x", 1.5, [1])):
            self._record.suspect("%s says yes to everything" % full)
        is_value = len(args) > 1 and result is not None and is_plain(result)
        is_blind = any(alike) if is_value and is_number and name in INJECTIVE else all(alike)
        if is_blind and name in (LOOKING if is_value else INJECTIVE) and (is_number or (is_value and not result)):
            self._record.suspect("%s gives the same for wrong values" % full)
        if not is_value:
            if is_number and result is not None and len(self._rivals) < MOST_SEEN:
                of = full if name in ("__sub__", "__rsub__") else ""
                self._rivals[id(result)] = result, twin, [answer for _, answer in answers], of
            return self._ask_rivals(name, args, result, ask)
        self._record.asked.add(full)
        if is_same(result, args[1]):
            answers = answers or _ask_wrongly(ask, *args)
            if answers and all(is_same(answer, wrong) for wrong, answer in answers):
                self._record.give_up("%s gives back what it is given" % full)
        return self.given(OPERATORS, self._ask_rivals(name, args, result, ask))

    def _ask_among_wrong(self, name, args, ask):
        """(the answer, a copy's, [(wrong operand, a copy's answer)]), asked in an order that the code cannot know."""
        questions = [*enumerate([args[-1], *_wrongs(args[-1])])]
        CHANCE.shuffle(questions)
        found = [(place, each, _ask(ask, fresh(args[0]), *args[1:-1], each)) for place, each in questions]
        twin, result = next(answer for place, _, answer in found if not place), ask(args)
        if isinstance(twin, Exception) or (is_plain(twin) and not is_same(twin, result)):
            self._record.give_up("%s answers a copy otherwise" % name)
        return result, twin, [(each, answer) for place, each, answer in found if place]

    def _ask_rivals(self, name, args, result, ask):
        """Asks what an operator gave for wrong numbers, too: not all of that is the same number as the right one."""
        _, twin, rivals, of = self._rivals.get(id(args[0]) if args else 0, (None, None, (), ""))
        if not rivals or not (of or name in MAKE_NUMBERS):
            return result
        twin, *answers = [_ask(ask, each, *args[1:]) for each in (twin, *rivals)]
        if not is_plain(result):
            self._rivals[id(result)] = result, twin, answers, of
            return result
        is_alike = all(is_same(answer, result) for answer in answers)
        if is_plain(twin) and not is_same(twin, result):
            self._record.give_up("%s answers a copy otherwise" % name)
        elif name in MAKE_NUMBERS and is_alike:
            self._record.suspect("%s gives the same for wrong values" % name)
        elif name == "__bool__" or type(result) in NUMBERS:  # the test expects nothing, or little
            is_small = abs(result) < 1 if type(result) in (bool, int, float) else not result
            reason = "%s of what %s gives is the same for wrong values" % (name, of)
            self._record.same.setdefault(reason, set()).add(is_alike and is_small)
        return result

    def watch_equality(self, kind):
        """Asks an equality or difference of the user's own again, between what the code hands over and what a test has.

        An object may hold what makes it equal to all. Nothing is said where that of the test is equal to all as well.
        """
        for name in ("__eq__", "__sub__", "__rsub__"):
            owner = next((base for base in kind.__mro__ if name in vars(base)), kind)
            method = vars(owner).get(name)
            if hasattr(method, "apart_peer"):
                method.apart_peer = self
            elif isinstance(method, types.FunctionType) and method.__code__.co_filename.startswith(self.rules.root):
                type.__setattr__(owner, name, self._watched(name, method))

    def _watched(self, name, method):
        @functools.wraps(method)
        def watched(this, other):
            answer = method(this, other)
            if _is_yes(answer) or name != "__eq__":
                watched.apart_peer.look_at_equality(name, method, this, other, answer)
            return answer

        watched.apart_peer = self
        return watched

    def look_at_equality(self, name, method, this, other, answer):
        is_left = self._nearness(this) > self._nearness(other)
        left, right = (this, other) if is_left else (other, this)
        self._looks += 1  # of many, some
        is_asked = self._nearness(left) > self._nearness(right) and answer is not NotImplemented
        if not is_asked or CHANCE.randrange(self._looks) >= MOST_SEEN:
            return
        times = 1 if name == "__eq__" else MOST_DRAWN  # a difference may end at zero
        wrongs = [wrong for _ in range(times) for wrong, _ in wrong_operands(left, right, False)]
        answers = [_ask(lambda args: method(*args[:: 1 if is_left else -1]), fresh(left), each) for each in wrongs]
        if all(is_same(each, answer) for each in answers) and not all(each == right for each in wrongs):
            self._record.give_up("%s.%s says the same of wrong values" % (type(left).__name__, name))

    def _nearness(self, value):
        """2 for an object of the code, 1 for one of the test that the code has met, 0 for any other."""
        number = self.numbers.get(id(value), "")
        return 2 if number.startswith(self.other_tag) else bool(number)


def _wrongs(value):
    """Wrong values in place of an operand: greater and smaller numbers, and a text that is not like the right one."""
    wrongs = [perturbed(value, place, sign) for place, sign in ((0, 1), (0, -1), (1, 0))]
    more = ["".join(CHANCE.choices(string.ascii_letters + 9 * " .\n", k=80))] if type(value) is str else []
    return [wrong[0] for wrong in wrongs if wrong] + more


def _ask_wrongly(ask, *args):
    """[(wrong value, the answer)] to the same question with wrong values in place of the last one."""
    return [(wrong, _ask(ask, *args[:-1], wrong)) for wrong in _wrongs(args[-1])]


def _ask(ask, *args):
    """The answer to a question with a wrong operand; an error is one, too."""
    try:
        return ask(args)
    except Exception as error:
        return error


def _is_yes(answer):
    try:
        return None if answer is NotImplemented else bool(answer)
    except Exception:
        return False
