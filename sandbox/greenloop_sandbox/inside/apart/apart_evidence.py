"""Notes the evidence of a case while it runs, and gives its test wrong values in place of the right ones.

It must not know how values cross.
"""

import collections
import contextlib
import os
import pathlib
import re
import threading

from apart_assertions import Operands, digest, has_left_assertions
from apart_handles import Handle
from apart_questions import ALL, CHANGES, CONSTANTS, MOST_SEEN, OPERATORS, RESULTS, STATES, Questions
from apart_rules import is_failure, solid_base
from apart_states import contents, files_below, held_by_tests, make_wrong, shorten
from apart_tasks import receivers
from apart_values import HOLDERS
from apart_variation import Variation
from apart_wrong import is_same, perturbed

ENDS = ("StopIteration", "StopAsyncIteration", "IndexError", "CancelledError")  # of loops and tasks
ENDING = re.compile(r"\b__(a?next|getitem)__\b")  # of iterators and sequences, which may end
MOST_SAID = 2000  # messages that are kept
MOST_REFUSED = 10  # calls of the code that raise an error; a test of patience needs fewer
MOST_PATHS, MOST_PATH = 20, 500  # values in a list, and characters, that may be paths


class Evidence(Questions):
    """Says what a pass rests on, and gives the tests wrong values where a run asks for them."""

    def prepare(self, request):
        self._applies, self._wrong = request["in_place"], request["wrong"].rstrip("+-")
        self._is_outer = request["outer"]  # the code answers for what it has not changed, with yes or no as well
        self._is_thorough = request["wrong"] == ALL + "+"
        self._sign = {"+": 1, "-": -1}.get(request["wrong"][-1:], 0)
        self._seen, self._failed, self._receivers, self._scratch = [], None, [()], request["writable"][0]
        self._held = None  # what the tests hold during the current question
        self._filled = []  # containers of the tests that get other contents
        self.said, self.written, self._made = collections.deque(maxlen=MOST_SAID), set(), set()
        self._rivals, self._looks, self._is_turned = {}, 0, False
        self._variation, self._asking = Variation(request["wrong"]), [("", "")]

    def doubt(self, reason):
        """Notes why the current case proves nothing."""
        self._record.give_up(reason)

    def takes_change(self, name):
        self._record.changed.add(name)
        return self._applies

    def takes_class(self, kind):
        return self._is_tolerant or all(map(self.rules.may_be_called, kind.__mro__))

    def changed_items(self, tag, items, number, held):
        is_order = tag == "l" and sorted(map(digest, held)) == sorted(map(digest, items))
        if not is_order and self._is_of_another(number):
            self._record.states.add("the state of an argument")
        if self._wrong not in (CHANGES, ALL):
            return items
        if is_order and items and digest(items[0]) != digest(items[-1]):
            return items[1:] + items[:1]  # what is wrong of an order is another one
        wrong = items[: -2 if tag == "d" else -1]
        return wrong if items else [None, None] if tag == "d" else [None]

    def changed_attributes(self, number, held, new):
        changed = [name for name, value in new.items() if name not in held or not is_same(held[name], value)]
        value = self.objects[number]
        base = solid_base(type(value))
        is_filled = base in HOLDERS and hasattr(base, "__len__")  # anew, if nothing else has changed
        if not (changed or is_filled) or not self._is_of_another(number):
            return new
        self._record.states.add("the state of an argument")
        if is_filled and self._wrong == ALL:
            self._filled.append((value, contents(value)))
        wrongs = {name: perturbed(new[name], 0) for name in changed} if self._wrong == ALL else {}
        return {**new, **{name: wrong[0] for name, wrong in wrongs.items() if wrong}}

    def _is_of_another(self, number):
        """False for what hangs on the object whose method was called, but for what a test has under a name."""
        found, receiver = set(), [self.numbers.get(id(each)) for each in self._receivers[-1]]
        todo = [*receiver]
        while todo:
            child = todo.pop()
            if child is not None and child not in found:
                found.add(child)
                todo += [child for child, _ in self.known[child].children or ()] if child in self.known else ()
        if number not in found or number in receiver:
            return number not in found
        if self._held is None:
            self._held = {id(value): value for value in held_by_tests(self.rules.is_test_module)}
        return id(self.objects[number]) in self._held

    def request(self, kind, *values, roots=()):
        is_call, outer, self._failed, self._held = kind in ("call", "method"), self._failed, None, None
        of_calls = self.receivers_of_calls() if kind == "turn" else self._receivers[-1]
        self._receivers.append(receivers(kind, values) if is_call else of_calls)
        operation = values[0] if kind == "op" else str(values[1]).rpartition(".")[2] if is_call else ""
        self._asking.append((kind, operation))
        before = files_below(self._scratch) if is_call or kind == "turn" else None
        try:
            result = super().request(kind, *values, roots=roots)
            self.note_swallowed(self._failed)
            self.note_kept(kind, values, result)
        except BaseException as error:
            self.note_end(kind, values, error)
            self._note_translated(self._failed, error)
            self.note_kept(kind, values, None, error)
            error.args = self.wholly_wrong(error.args) if is_call else error.args
            raise
        finally:
            self._failed = outer
            self._receivers.pop()
            while self._filled:
                shorten(*self._filled.pop())
            self._asking.pop()
            if before is not None:
                self._look_at_files(before)
        found = self.given(RESULTS, result) if is_call else result
        if is_call and found is result and result is not None:
            self._record.right.add((str(values[0]), values[1]))
        return found

    def _look_at_files(self, before):
        """Notes files of the tests that the code has changed; where a run is for that, they say something else."""
        after = files_below(self._scratch)
        for path in sorted(path for path in {**before, **after} if before.get(path) != after.get(path)):
            if path in after:
                self.written.add(path)
            if path not in before:
                self._made.add(path)
            elif path not in after and path in self._made:
                continue  # the code has taken its own away
            else:
                self._record.states.add("the file %s" % os.path.basename(path))
            if self._wrong == ALL:
                with contextlib.suppress(OSError):
                    make_wrong(pathlib.Path(path), before.get(path), after.get(path))

    def answer(self, kind, values):
        is_call = not self._wrong and (kind == "method" or (kind == "op" and values[0] == "call"))
        self._record.calls += is_call
        try:
            return super().answer(kind, values)
        except Exception:
            self._record.refused += is_call
            raise

    def note_raised(self, error):
        if is_failure(error):
            self._failed = error

    def note_call(self, question, args, keywords):
        self._record.functions.add(question[1:3])
        self._note_values((*args, *keywords.values()))

    def call(self, question, args, keywords):
        self.note_call(question, args, keywords)
        return super().call(question, args, keywords)

    def note_end(self, kind, values, error):
        """Keeps an error of the code that may end a loop, a task or a thread of the test without a word."""
        name = "__%s__" % values[0] if kind == "op" else str(values[1:2])
        names = {base.__name__ for base in type(error).__mro__[:-1]}
        in_thread = threading.current_thread() is not threading.main_thread()
        if (in_thread or not names.isdisjoint(ENDS)) and not ENDING.search(name):
            self._record.ends.append((error, names))

    def note_kept(self, kind, values, result, error=None):
        """Notes an exception that the code was given to leave a block or a generator with, and that ended there."""
        given = _error_to_leave_with(kind, values)
        if result:
            self.note_swallowed(given)
        self._note_translated(given, error)

    def _note_translated(self, given, error):
        if error is not None and error is not given and is_failure(given):
            self.doubt("it makes another error of a failed assertion, which the test may expect")

    def note_swallowed(self, error):
        """Code that keeps a failed assertion from failing its test proves nothing."""
        if is_failure(error) or has_left_assertions(error):
            self._record.suspect("it swallows a failed assertion")

    def wholly_wrong(self, value):
        """The value, or a wrong one where a run makes everything wrong, also that by which tests wait and branch."""
        if not self._is_thorough or value is None or isinstance(value, Handle):
            return value
        return (perturbed((0,) if value == () else value, 0) or (value,))[0]

    def given(self, kind, value):
        """The value, or a wrong one where this run gives the tests wrong ones of this kind."""
        if (
            kind not in ((CHANGES, CONSTANTS, RESULTS) if self._wrong == ALL else (self._wrong,))
            or isinstance(value, Handle)
            or (kind == RESULTS and type(value) in (bool, type(None)) and not self._is_outer)
        ):
            return self.wholly_wrong(value) if kind == RESULTS else value
        wrong = perturbed(value, 0, self._sign)
        return self.wholly_wrong(value) if wrong is None else wrong[0]

    def ask_handle(self, operation, handle, args=(), keywords=None):
        result = super().ask_handle(operation, handle, args, keywords)
        if args and operation not in ("exit", "call", "getitem", "setitem", "delitem"):
            self._record.asked.add("%s of an object of the code" % operation)
            return self.given(OPERATORS, result)
        return self.wholly_wrong(result)

    def _note_values(self, args):
        """Keeps values as wrong operands, and the files of the tests that a test hands over by their path."""
        if len(self._seen) < MOST_SEEN:
            self._seen += [value for value in args if type(value) in (str, int, float, tuple)]
        for value in args:
            for each in value if type(value) in (list, tuple) and len(value) < MOST_PATHS else (value,):
                if isinstance(each, (str, os.PathLike)):
                    self._note_path(each)

    def _note_path(self, value):
        try:
            path = os.fspath(value)
            if type(path) is not str or len(path) > MOST_PATH or "\n" in path or path.endswith(".py"):
                return
            path = os.path.realpath(path)
            if path.startswith(self.rules.root) and os.path.exists(path) and self._context.is_hidden(path):
                self._record.lent.add(path[len(self.rules.root) :])
        except (OSError, ValueError, TypeError):
            pass  # it is no path


class CaseRecord:
    """Basis of the pass of the current case."""

    def __init__(self, operands=None, before=None):
        self.unfit, self.suspicious, self.is_shown = "", False, False
        self.asked, self.lent, self.ran, self.same, self.operands = set(), set(), set(), {}, operands or Operands()
        # Results that are not made wrong, and errors that may end a loop.
        self.right, self.ends = set(), []
        self.calls, self.refused = 0, 0  # of functions of the test, by the code
        # What may have come from the code before the case began.
        self.taken, self.changed, self.states, self.functions = set(), set(), set(), set()
        if before:
            self.inherit(before)

    def inherit(self, before):
        for name in ("taken", "changed", "states", "functions"):
            getattr(self, name).update(getattr(before, name))

    def suspect(self, reason):
        self.suspicious = True
        self.give_up(reason)

    def give_up(self, reason):
        self.unfit = self.unfit or reason

    def fields(self):
        for error, names in self.ends:
            if has_vanished(error, names):
                self.give_up("it raises %s, which ends a loop, a task or a thread of another" % type(error).__name__)
        if self.refused > MOST_REFUSED and 2 * self.refused > self.calls:
            self.give_up("most of its calls of what the test hands over raise an error, as guesses do")
        for reason, answers in self.same.items():
            if answers == {True}:
                self.give_up(reason)
        kinds = {CHANGES: self.changed, CONSTANTS: self.taken, OPERATORS: self.asked, STATES: self.states}
        rests_on = [[kind, name] for kind, names in kinds.items() for name in sorted(names)]
        places = {"lent": sorted(self.lent), "ran": sorted(map(list, self.ran)), "right": len(self.right)}
        # What one function does is compared with what it does itself by tests of order, say, or of chance.
        is_fixed = self.operands.are_fixed or len(self.functions) < 2
        sides = {"sides": self.operands.sides, "fixed": is_fixed, "false": self.operands.false}
        sides |= {"held": self.operands.held, "several": len(self.functions) > 1}
        return {"rests_on": rests_on, **places, **sides, "unfit": self.unfit, "suspicious": self.suspicious}


def has_vanished(error, names):
    """Has a loop, a task or a thread taken this error for its end, where nobody expects it by one of its names?"""
    if error.__traceback__ is None:
        return False  # who has caught it has taken that away
    code = error.__traceback__.tb_frame.f_code  # that of the last one who has seen it
    if os.path.dirname(code.co_filename) == os.path.dirname(has_vanished.__code__.co_filename):
        return not names.isdisjoint(ENDS) and code.co_name != "_ask"
    is_end = not names.isdisjoint(ENDS) and "IndexError" not in names
    return (is_end or code.co_name in ("__getitem__", "_bootstrap_inner")) and names.isdisjoint(code.co_names)


def _error_to_leave_with(kind, values):
    """The exception that a question gives the code, which leaves a block or a generator with it; None of most."""
    if kind == "op" and values[0] == "step" and values[2] == "throw":
        return values[3]
    args = values[2] if kind == "op" else values[-2] if kind in ("call", "method") else ()
    is_triple = len(args) > 2 and isinstance(args[-2], BaseException) and args[-3] is type(args[-2])
    return args[-2] if is_triple else None
