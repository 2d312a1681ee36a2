"""A property becomes a test: inputs by Hypothesis, one call, one assertion whose message names what broke it. Pure."""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.core.nouns import Provenance
from greenloop.core.sheet import Check
from greenloop.specs._claims import used
from greenloop.specs._function import Head
from greenloop.specs._values import Values

EXAMPLES = 60  # inputs tried for one property
# Where the project has no Hypothesis, greenloop's own lies behind this name (guests.py).
HYPOTHESIS = """try:
    import hypothesis
except ImportError:
    import os, sys, tempfile
    sys.path.append(os.environ.get("GREENLOOP_GUESTS", ""))
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = tempfile.gettempdir()"""
NAMES = "from hypothesis import HealthCheck, Phase, given, reject, settings, strategies as st"
# Without a database and the explaining phase, which wants the tracer; one failure, the smallest, and always the same.
SETTINGS = (
    f"settings(max_examples={EXAMPLES}, derandomize=True, database=None, deadline=None, report_multiple_bugs=False, "
    "phases=[Phase.generate, Phase.shrink], suppress_health_check=list(HealthCheck))"
)
_LAZY = re.compile(r"^(typing\.|collections\.abc\.)?(Async)?(Iterator|Generator)\b")
_YIELDED = 1000  # of what a generator gives


@dataclass(frozen=True, kw_only=True)
class Property:
    """`expression` must be true of the parameters and `result`; empty: the call must return.

    `given` is a condition on the inputs; `source` says whose it is (a check's batch); `own` are other functions of the
    module that it calls. `over`: the values that are drawn, where they are not the function's own; `call` replaces its
    call then.
    """

    name: str
    expression: str
    source: str
    imports: tuple[str, ...] = ()
    given: str = ""
    own: tuple[str, ...] = ()
    over: tuple[Values, ...] = ()
    call: str = ""


def check(claim: Property, head: Head, values: Sequence[Values], module: str, allowed: Sequence[str]) -> Check | None:
    """The test of a property; None where it needs a value that cannot be made up.

    `allowed` are the exceptions that say that an input was none; the names in it that are no builtin ones are the
    module's own.
    """
    names = used(claim.expression or "None") | used(claim.given or "None")
    drawn = [each for each in claim.over or values if each.drawn or each.name in names or claim.over]
    if names & set(head.names) - {each.name for each in drawn}:
        return None
    call = claim.call or _call(head, drawn)
    told = ", ".join(f"{each.name}={{{each.name}!r}}" for each in drawn)
    message = f'f"`{claim.name}` does not hold: {head.name}({told}) gave {{result!r}}"'
    own = [*claim.own, *(each for each in allowed if not hasattr(builtins, each))]
    body = [f"from {module} import {name}" for name in own if name != head.name]
    body += [f"if not ({claim.given}):", "    reject()"] if claim.given else []
    tried = f"result = {call}" if claim.expression else call
    body += ["try:", f"    {tried}", f"except ({', '.join(allowed)}):", "    reject()"] if allowed else [tried]
    body += [f"assert {claim.expression}, {message}"] if claim.expression else []
    copies = ("from copy import deepcopy",) if "deepcopy(" in call else ()
    lazy = ("from itertools import islice",) if "islice(" in call else ()
    return Check(
        body="\n".join(body),
        line=head.line,
        provenance=Provenance.PROPERTY,
        shown=f"{claim.name}: {claim.expression or call}",
        imports=(*copies, *lazy, *claim.imports, HYPOTHESIS, NAMES),
        decorators=(SETTINGS, f"given({', '.join(f'{each.name}={each.strategy}' for each in drawn)})"),
        parameters=", ".join(each.name for each in drawn),
        batch=claim.source,
    )


def _call(head: Head, drawn: Sequence[Values]) -> str:
    """The call with the drawn values, of which the function gets copies: a property speaks of what was given."""
    by_name = {each.name: each for each in drawn}
    words: list[str] = []
    keyword = False
    for parameter in head.parameters:
        value = by_name.get(parameter.name)
        if value is None:
            keyword = True
            continue
        copy = f"deepcopy({value.name})" if value.mutable else value.name
        if parameter.kind == "star":
            words.append(f"*{copy}")
        elif parameter.kind == "keyword" or keyword:
            words.append(f"{value.name}={copy}")
        else:
            words.append(copy)
    call = f"{head.name}({', '.join(words)})"
    return f"list(islice({call}, {_YIELDED}))" if _LAZY.match(head.returns) else call
