"""Notes the evidence of a case while it runs, and gives its test wrong values in place of the right ones.

It must not know how values cross.
"""

import os
import pathlib

from apart_handles import Handle
from apart_operands import Operands
from apart_rules import is_plain
from apart_tasks import receivers
from apart_wrong import CHANCE, copy_of, is_same, perturbed, wrong_operands

MOST_SEEN, MOST_FILES = 500, 2000  # values that are kept as wrong operands, and files that are looked at
MOST_PATHS, MOST_PATH = 20, 500  # values in a list, and characters, that may be paths
# What a comparison must not say of wrong operands too.
ANSWER_WRONGLY = {"__eq__": True, "__ne__": False, "__contains__": True}
INJECTIVE = frozenset(("__add__", "__radd__", "__sub__", "__rsub__"))
# What a pass may rest on besides values: arguments changed in place, constants of changed code, its operators.
# Objects that comparisons of their own class compare are built from their arguments.
CHANGES, CONSTANTS, OPERATORS, OPERANDS = "changes", "constants", "operators", "operands"
STATES = "states"  # of other objects than the one whose method was called, and of files
RESULTS, ALL = "results", "all"  # `all`: everything that the code hands over, but yes and no


class Evidence:
    """Says what a pass rests on, and gives the tests wrong values where a run asks for them."""

    def prepare(self, request):
        self._applies, self._wrong = request["in_place"], request["wrong"].rstrip("+-")
        self._sign = {"+": 1, "-": -1}.get(request["wrong"][-1:], 0)
        self._seen, self._failed, self._receivers, self._scratch = [], None, [()], request["writable"][0]

    def takes_change(self, name):
        self._record.changed.add(name)
        return self._applies

    def takes_class(self, kind):
        return self._is_tolerant or all(map(self.rules.may_be_called, kind.__mro__))

    def changed_value(self, value):
        return self.given(CHANGES, value)

    def changed_items(self, tag, items):
        if self._wrong not in (CHANGES, ALL):
            return items
        wrong = items[: -2 if tag == "d" else -1]
        return wrong if items else [None, None] if tag == "d" else [None]

    def changed_attributes(self, number, held, new):
        changed = [name for name, value in new.items() if name not in held or not is_same(held[name], value)]
        if not changed or number in self._of_the_receiver():
            return new
        self._record.states.add("the state of an argument")
        wrongs = {name: perturbed(new[name], 0) for name in changed} if self._wrong == ALL else {}
        return {**new, **{name: wrong[0] for name, wrong in wrongs.items() if wrong}}

    def _of_the_receiver(self):
        """The numbers of the objects that hang on the one whose method was called."""
        found, todo = set(), [self.numbers.get(id(each)) for each in self._receivers[-1]]
        while todo:
            number = todo.pop()
            if number is not None and number not in found:
                found.add(number)
                todo += [child for child, _ in self.known[number].children or ()] if number in self.known else ()
        return found

    def request(self, kind, *values, roots=()):
        if kind not in ("call", "method", "start", "turn"):
            return self._request(kind, *values, roots=roots)
        self._receivers.append(self.receivers_of_calls() if kind == "turn" else receivers(kind, values))
        before = files_below(self._scratch)
        try:
            result = self._request(kind, *values, roots=roots)
        finally:
            self._receivers.pop()
            self._look_at_files(before)
        return self.given(RESULTS, result) if kind in ("call", "method") else result

    def _look_at_files(self, before):
        """Notes files of the tests that the code has changed; where a run is for that, they say something else."""
        for path, state in files_below(self._scratch).items():
            if before.get(path) == state:
                continue
            if path in before:
                self._record.states.add("the file %s" % os.path.basename(path))
            if self._wrong == ALL:
                file = pathlib.Path(path)
                file.write_bytes(b"%d%s" % (CHANCE.randint(1_000, 9_999), file.read_bytes()))

    def _request(self, kind, *values, roots=()):
        try:
            result = super().request(kind, *values, roots=roots)
        except StopIteration:
            if "next" not in str(values[1 if kind in ("method", "call") else 0]):
                self._record.suspect("it raises StopIteration, which ends the loop of another")
            raise
        else:
            self.note_swallowed(self._failed)
            return result
        finally:
            self._failed = None

    def note_raised(self, error):
        if isinstance(error, AssertionError):
            self._failed = error

    def call(self, module, key, is_bare, args, keywords):
        self.note_call(args, keywords)
        return self.request("call", module, key, is_bare, args, keywords or None)

    def note_swallowed(self, error):
        """Code that keeps a failed assertion from failing its test proves nothing."""
        if isinstance(error, AssertionError):
            self._record.suspect("it swallows a failed assertion")

    def note_shown(self, class_name):
        """An example of a docstring compares what is shown, so an object that shows itself decides over its pass."""
        if self._record.is_shown:
            self._record.give_up("the example shows an object of the new class %s" % class_name)

    def note_call(self, args, keywords):
        self._record.calls += 1
        self._note_values((*args, *keywords.values()))

    def given(self, kind, value):
        """The value, or a wrong one where this run gives the tests wrong ones of this kind."""
        if (
            kind not in ((CHANGES, CONSTANTS, RESULTS) if self._wrong == ALL else (self._wrong,))
            or isinstance(value, Handle)
            or (kind == RESULTS and type(value) in (bool, type(None)))
        ):
            return value
        wrong = perturbed(value, 0, self._sign)
        return value if wrong is None else wrong[0]

    def ask_handle(self, operation, handle, args=(), keywords=None):
        result = super().ask_handle(operation, handle, args, keywords)
        if operation == "exit" and result:
            self.note_swallowed(args[1])
        if args and operation not in ("exit", "call", "getitem"):
            self._record.asked.add("%s of an object of the code" % operation)
            return self.given(OPERATORS, result)
        return result

    async def await_handle(self, operation, handle, args=()):
        result = await super().await_handle(operation, handle, args)
        if operation == "aexit" and result:
            self.note_swallowed(args[1])
        return result

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
        """A question that texts and sets answer as well, such as `startswith`: not with yes to every wrong operand."""
        result = ask(args)
        if result is True:
            wrongs = [ask((*args[:-1], wrong[0])) for place in range(3) if (wrong := perturbed(args[-1], place))]
            if wrongs and all(wrong is True for wrong in wrongs):
                self._record.suspect("%s says yes to wrong values" % name)
        return result

    def operate(self, owner, name, args, ask):
        """An operator of changed code with an operand of the test.

        A sum or difference that is the same for wrong numbers has not looked at its operand.
        """
        result = ask(args)
        if len(args) < 2 or result is None or not is_plain(result):
            return result  # of an object, what the test asks of it counts
        self._record.asked.add("%s.%s" % (owner, name))
        if name in INJECTIVE and type(args[1]) in (int, float):
            wrongs = [ask((args[0], perturbed(args[1], place)[0])) for place in range(3)]
            if any(type(wrong) is type(result) and is_plain(wrong) and wrong == result for wrong in wrongs):
                self._record.suspect("%s.%s gives the same for wrong values" % (owner, name))
        if is_same(result, args[1]):
            wrongs = [wrong[0] for place in range(3) if (wrong := perturbed(args[1], place))]
            if wrongs and all(is_same(ask((args[0], wrong)), wrong) for wrong in wrongs):
                self._record.give_up("%s.%s gives back what it is given" % (owner, name))
        return self.given(OPERATORS, result)


def _is_yes(answer):
    try:
        return None if answer is NotImplemented else bool(answer)
    except Exception:
        return False


class CaseRecord:
    """Basis of the pass of the current case."""

    def __init__(self, goes_on=False):
        self.calls, self.changed, self.unfit, self.suspicious, self.is_shown = 0, set(), "", False, False
        self.asked, self.taken, self.made, self.lent, self.ran = set(), set(), set(), set(), set()
        self.states, self.wronged, self.same, self.operands = set(), {}, {}, Operands(goes_on)

    def suspect(self, reason):
        self.suspicious = True
        self.give_up(reason)

    def give_up(self, reason):
        self.unfit = self.unfit or reason

    def fields(self):
        for owner, answers in self.same.items():
            if answers == {True}:
                self.suspect("%s objects are the same, whatever they are made of" % owner)
        rests_on = [[CHANGES, name] for name in sorted(self.changed)]
        rests_on += [[CONSTANTS, name] for name in sorted(self.taken)]
        rests_on += [[OPERATORS, name] for name in sorted(self.asked)]
        rests_on += [[STATES, name] for name in sorted(self.states)]
        compared = {name.partition(".")[0] for name in self.asked if name.endswith((".__eq__", ".__ne__"))}
        rests_on += [[OPERANDS, "the arguments of %s" % name] for name in sorted(self.made & compared)]
        places = {"lent": sorted(self.lent), "ran": sorted(map(list, self.ran))}
        sides = {"sides": self.operands.sides, "false": self.operands.false}
        reason = {"unfit": self.unfit, "suspicious": self.suspicious}
        return {"calls": self.calls, "rests_on": rests_on, **places, **sides, **reason}


def files_below(folder):
    """{path: what tells a changed file from itself} of the files of a folder, up to a limit."""
    found, todo = {}, [folder]
    while todo and len(found) < MOST_FILES:
        try:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        status = entry.stat()
                        found[entry.path] = (status.st_ino, status.st_size, status.st_mtime_ns)
        except OSError:
            pass  # it is gone
    return found
