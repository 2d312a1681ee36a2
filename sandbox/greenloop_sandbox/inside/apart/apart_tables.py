"""Arrays of numpy, tables and times of pandas: taken apart on one side, put together again on the other.

Neither is imported unless the other side has one. It must not know how values cross.
"""

import importlib

from apart_rules import CannotCross, module_of

_TIMES = {
    "Timestamp": lambda value: (value.asm8, value.tz),
    "Timedelta": lambda value: (value.asm8,),
    "Period": lambda value: (value.ordinal, value.freqstr),
    "Interval": lambda value: (value.left, value.right, value.closed),
    "NaTType": lambda _: (),
    "NAType": lambda _: (),
}
_TABLES = frozenset((
    "DataFrame", "Series", "Index", "RangeIndex", "DatetimeIndex", "TimedeltaIndex", "MultiIndex", "CategoricalIndex",
))  # fmt: skip


def family_of(kind, names):
    """The row of a type, whose bases have these names; "" where it has none."""
    if kind.__module__ in ("numpy", "numpy.dtypes") and (names[0] == "ndarray" or {"generic", "dtype"} & {*names}):
        return "dtype" if "dtype" in names else "numpy"
    if module_of(kind) == "pandas" and names[0] in (*_TABLES, *_TIMES):
        return "pandas" if names[0] in _TABLES else "time"
    return ""


def _take_array(value):
    if value.dtype.hasobject:
        return None if value.dtype.names else (None, value.shape, *value.ravel().tolist())
    return (*_take_kind(value.dtype), value.shape if type(value).__name__ == "ndarray" else None, value.tobytes())


def _take_kind(kind):
    return (tuple(kind.descr) if kind.names else kind.str,)


def _make_kind(form):
    kind = importlib.import_module("numpy").dtype(form if isinstance(form, str) else list(form))
    if kind.hasobject:
        raise CannotCross("objects in an array")
    return kind


def _make_array(kind, shape, *content):
    numpy = importlib.import_module("numpy")
    if kind is None:
        made = numpy.empty(len(content), dtype=object)
        for place, each in enumerate(content):
            made[place] = each
        return made.reshape(shape)
    raw = numpy.frombuffer(content[0], dtype=_make_kind(kind)).copy()
    return raw[0] if shape is None else raw.reshape(shape)


def _make_time(name, *parts):
    pandas = importlib.import_module("pandas")
    if name == "Timestamp":
        made = pandas.Timestamp(parts[0])
        return made if parts[1] is None else made.tz_localize("UTC").tz_convert(parts[1])
    if name == "Period":
        return pandas.Period(ordinal=parts[0], freq=parts[1])
    if name in ("NaTType", "NAType"):
        return pandas.NaT if name == "NaTType" else pandas.NA
    return (pandas.Timedelta if name == "Timedelta" else pandas.Interval)(*parts)


def _take_column(value):
    """(type of the items, items, name, what the type does not say)"""
    if hasattr(value, "levels"):
        return ("tuples", tuple(value), tuple(value.names), None)
    kind, more = value.dtype, None
    if hasattr(kind, "categories"):
        more = (_take_column(kind.categories), kind.ordered)
    elif str(kind).startswith(("datetime", "timedelta")):
        more = getattr(value, "freqstr", None)
    return (str(kind), value.to_numpy(), value.name, more)


def _take_table(value):
    """(index, columns, data of each column), where each but the data may be missing."""
    if not hasattr(value, "index"):
        return (None, None, _take_column(value))
    if value.ndim == 1:
        return (_take_column(value.index), None, _take_column(value))
    columns = [_take_column(value.iloc[:, place]) for place in range(value.shape[1])]
    return (_take_column(value.index), _take_column(value.columns), *columns)


def _make_table(index, names, *columns):
    pandas = importlib.import_module("pandas")

    def column(make, form, **keywords):
        kind, data, name, more = form
        if kind == "tuples":
            return pandas.MultiIndex.from_tuples(data, names=name)
        if kind == "category":
            kind = pandas.CategoricalDtype(column(pandas.Index, more[0]), more[1])
        made = make(data, name=name, dtype=kind, **keywords)
        if isinstance(more, str):
            made.freq = more
        return made

    if index is None:
        return column(pandas.Index, columns[0])
    index = column(pandas.Index, index)
    made = [column(pandas.Series, each, index=index) for each in columns]
    if names is None:
        return made[0]
    frame = pandas.DataFrame(dict(enumerate(made)), index=index)
    frame.columns = column(pandas.Index, names)
    return frame


# {family: (tag, its parts, a value of these parts)}
ROWS = {
    "numpy": ("np", _take_array, _make_array),
    "dtype": ("nd", _take_kind, _make_kind),
    "pandas": ("pd", _take_table, _make_table),
    "time": ("pt", lambda value: (type(value).__name__, *_TIMES[type(value).__name__](value)), _make_time),
}
