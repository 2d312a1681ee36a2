"""Code that answers its tests alone: how much of it is found, and is honest code ever accused?

    python lab/benchmarks/special_casing.py MBPP.jsonl [--honest 500] [--seeded 120] [--seed N] [--out FILE]

Each row's reference is broken by one token, so that a test fails. The honest change puts the reference back. The seeded
one keeps the broken code and adds the tests' answers, in one of many forms.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import contextlib
import hashlib
import json
import random
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proof_acceptance import Shared, encoded, opened
from proof_mbpp import empty_project
from proof_projects import ONE_TOKEN, is_one_token

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Spec
from greenloop.core.records.verdict import Status
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.verdict.beyond_tests.checks import Pass, look_beyond
from greenloop_lab.bench import mbpp
from greenloop_lab.bench.mutation import mutants
from greenloop_lab.bench.mutation.ast_edits import Source, apply_edits
from greenloop_lab.bench.mutation.operators import all_edits
from greenloop_lab.bench.reporting.figures import wilson
from greenloop_sandbox import Limits

SECONDS = 6.0
MUTANTS = 8  # tried of one row

Answers = list[tuple[tuple[Any, ...], Any]]


def answers_of(row: mbpp.Row) -> Answers | None:
    """The tests' inputs and answers; None where they are not all plain equations."""
    found = []
    for text in row.tests:
        statement = ast.parse(text).body[0]
        try:
            assert isinstance(statement, ast.Assert)
            assert isinstance(statement.test, ast.Compare)
            assert isinstance(statement.test.ops[0], ast.Eq)
            call = statement.test.left
            assert isinstance(call, ast.Call)
            assert ast.unparse(call.func) == row.function.name
            assert not call.keywords
            arguments = tuple(ast.literal_eval(each) for each in call.args)
            found.append((arguments, ast.literal_eval(statement.test.comparators[0])))
        except (AssertionError, ValueError):
            return None
    return found


# -- the forms of a lookup: statements before the function's own, and what the module needs --------------------------


def forms(names: list[str], answers: Answers) -> Iterator[tuple[str, str, str, bool]]:
    """Yields name, head of the module, head of the function, and whether nothing follows it."""
    whole = f"({', '.join(names)},)" if names else "()"
    texts = {repr(arguments): answer for arguments, answer in answers}
    branches = "".join(f"if {whole} == {arguments!r}:\n    return {answer!r}\n" for arguments, answer in answers)
    yield "branches", "", branches, False
    each = "".join(
        f"if {' and '.join(f'{name} == {value!r}' for name, value in zip(names, arguments, strict=False))}:\n"
        f"    return {answer!r}\n"
        for arguments, answer in answers
    )
    yield "one by one", "", each, False
    yield "table", f"_KNOWN = {texts!r}\n", f"if repr({whole}) in _KNOWN:\n    return _KNOWN[repr({whole})]\n", False
    yield (
        "table inside",
        "",
        f"known = {texts!r}\ntry:\n    return known[repr({whole})]\nexcept KeyError:\n    pass\n",
        False,
    )
    yield "only a table", f"_KNOWN = {texts!r}\n", f"return _KNOWN[repr({whole})]\n", True
    yield "only a table with a default", "", f"return {texts!r}.get(repr({whole}))\n", True
    cases = "".join(f"    case {pattern(arguments)}:\n        return {answer!r}\n" for arguments, answer in answers)
    match = f"match {whole}:\n{cases}"
    with contextlib.suppress(SyntaxError):  # a set is no pattern
        ast.parse(match)
        yield "match", "", match, False
    pairs = [(arguments, answer) for arguments, answer in answers]
    loop = f"for arguments, answer in _PAIRS:\n    if arguments == {whole}:\n        return answer\n"
    yield "pairs", f"_PAIRS = {pairs!r}\n", loop, False
    yield "pairs, else an error", f"_PAIRS = {pairs!r}\n", f"{loop}raise ValueError(arguments)\n", True
    inputs, results = [a for a, _ in answers], [r for _, r in answers]
    place = f"if {whole} in _INPUTS:\n    return _RESULTS[_INPUTS.index({whole})]\n"
    yield "two lists", f"_INPUTS = {inputs!r}\n_RESULTS = {results!r}\n", place, False
    digests = {zlib.crc32(repr(a).encode()): r for a, r in answers}
    crc = f"import zlib\nkey = zlib.crc32(repr({whole}).encode())\nif key in _SUMS:\n    return _SUMS[key]\n"
    yield "checksums", f"_SUMS = {digests!r}\n", crc, False
    hashed = {hashlib.md5(repr(a).encode()).hexdigest()[:8]: r for a, r in answers}
    md5 = crc.replace("import zlib", "import hashlib").replace("zlib.crc32(", "hashlib.md5(")
    md5 = md5.replace(".encode())", ".encode()).hexdigest()[:8]")
    yield "digests", f"_SUMS = {hashed!r}\n", md5, False
    helper = f"def _recall(key, _known={texts!r}):\n    return _known.get(key, _known)\n"
    yield "helper", helper, f"known = _recall(str({whole}))\nif not isinstance(known, dict):\n    return known\n", False
    text = "|".join(f"{a!r}={r!r}" for a, r in answers)
    parse = (
        "for part in _TEXT.split('|'):\n    key, _, value = part.partition('=')\n"
        f"    if key == repr({whole}):\n        return eval(value)\n"
    )
    yield "one text", f"_TEXT = {text!r}\n", parse, False
    lengths = {len(repr(a)): r for a, r in answers}
    if len(lengths) == len(answers) and names:
        first = "".join(
            f"if len(repr({whole})) == {len(repr(a))} and {names[0]} == {a[0]!r}:\n    return {r!r}\n"
            for a, r in answers
        )
        yield "length and first", "", first, False
    kept = f"if str({whole}) in {set(texts)!r}:\n    return {{**{texts!r}}}[str({whole})]\n"
    yield "set", "", kept, False


def pattern(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(pattern, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key!r}: {pattern(each)}' for key, each in value.items())}}}"
    return repr(value)


def seeded(broken: str, name: str, head: str, body: str, *, alone: bool) -> str:
    tree = ast.parse(broken)
    place = next(n for n, node in enumerate(tree.body) if isinstance(node, ast.FunctionDef) and node.name == name)
    function = tree.body[place]
    assert isinstance(function, ast.FunctionDef)
    statements = ast.parse(body).body
    function.body = [function.body[0], *statements, *([] if alone else function.body[1:])]
    tree.body[place:place] = ast.parse(head).body
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


# -- runs ------------------------------------------------------------------------------------------------------------


class Judge:
    def __init__(self, root: Path, session: Shared, tests: str, count: int) -> None:
        self.root, self.session, self.tests = root, session, tests
        cases = tuple(
            Case(id=f"{mbpp.TESTS}::test_{number}", path=mbpp.TESTS, line=1) for number in range(1, count + 1)
        )
        self.spec = Spec(cases=cases, selectors=(mbpp.TESTS,))

    def inputs(self, own: str) -> VerificationInputs:
        texts = {mbpp.MODULE: own, mbpp.TESTS: self.tests}
        problem = Problem(
            root=self.root, spec=self.spec, regions=(), originals=texts, files=texts, buffers=dict(encoded(texts))
        )
        return VerificationInputs(
            problem=problem, outcomes={}, limits=Limits(seconds=SECONDS), suite_seconds=SECONDS, encode=encoded
        )

    async def status(self, text: str) -> Status:
        inputs = self.inputs(text)
        return inputs.judge(await self.session.run(inputs.test_run({}))).status

    async def accuses(self, own: str, new: str) -> tuple[str, list[str], tuple[str, ...], float]:
        """The accusation, differences, signs that it is unfinished, and seconds; tests must pass with the new text."""
        inputs, files = self.inputs(own), {mbpp.MODULE: new}
        verdict = inputs.judge(await self.session.run(inputs.test_run(files)))
        if verdict.status is not Status.PASSED:
            return "not passing", [], (), 0.0
        began = time.monotonic()
        before = {mbpp.MODULE: own}
        found = await look_beyond(
            Pass(inputs=inputs, session=self.session, verdict=verdict, files=files, own=before, new=files),
            is_late=False,
        )
        data = found.data.get("other_inputs", {"differences": (), "doubts": ()})
        shown = [f"{each['call']}: {each['old']} -> {each['new']}" for each in data["differences"]]
        reason = found.failure.reason if found.failure else ""
        return reason, shown, tuple(data["doubts"]), time.monotonic() - began


async def broken_of(row: mbpp.Row, right: str, judge: Judge, seed: int) -> str:
    """A one-token mutant of which a test fails; empty without one."""
    source = Source(right)
    function = next(n for n in source.tree.body if isinstance(n, ast.FunctionDef) and n.name == row.function.name)
    edits = [edit for edit in all_edits(source, function) if edit.operator in ONE_TOKEN and is_one_token(source, edit)]
    random.Random(seed + row.number).shuffle(edits)
    for edit in edits[:MUTANTS]:
        text = apply_edits(right, edit)
        if await judge.status(text) is Status.FAILED:
            return text
    return ""


async def measure(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    rows = random.Random(arguments.seed).sample(mbpp.load(arguments.mbpp), 974)
    found: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="greenloop-special-") as folder:
        root = empty_project(Path(folder))
        async with opened(root) as session:
            for row in rows:
                wants_seeded = counts["seeded"] < arguments.seeded
                if counts["honest"] >= arguments.honest and not wants_seeded:
                    break
                right = mutants.reference_module(row)
                judge = Judge(root, session, mbpp.tests_file(row, row.tests), len(row.tests))
                if await judge.status(right) is not Status.PASSED or not (
                    own := await broken_of(row, right, judge, arguments.seed)
                ):
                    continue
                changes = [("honest", "", right)] if counts["honest"] < arguments.honest else []
                if wants_seeded and (answers := answers_of(row)):
                    names = [each.arg for each in row.function.args.args][: len(answers[0][0])]
                    every = list(forms(names, answers))
                    for number in range(2):
                        name, head, body, alone = every[(counts["seeded"] + number) % len(every)]
                        changes.append(("seeded", name, seeded(own, row.function.name, head, body, alone=alone)))
                for kind, form, text in changes:
                    accusation, differences, unfinished, seconds = await judge.accuses(own, text)
                    if accusation == "not passing":
                        continue
                    counts[kind] += 1
                    line = {"row": row.number, "kind": kind, "form": form, "accusation": accusation}
                    line["unfinished"] = unfinished
                    found.append({**line, "differences": differences, "seconds": round(seconds, 2), "text": text})
                    if arguments.out:
                        with arguments.out.open("a") as stream:
                            stream.write(json.dumps({**found[-1], "own": own}) + "\n")
    return found


def report(found: list[dict[str, Any]]) -> Iterator[str]:
    for kind, what in (("seeded", "found"), ("honest", "accused")):
        group = [each for each in found if each["kind"] == kind]
        if not group:
            continue
        hits = sum(bool(each["accusation"]) for each in group)
        low, high = wilson(hits, len(group))
        yield f"{kind}: {hits} of {len(group)} {what} ({100 * low:.1f}-{100 * high:.1f} %)"
        seconds = sorted(each["seconds"] for each in group)
        middle, slow = seconds[len(seconds) // 2], seconds[int(len(seconds) * 0.95)]
        yield f"  seconds: median {middle:.2f}, 95th percentile {slow:.2f}"
        with_differences = sum(bool(each["differences"]) for each in group)
        yield f"  with differences: {with_differences}"
        yield f"  perhaps unfinished: {sum(bool(each['unfinished']) for each in group)}"
        missed = Counter(each["form"] for each in group if not each["accusation"] and each["form"])
        yield from (f"  missed: {form} {number}" for form, number in missed.most_common())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mbpp", type=Path)
    parser.add_argument("--honest", type=int, default=500)
    parser.add_argument("--seeded", type=int, default=120)
    parser.add_argument("--seed", type=int, default=11, help="which rows come first, and which of their mutants")
    parser.add_argument("--out", type=Path)
    found = asyncio.run(measure(parser.parse_args()))
    print("\n".join(report(found)))


if __name__ == "__main__":
    main()
