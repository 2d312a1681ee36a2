"""Asks comparisons and operators again, with wrong operands: one that says the same of them proves nothing.

It must not know how values cross.
"""

import functools
import types

from apart_rules import COMPARISONS, SPECIAL, VALUE_OPERATORS, is_plain, texts_in
from apart_values import attributes_of
from apart_wrong import CHANCE, SHIFTED, copy_of, is_same, perturbed, wrong_operands

MOST_DRAWN = 20  # texts, of which some are contained
MOST_SEEN = 500  # values that are kept as wrong operands, and questions
# What a comparison must not say of wrong operands too.
ANSWER_WRONGLY = {"__eq__": True, "__ne__": False, "__contains__": True}
INJECTIVE = frozenset(("__add__", "__radd__", "__sub__", "__rsub__"))
LOOKING = INJECTIVE | {"__truediv__", "__rtruediv__", "__mod__", "__rmod__", "__xor__", "__rxor__"}
MAKE_NUMBERS = frozenset(("__abs__", "__round__", "__neg__", "__pos__", "__trunc__", "__floor__", "__ceil__"))
NUMBERS = (int, float, *SHIFTED)
# Methods of values that do not change: asked as an operator is where another object takes their place.
OF_BUILTINS = frozenset(name for kind in (str, bytes, frozenset, tuple, range) for name in dir(kind) if name[0] != "_")
# What a pass may rest on besides values: arguments changed in place, constants of changed code, its operators.
# Objects that comparisons of their own class compare are built from their arguments.
CHANGES, CONSTANTS, OPERATORS, OPERANDS = "changes", "constants", "operators", "operands"
STATES = "states"  # of other objects than the one whose method was called, and of files
RESULTS, ALL = "results", "all"  # `all`: everything that the code hands over, but yes and no


class Questions:
    """The part of the evidence that asks again."""

    def ask_stub(self, class_name, name, args, ask, is_new):
        """The answer to a call of a stub, which is a method of a mirror where it has the name of a class."""
        if name == "__init__":
            return ask(self.arguments(args))
        if name in COMPARISONS or (SPECIAL.match(name) and name not in VALUE_OPERATORS):
            owner = class_name or type(args[0]).__name__
            compares = name in COMPARISONS
            return self.compare(owner, name, args, ask, is_new) if compares else self.operate(owner, name, args, ask)
        if class_name and len(args) > 1 and name in OF_BUILTINS:
            return self.asked_as_builtin(class_name + "." + name, args, ask)
        if class_name and name in ("__repr__", "__str__") and self._record.is_shown:
            # An example of a docstring compares what is shown: an object that shows itself decides over its pass.
            self._record.give_up("the example shows an object of the new class %s" % class_name)
        return ask(args)

    def arguments(self, args):
        """The arguments of a constructor of changed code; wrong ones where this run gives objects wrong ones.

        Objects whose values differ must not be equal, whatever the code keeps of them, and wherever it keeps it.
        """
        owner, *rest = args
        wrongs = {place: wrong for place, value in enumerate(rest) if (wrong := perturbed(value, 0)) is not None}
        if not wrongs:
            return args
        self._record.made.add(type(owner).__name__)
        if self._wrong == OPERANDS:
            place = CHANCE.choice([*wrongs])
            rest[place] = wrongs[place][0]
            self._record.wronged[id(owner)] = owner
        return (owner, *rest)

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
            if len(same) == len(answers) or any(same):
                self._record.suspect("%s.%s says the same of wrong values" % (owner, name))
        if left is not right and not self._record.wronged.keys().isdisjoint((id(left), id(right))):
            self._record.same.setdefault(owner, set()).add(_is_yes(found) is ANSWER_WRONGLY.get(name))
        return self.given(OPERATORS, found)

    def asked_as_builtin(self, name, args, ask):
        """A question that texts and sets answer as well, such as `startswith`: not alike for every wrong operand."""
        result = ask(args)
        if result is True or (type(result) in (set, frozenset) and not result):
            answers = _ask_wrongly(ask, args)
            if answers and all(is_same(answer, result) for _, answer in answers):
                self._record.suspect("%s says the same of wrong values" % name)
        return result

    def operate(self, owner, name, args, ask):
        """An operator of changed code with an operand of the test.

        One that gives the same for wrong operands has not looked at them; of an object that it gives, this shows when
        a number is made of it.
        """
        result = ask(args)
        is_number = len(args) > 1 and type(args[1]) in NUMBERS
        if len(args) < 2 or result is None or not is_plain(result):
            if is_number and len(self._rivals) < MOST_SEEN:
                self._rivals[id(result)] = result, [answer for _, answer in _ask_wrongly(ask, args[:2])]
            return self._ask_rivals(name, args, result, ask)
        self._record.asked.add("%s.%s" % (owner, name))
        if name in LOOKING and (is_number or (type(args[1]) in (set, frozenset) and not result)):
            alike = [is_same(answer, result) for _, answer in _ask_wrongly(ask, args[:2])]
            if any(alike) if name in INJECTIVE and is_number else all(alike):
                self._record.suspect("%s.%s gives the same for wrong values" % (owner, name))
        if is_same(result, args[1]):
            answers = _ask_wrongly(ask, args[:2])
            if answers and all(is_same(answer, wrong) for wrong, answer in answers):
                self._record.give_up("%s.%s gives back what it is given" % (owner, name))
        return self.given(OPERATORS, self._ask_rivals(name, args, result, ask))

    def _ask_rivals(self, name, args, result, ask):
        """Asks what an operator gave for wrong numbers, too: not all of that is the same number as the right one."""
        _, rivals = self._rivals.get(id(args[0]), (None, ())) if name in MAKE_NUMBERS else (None, ())
        answers = [_ask(ask, each, *args[1:]) for each in rivals]
        if answers and not is_plain(result):
            self._rivals[id(result)] = result, answers
        elif answers and all(is_same(answer, result) for answer in answers):
            self._record.suspect("%s gives the same for wrong values" % name)
        return result

    def watch_equality(self, kind):
        """Asks an equality of the user's own again, where it finds what the code hands over equal to what a test has.

        An object may hold what makes it equal to all. Nothing is said where that of the test is equal to all as well.
        """
        owner = next(base for base in kind.__mro__ if "__eq__" in vars(base))
        equal = vars(owner)["__eq__"]
        if hasattr(equal, "apart_peer"):
            equal.apart_peer = self
        elif isinstance(equal, types.FunctionType) and equal.__code__.co_filename.startswith(self.rules.root):

            @functools.wraps(equal)
            def watched(this, other):
                answer = equal(this, other)
                if _is_yes(answer):
                    watched.apart_peer.look_at_equality(equal, this, other)
                return answer

            watched.apart_peer = self
            type.__setattr__(owner, "__eq__", watched)

    def look_at_equality(self, equal, this, other):
        is_left = id(this) in self.numbers
        left, right = (this, other) if is_left else (other, this)
        self._looks += 1
        if id(left) not in self.numbers or id(right) in self.numbers or self._looks > MOST_SEEN:
            return
        wrongs = [wrong for wrong, _ in wrong_operands(left, right, False)]
        if all(_is_yes(equal(left, each) if is_left else equal(each, left)) for each in wrongs) and not all(
            each == right for each in wrongs
        ):
            self._record.give_up("%s.__eq__ says the same of wrong values" % type(left).__name__)


def _ask_wrongly(ask, args):
    """[(wrong value, the answer)] to the same question with wrong values in place of the last one."""
    wrongs = [wrong[0] for place in range(3) if (wrong := perturbed(args[-1], place))]
    return [(wrong, _ask(ask, *args[:-1], wrong)) for wrong in wrongs]


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
