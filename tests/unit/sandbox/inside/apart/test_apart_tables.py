"""Arrays, tables and times of numpy and pandas arrive in both directions as what they are."""

from __future__ import annotations

import copy

import pytest

from two_sides import conversation

ARRAYS = {
    "integers": lambda np: np.arange(6, dtype="int16").reshape(2, 3),
    "Fortran's order": lambda np: np.asfortranarray(np.arange(6).reshape(2, 3)),
    "no axis": lambda np: np.array(5),
    "nothing": lambda np: np.zeros((0, 3)),
    "objects": lambda np: np.array([None, "x"], dtype=object),
    "fields": lambda np: np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "a scalar": lambda np: np.float32(1.5),
    "a day": lambda np: np.datetime64("2024-01-01"),
    "a type": lambda np: np.dtype("int32"),
}
SERIES = {
    "missing integers": lambda pd: pd.Series([1, None], dtype="Int64"),
    "missing texts": lambda pd: pd.Series(["a", None], dtype="string"),
    "categories": lambda pd: pd.Series(["a", "b"], dtype=pd.CategoricalDtype(["b", "a", "c"], ordered=True)),
    "periods": lambda pd: pd.Series(pd.period_range("2024-01", periods=2, freq="M")),
    "intervals": lambda pd: pd.Series(pd.interval_range(0, 2)),
    "times of a zone": lambda pd: pd.Series(pd.to_datetime(["2024-01-01"], utc=True)),
    "days": lambda pd: pd.Series([1, 2, 3], index=pd.date_range("2024-01-01", periods=3), name="n"),
    "two levels": lambda pd: pd.Series([1, 2], index=pd.MultiIndex.from_tuples([(1, "a"), (2, "b")])),
    "objects": lambda pd: pd.Series([[1], {"a": 1}]),
}
FRAMES = {
    "columns of two levels": lambda pd: pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
    "equal columns": lambda pd: pd.DataFrame([[1, 2]], columns=["a", "a"]),
    "nothing": lambda pd: pd.DataFrame(),
    "an index with a name": lambda pd: pd.DataFrame({"a": [1.5, None]}, index=pd.Index(["k", "l"], name="key")),
}
TIMES = {
    "a time": lambda pd: pd.Timestamp("2024-01-01 12:30"),
    "one of a zone": lambda pd: pd.Timestamp("2024-01-01", tz="UTC"),
    "a distance": lambda pd: pd.Timedelta("1D"),
    "no time": lambda pd: pd.NaT,
    "nothing": lambda pd: pd.NA,
}


def crossed(value):
    """What the code has got, and what comes back of a copy that it makes."""
    got = []
    with conversation(again=lambda given: got.append(given) or copy.deepcopy(given)) as judge:
        return judge.ask("again", value), got[0]


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_arrive(name):
    numpy = pytest.importorskip("numpy")
    value = ARRAYS[name](numpy)
    for found in crossed(value):
        assert type(found) is type(value)
        assert (getattr(found, "dtype", 0), repr(found)) == (getattr(value, "dtype", 0), repr(value))


@pytest.mark.parametrize("name", SERIES)
def test_series_and_their_indexes_arrive(name):
    testing = pytest.importorskip("pandas.testing")
    value = SERIES[name](pytest.importorskip("pandas"))
    for found, index in crossed((value, value.index)):
        testing.assert_series_equal(found, value)
        testing.assert_index_equal(index, value.index, exact="equiv")


@pytest.mark.parametrize("name", FRAMES)
def test_frames_arrive(name):
    testing = pytest.importorskip("pandas.testing")
    value = FRAMES[name](pytest.importorskip("pandas"))
    for found in crossed(value):
        testing.assert_frame_equal(found, value)


@pytest.mark.parametrize("name", TIMES)
def test_times_arrive(name):
    value = TIMES[name](pytest.importorskip("pandas"))
    for found in crossed(value):
        assert (type(found), repr(found)) == (type(value), repr(value))
