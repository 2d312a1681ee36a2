"""Prints where ranking.py found the function that a real fix changed.

How often that function stands first, among the first 3, 5 and 10, with Wilson's intervals: for all signals, each left
out and each alone; with weights chosen on the other projects alone; split by the size of the fix and by the number of
suspects; for other versions, and for FauxPy, on the same tasks.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from greenloop.localize import ranking
from greenloop_lab.bench.reporting.figures import wilson

Row = dict[str, Any]
DEPTHS = (1, 3, 5, 10)
UNRANKED = 10_000  # the place of a function that the ranking does not have
GRID = {"spectrum": (0.5, 1.0, 1.5), "words": (0.5, 1.0, 1.5), "traceback": (0.5, 1.0, 1.5)}
ADDED = 0.5  # the weight with which a signal that has none is tried


def place_of(wanted: Sequence[Sequence[str]], ranked: Iterable[Sequence[str]]) -> int:
    """Returns the place, from 1, of the first function that the fix changed."""
    names = [(path, _plain(name)) for path, name in ranked]
    places = [names.index((path, _plain(name))) + 1 for path, name in wanted if (path, _plain(name)) in names]
    return min(places, default=UNRANKED)


def _plain(name: str) -> str:
    """The name without the number of a definition that shares it (an overload)."""
    return name.partition("#")[0]


def rank_by(row: Row, weights: Mapping[str, float]) -> list[list[str]]:
    """Ranks as `ranking.rank` does, from the recorded scores."""

    def key(suspect: Row) -> tuple[Any, ...]:
        total = sum(weight * suspect["scores"].get(name, 0.0) for name, weight in weights.items())
        special = suspect["name"].rpartition(".")[2].startswith("__")
        return (-round(total, 9), special, suspect["depth"], -suspect["order"], suspect["path"], suspect["start"])

    return [[suspect["path"], suspect["name"]] for suspect in sorted(row["suspects"], key=key)]


def show(title: str, places: Sequence[float]) -> None:
    cells = []
    for depth in DEPTHS:
        good = sum(place <= depth for place in places)
        low, high = wilson(good, len(places))
        cells.append(f"{good:3} {100 * good / max(1, len(places)):3.0f} % [{100 * low:.0f}, {100 * high:.0f}]")
    print(f"{title:28} {len(places):3} {'  '.join(f'{cell:18}' for cell in cells)}  {_reciprocal(places):.3f}")


def _reciprocal(places: Sequence[float]) -> float:
    return statistics.mean(1 / place for place in places) if places else 0.0


def show_cost(rows: Sequence[Row]) -> None:
    own = [sum(seconds for kind, seconds in row["runs"] if kind in {"statements", "watch"}) for row in rows]
    counts = [sum(kind in {"statements", "watch"} for kind, _seconds in row["runs"]) for row in rows]
    print(
        f"localisation: median {statistics.median(own):.2f} s, most {max(own):.2f} s, "
        f"{statistics.mean(counts):.2f} runs; "
        f"whole baseline: median {statistics.median(row['seconds'] for row in rows):.1f} s, "
        f"{statistics.mean(len(row['runs']) for row in rows):.1f} runs"
    )


def report(files: Sequence[Path], kinds: Sequence[str], fauxpy: Sequence[Path] = ()) -> None:
    tables = [{row["id"]: row for row in map(json.loads, file.read_text().splitlines())} for file in files]
    for file, table in zip(files, tables, strict=True):
        for row in table.values():
            if not row["ranked"]:
                print(f"{file.name}: {row['id']} was not ranked: {row['error']}")
    rows = [row for row in tables[0].values() if row.get("suspects") and row["kind"] in kinds]
    print(f"{len(rows)} tasks; {statistics.median(len(row['suspects']) for row in rows):g} suspects (median)\n")
    print(f"{'':28} {'':3} {'  '.join(f'first {depth}'.ljust(18) for depth in DEPTHS)}  mean 1/place")
    show(files[0].stem, [place_of(row["wanted"], row["ranked"]) for row in rows])
    show_cost(rows)
    for file, table in zip(files[1:], tables[1:], strict=True):
        both = [(row, table[row["id"]]) for row in rows if table.get(row["id"], {}).get("ranked")]
        show(f"{files[0].stem}, tasks of {file.stem}", [place_of(row["wanted"], row["ranked"]) for row, _ in both])
        show(file.stem, [place_of(other["wanted"], other["ranked"]) for _, other in both])
        show_cost([other for _, other in both])
    _show_signals(rows)
    print()
    for title, part in _parts(rows):
        show(title, [place_of(row["wanted"], row["ranked"]) for row in part])
    for file in fauxpy:
        _show_fauxpy({row["id"]: row for row in rows}, file)
    print()
    for row in rows:
        places = [place_of(row["wanted"], table[row["id"]]["ranked"]) for table in tables if row["id"] in table]
        print(f"{row['id']:32} {len(row['suspects']):4} suspects  places {places}  {row['wanted'][0][1]}")


def _show_signals(rows: Sequence[Row]) -> None:
    weights = dict(ranking.WEIGHTS)

    def show_with(title: str, chosen: Mapping[str, float]) -> None:
        show(title, [place_of(row["wanted"], rank_by(row, chosen)) for row in rows])

    print()
    show_with("all signals", weights)
    show("weights of other projects", cross_validate(rows))
    for name in weights:
        show_with(f"without {name}", {**weights, name: 0.0})
    names = dict.fromkeys(name for row in rows for suspect in row["suspects"] for name in suspect["scores"])
    for name in names:
        if name not in weights:
            show_with(f"{name} added ({ADDED})", {**weights, name: ADDED})
    for name in names:
        show_with(f"{name} alone", {name: 1.0})


def cross_validate(rows: Sequence[Row]) -> list[int]:
    """Returns the places with weights of `GRID` that were best, by the mean of 1/place, on all other projects."""

    @cache
    def place(number: int, weights: tuple[float, ...]) -> int:
        return place_of(rows[number]["wanted"], rank_by(rows[number], dict(zip(GRID, weights, strict=True))))

    projects = [row["id"].partition("@")[0] for row in rows]
    places: dict[int, int] = {}
    for project in dict.fromkeys(projects):
        others = [number for number, each in enumerate(projects) if each != project]

        def value(weights: tuple[float, ...], others: Sequence[int] = others) -> float:
            return _reciprocal([place(number, weights) for number in others])

        best = max(product(*GRID.values()), key=value)
        places.update({number: place(number, best) for number, each in enumerate(projects) if each == project})
    return [places[number] for number in range(len(rows))]


def _parts(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The tasks by lines that the fix added and removed, and by functions that the failing cases reached."""

    def reached(row: Row) -> int:
        return len(row["suspects"])

    kinds: list[tuple[str, Callable[[Row], int], Sequence[tuple[int, int]]]] = [
        ("lines changed", lambda row: row["lines"] or 0, ((1, 2), (3, 10), (11, 1_000))),
        ("suspects", reached, ((1, 10), (11, 30), (31, 10_000))),
    ]
    for title, size, bounds in kinds:
        for low, high in bounds:
            yield f"{low} to {high} {title}", [row for row in rows if low <= size(row) <= high]


def _show_fauxpy(rows: Mapping[str, Row], file: Path) -> None:
    measured = [row for row in map(json.loads, file.read_text().splitlines()) if row["id"] in rows]
    for family in dict.fromkeys(row["family"] for row in measured):
        runs = [run for run in measured if run["family"] == family]
        ended = [run for run in runs if run["scores"]]
        late = sum(run["error"] == "time" for run in runs)
        print(f"\nFauxPy, {family}: {len(runs)} tasks, {late} did not end, {len(runs) - len(ended) - late} failed")
        if not ended:
            continue
        both = [rows[run["id"]] for run in ended]
        show("greenloop, the same tasks", [place_of(row["wanted"], row["ranked"]) for row in both])
        for technique in ended[0]["scores"]:
            show(technique, [place_in_scores(rows[run["id"]], run["scores"].get(technique, [])) for run in ended])
        print(
            f"seconds: median {statistics.median(run['seconds'] for run in ended):.1f}, "
            f"greenloop's baseline: median {statistics.median(row['seconds'] for row in both):.1f}"
        )


def place_in_scores(row: Row, scores: Sequence[Sequence[Any]]) -> float:
    """Returns the place of the first changed function; functions with the same score share the middle of theirs.

    A score of 0 is none: no failing case that FauxPy recognised has run the function.
    """
    spans = [
        (suspect["path"], suspect["start"], suspect["start"] + suspect["lines"])
        for suspect in row["suspects"]
        if any((suspect["path"], _plain(suspect["name"])) == (path, _plain(name)) for path, name in row["wanted"])
    ]
    values = [value for _path, _name, _line, value in scores]
    places = [
        sum(other > value for other in values) + (values.count(value) + 1) / 2
        for path, _name, line, value in scores
        if value > 0 and any(path == file and start <= line < end for file, start, end in spans)
    ]
    return min(places, default=UNRANKED)
