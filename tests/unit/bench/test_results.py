"""Files of results."""

from __future__ import annotations

import pytest

from greenloop.bench import results
from greenloop.core.errors import UsageError


def test_what_a_kill_cut_off_is_not_done_and_the_file_goes_on(six, tmp_path):
    path = tmp_path / "r.jsonl"
    for done in six[:2]:
        results.append(path, done)
    whole = path.read_bytes()
    for cut in (2, 5, 12, 300, 700):
        path.write_bytes(whole[:-cut])
        assert [done.key for done in results.read([path])] == [six[0].key]
        results.append(path, six[2])
        assert [done.key for done in results.read([path])] == [six[0].key, six[2].key]
        assert results.read([path])[1] == six_again(six[2])


def six_again(done):
    add = {"format": results.FORMAT}
    return results.TaskRunResult(run={**add, **done.run}, attempts=tuple({**add, **row} for row in done.attempts))


def test_a_later_run_takes_the_place_of_an_earlier_one(make, tmp_path):
    path = tmp_path / "r.jsonl"
    results.append(path, make("a", "1", reason="model"))
    results.append(path, make("a", "1", ("", True)))
    (done,) = results.read([path])
    assert done.run["right"]
    assert len(done.attempts) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"kind": "run"}\n', "format None"),
        ('{"format": 99, "kind": "run"}\n', "format 99; this version reads format 1"),
        ('{"task_id": 1}\n', "Line 1 .* is not a result"),
        ("hello\n", "Line 1 .* is not a result"),
        (None, "cannot be read"),
    ],
)
def test_what_holds_no_results_is_told(text, why, tmp_path):
    path = tmp_path / "r.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=why):
        results.read([path])
