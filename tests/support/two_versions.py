"""What two versions of a function do with the inputs of tests and with varied ones, without a sandbox."""

from __future__ import annotations

import copy
import json

from greenloop.plugins.function_calls.changed_functions import find_changed_functions
from greenloop.plugins.other_inputs.other_inputs import MOST_VARIED, Done, Observation
from greenloop.plugins.other_inputs.plain_values import encode
from greenloop.plugins.other_inputs.varied_inputs import Call, move_calls, vary_calls

PATH = "m.py"


def observed(old: str, new: str, inputs, most=MOST_VARIED) -> list[Observation]:
    """Observations of the first changed function; `inputs` are the arguments of the tests' calls."""
    function = find_changed_functions({PATH: old}, {PATH: new})[0]
    tested = [Call(function=0, positional=each if isinstance(each, tuple) else (each,)) for each in inputs]
    versions = []
    for text in (old, new):
        module: dict[str, object] = {}
        exec(compile(text, PATH, "exec"), module)
        versions.append(module[function.qualname])
    found = []
    moved = move_calls(tested)
    kinds = {"is_tested": tested, "is_near": vary_calls(tested, most, moved), "is_moved": moved}
    for kind, call in ((kind, call) for kind, calls in kinds.items() for call in calls):
        before, after = [_done(version, call) for version in versions]
        found.append(Observation(function=function, call=call, old=before, new=after, **{kind: True}))
    return found


def _done(function, call: Call) -> Done:
    arguments = copy.deepcopy(call.positional)
    before = encode(list(arguments))
    try:
        does = ["returns", encode(function(*arguments), digits=9)]
    except Exception as error:  # noqa: BLE001 - whatever it raises is data
        does = ["raises", type(error).__qualname__]
    after = encode(list(arguments))
    return Done(kind=does[0], trees=json.dumps([does[1], None if after == before else after, ""]))
