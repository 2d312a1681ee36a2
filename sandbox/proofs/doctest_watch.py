"""Notices in the worker when the one runner of a doctest's example, or what the example expects, is changed.

Code of an example can find its runner, so a look at modules is not enough: the runner has a checker, a stream and flags
of its own. doctest restores some of what it lends, so the last moment to look is just before it compares.
"""

import doctest
import sys


class Checker:
    """Stands in for the checker of an example's runner. `found` names what was changed.

    `look()` is called just before the comparison.
    """

    def __init__(self, item, look):
        self._look, self._runner = look, item.runner
        self._checker, self._example = item.runner._checker, item.dtest.examples[0]
        self._expected = self._expectation()
        self._flags = _flags(item.runner.optionflags, self._example.options)
        self._agreed = False
        self.found = []
        item.runner._checker = self

    def _expectation(self):
        example = self._example
        return example.source, example.want, example.exc_msg, dict(example.options)

    def check_output(self, want, got, optionflags):
        self._look()
        stream = self._runner._fakeout
        if type(stream) is not doctest._SpoofOut or vars(stream) or sys.stdout is not stream:
            self.found.append("sys.stdout")
        if self._expectation() != self._expected or want not in self._expected[1:3] or optionflags != self._flags:
            self.found.append("what the example expects")
        self._agreed = self._checker.check_output(want, got, optionflags)
        return self._agreed

    def finish(self, passed):
        """To be called when the example has run."""
        is_own = self._runner._checker is self and not METHODS & set(vars(self._runner))
        if not is_own or (passed and not self._agreed):
            self.found.append("doctest's runner")

    def __getattr__(self, name):
        return getattr(self._checker, name)


METHODS = frozenset(name for name in dir(doctest.DebugRunner) if not name.startswith("__"))


def _flags(flags, options):
    for flag, value in options.items():
        flags = flags | flag if value else flags & ~flag
    return flags
