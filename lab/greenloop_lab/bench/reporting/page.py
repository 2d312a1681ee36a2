"""The report as one page of HTML without scripts, and its charts as SVG files.

It shows the figures of the text report, and nothing else that is not in the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from greenloop.core.errors import UsageError
from greenloop_lab.bench.reporting import svg
from greenloop_lab.bench.reporting.charts import Chart, draw_curves, draw_errors, draw_pairs
from greenloop_lab.bench.reporting.curves import (
    Curve,
    compute_curves,
    compute_error_matrices,
    seconds_of,
    tokens_of,
)
from greenloop_lab.bench.reporting.figures import Figures, compare_pairs, compute_figures
from greenloop_lab.bench.reporting.report import rows_of
from greenloop_lab.bench.results import TaskRunResult

_STYLE = """
body{margin:0 auto;padding:2rem 1.25rem 4rem;max-width:60rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;margin:0 0 .25rem}h2{font-size:1.15rem;margin:2.5rem 0 .5rem}p{margin:.25rem 0;color:var(--soft)}
figure{margin:2.5rem 0 0}figcaption h2{margin:0}figure svg{display:block;width:100%;height:auto;margin:.75rem 0}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .75rem;border-bottom:1px solid var(--rule);text-align:right;white-space:nowrap}
th:first-child{text-align:left;font-weight:400}
thead th{font-weight:600;white-space:normal;overflow-wrap:anywhere;
min-width:6.5rem;max-width:11rem;vertical-align:bottom}
thead th:first-child{font-weight:600}
.under{padding-left:2rem;color:var(--soft)}summary{cursor:pointer;color:var(--soft);font-size:.9rem}
"""


def make_charts(done: Sequence[TaskRunResult], broken: frozenset[str]) -> list[Chart]:
    """The charts of these task-runs, in the order of the page. Raises `UsageError` where there is nothing to show."""
    figures = compute_figures(done, broken)
    if not any(each.count for each in figures):
        raise UsageError("No task-run is finished yet.", remedy="Name results with finished task-runs.")
    # A curve by attempts has its numbers as the text report does: solved within so many of a model's attempts.
    attempts = [
        Curve(arm=each.arm, count=each.count, points=tuple((float(k), n) for k, n in enumerate(each.curve)))
        for each in figures
    ]
    charts = [
        draw_curves(
            "by-attempt",
            "Solved by attempt",
            "attempts",
            "Share of task-runs solved within so many attempts that a model was asked for.",
            attempts,
        ),
        draw_curves(
            "by-tokens",
            "Solved by tokens",
            "tokens",
            "Share of task-runs solved with at most so many tokens, prompts and answers, each.",
            compute_curves(done, broken, tokens_of),
        ),
        draw_curves(
            "by-seconds",
            "Solved by seconds",
            "seconds",
            "Share of task-runs solved within so much wall time, each.",
            compute_curves(done, broken, seconds_of),
        ),
    ]
    order = {each.arm: number for number, each in enumerate(figures)}
    if pairs := [pair for pair in compare_pairs(done, broken) if pair.count]:
        note = "Task-runs that both arms have and only one of them solved; p is that of the exact McNemar test."
        charts.append(draw_pairs("wins", "Won and lost", note, pairs, lambda arm: order[arm]))
    for matrix in compute_error_matrices(done, broken):
        if matrix.rows:
            note = "Attempts by the group of their error; a stronger colour is a larger share of the column."
            charts.append(draw_errors(f"errors-{order[matrix.arm] + 1}", note, matrix))
    return charts


def format_page(done: Sequence[TaskRunResult], broken: frozenset[str]) -> str:
    """The whole page. Raises `UsageError` where there is nothing to show."""
    charts = make_charts(done, broken)
    figures = compute_figures(done, broken)
    tasks = len({each.run["task"] for each in done})
    models = ", ".join(dict.fromkeys(each.model for each in figures if each.model))
    about = ", ".join(filter(None, [_count(tasks, "task"), _count(len(done), "task-run"), models]))
    title = "greenloop bench: " + ", ".join(each.arm for each in figures)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>\n<style>{svg.style()}{_STYLE}</style>\n</head>\n<body>\n<main>",
            f"<h1>{escape(title)}</h1>\n<p>{escape(about)}. Means are for one task-run.</p>",
            f"<h2>Figures</h2>\n{_figures_table(figures)}",
            *map(_figure, charts),
            "</main>\n</body>\n</html>\n",
        ]
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _figure(chart: Chart) -> str:
    table = _table(chart.head, chart.rows)
    caption = f"<h2>{escape(chart.title)}</h2><p>{escape(chart.note)}</p>"
    return (
        f'<figure id="{chart.name}">\n<figcaption>{caption}</figcaption>\n'
        f"{chart.picture}\n<details><summary>Numbers</summary>\n{table}</details>\n</figure>"
    )


def _figures_table(figures: Sequence[Figures]) -> str:
    rows = [[name, *(cell(each) for each in figures)] for name, cell in rows_of(figures)]
    return _table(["", *(each.arm for each in figures)], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    columns = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "\n".join(
        f'<tr><th scope="row"{" class=under" * row[0].startswith(" ")}>{escape(row[0].strip())}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table>\n<thead><tr>{columns}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def write_page(path: Path, done: Sequence[TaskRunResult], broken: frozenset[str]) -> None:
    """Writes the page. Raises `UsageError` where there is nothing to show, or the file cannot be written."""
    write_file(path, format_page(done, broken))


def write_pictures(folder: Path, done: Sequence[TaskRunResult], broken: frozenset[str]) -> list[Path]:
    """Writes each chart as an SVG file into a folder, which is made; returns the files. Raises `UsageError`."""
    charts = make_charts(done, broken)
    files = [folder / f"{chart.name}.svg" for chart in charts]
    for file, chart in zip(files, charts, strict=True):
        write_file(file, svg.standalone(chart.picture), make=folder)
    return files


def write_file(path: Path, text: str, make: Path | None = None) -> None:
    """Writes a text, into a folder that is made first. Raises `UsageError` where it cannot be written."""
    try:
        if make is not None:
            make.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", remedy="Name another file.") from error
