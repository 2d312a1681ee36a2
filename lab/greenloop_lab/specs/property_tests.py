"""Turns a property into a test: Hypothesis inputs, one call, one assertion. Pure.

The assertion's message names the input that broke the property.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass

from greenloop.core.generated_tests import Check
from greenloop.core.python.names import free_names
from greenloop.core.records.spec import Provenance
from greenloop.plugins.function_calls.signature import FunctionHeader
from greenloop.plugins.function_calls.value_strategies import HYPOTHESIS, NAMES, ParameterStrategy, hypothesis_settings

LIBRARY = "library"  # the source of properties that no model stated
EXAMPLES = 60  # inputs tried for one property
_LAZY = re.compile(r"^(typing\.|collections\.abc\.)?(Async)?(Iterator|Generator)\b")
_YIELDED = 1000  # items read from a generator


@dataclass(frozen=True, kw_only=True)
class Property:
    """`expression` over the parameters and `result` must be true; empty: the call must return.

    `condition` restricts the inputs; `batch` is where it comes from (the check's batch); `module_names` are other
    functions of the module that it calls. `inputs` are drawn instead of the function's own values; `call` then
    replaces its call.
    """

    name: str
    expression: str
    source: str
    imports: tuple[str, ...] = ()
    condition: str = ""
    module_names: tuple[str, ...] = ()
    inputs: tuple[ParameterStrategy, ...] = ()
    call: str = ""


def build_check(
    property_: Property, head: FunctionHeader, values: Sequence[ParameterStrategy], module: str, allowed: Sequence[str]
) -> Check | None:
    """The test of a property; None where it needs a value without a strategy.

    `allowed` are the exceptions that mean that an input was invalid; names that are not builtins are the module's own.
    """
    used_names = free_names(property_.expression) | free_names(property_.condition)
    drawn = property_.inputs or [each for each in values if each.always_drawn or each.name in used_names]
    if used_names & set(head.names) - {each.name for each in drawn}:
        return None
    call = property_.call or _call(head, drawn)
    shown_inputs = ", ".join(f"{each.name}={{{each.name}!r}}" for each in drawn)
    message = f'f"`{property_.name}` does not hold: {head.name}({shown_inputs}) gave {{result!r}}"'
    module_names = [*property_.module_names, *(each for each in allowed if not hasattr(builtins, each))]
    body = [f"from {module} import {name}" for name in module_names if name != head.name]
    body += [f"if not ({property_.condition}):", "    reject()"] if property_.condition else []
    statement = f"result = {call}" if property_.expression else call
    body += ["try:", f"    {statement}", f"except ({', '.join(allowed)}):", "    reject()"] if allowed else [statement]
    body += [f"assert {property_.expression}, {message}"] if property_.expression else []
    sources = {"deepcopy": "copy", "islice": "itertools"}
    call_imports = [f"from {source} import {name}" for name, source in sources.items() if f"{name}(" in call]
    strategies = ", ".join(f"{each.name}={each.strategy}" for each in drawn)
    return Check(
        body="\n".join(body),
        line=head.line,
        provenance=Provenance.PROPERTY,
        shown=f"{property_.name}: {property_.expression or call}",
        imports=(*call_imports, *property_.imports, HYPOTHESIS, NAMES),
        decorators=(hypothesis_settings(EXAMPLES), f"given({strategies})"),
        parameters=", ".join(each.name for each in drawn),
        batch=property_.source,
    )


def _call(head: FunctionHeader, drawn: Sequence[ParameterStrategy]) -> str:
    """The call with copies of the drawn values: a property is about the original inputs."""
    by_name = {each.name: each for each in drawn}
    arguments: list[str] = []
    by_keyword = False
    for parameter in head.parameters:
        value = by_name.get(parameter.name)
        by_keyword = by_keyword or value is None or parameter.kind == "keyword"
        if value is not None:
            prefix = "*" if parameter.kind == "star" else f"{value.name}=" if by_keyword else ""
            arguments.append(
                f"{prefix}deepcopy({value.name})" if value.value_kind.is_mutable else f"{prefix}{value.name}"
            )
    call = f"{head.name}({', '.join(arguments)})"
    return f"list(islice({call}, {_YIELDED}))" if _LAZY.match(head.returns) else call
