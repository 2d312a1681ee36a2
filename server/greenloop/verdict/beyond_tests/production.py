"""Judges whether new code answers as the tests want only while it is tested; a pure function.

Honest code depends on what was done before, too. So nobody is accused for a difference alone: in production the code
has to answer each input whose answer it changed as the user's own code did, and after many calls with different
answers, for a limit that is reached gives one.
"""

from __future__ import annotations

from collections.abc import Sequence

from greenloop.verdict.beyond_tests.changed_functions import ChangedFunction
from greenloop.verdict.beyond_tests.other_inputs import Observation, show_call, show_done

# The condition of a call, the one to compare it with, the words for it, and the least number of different answers.
CONDITIONS = (
    ("calls", "first", "after some hundred calls", 2),
    ("production", "again", "in a folder without tests, in a process of some days, and without `__debug__`", 1),
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
