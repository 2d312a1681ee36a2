"""Describes functions and classes by plain data: signatures, fields of dataclasses, slots, methods."""

import dataclasses
import functools
import inspect
import types

WRAPPERS = {types.FunctionType: "", property: "property", staticmethod: "staticmethod", classmethod: "classmethod"}
PLAIN_DEFAULTS = frozenset((int, str, float, bool, type(None)))


def fields_of(kind):
    """[name, whether the constructor takes it, comparisons, what is shown] of each field; none of no dataclass."""
    fields = getattr(kind, "__dataclass_fields__", {}).values()
    return [
        [each.name, each.init, each.compare, each.repr] for each in fields if each._field_type is dataclasses._FIELD
    ]


def give_fields(kind, fields):
    """Lets `dataclasses.replace`, `asdict` and `fields` know these fields of a class."""
    made = {}
    for name, init, compare, shown in fields:
        field = made[str(name)] = dataclasses.field(init=bool(init), compare=bool(compare), repr=bool(shown))
        field.name, field._field_type = str(name), dataclasses._FIELD
    if made:
        type.__setattr__(kind, "__dataclass_fields__", made)


def signature_of(function):
    """((name, kind, (default,), (annotation,)) of each parameter, (returned annotation,)); () where there is none."""
    signature = inspect.signature(function)
    held = lambda value: () if value is signature.empty else (value,)  # noqa: E731
    parameters = signature.parameters.values()
    rows = [(each.name, int(each.kind), held(each.default), held(each.annotation)) for each in parameters]
    return tuple(rows), held(signature.return_annotation)


def give_signature(function, rows, returns):
    """Lets `inspect.signature` and `typing.get_type_hints` know this signature. Raises `ValueError` for no such one."""
    function.__signature__ = signature = make_signature(rows, returns)
    parameters = signature.parameters.values()
    notes = {each.name: each.annotation for each in parameters if each.annotation is not signature.empty}
    function.__annotations__ = {**notes, **({"return": returns[0]} if returns else {})}


def make_signature(rows, returns=()):
    empty, kinds = inspect.Signature.empty, list(inspect._ParameterKind)
    one = lambda held: held[0] if held else empty  # noqa: E731
    parameters = [
        inspect.Parameter(str(name), kinds[kind], default=one(default), annotation=one(annotation))
        for name, kind, default, annotation in rows
    ]
    return inspect.Signature(parameters, return_annotation=one(returns))


def plain_signature(kind):
    """The parameters of a class's own constructor, without annotations; None where a default is no plain value."""
    try:
        rows = signature_of(kind)[0] if method_of("__init__", vars(kind).get("__init__")) else None
    except (TypeError, ValueError):
        return None
    if rows is None or any(type(default) not in PLAIN_DEFAULTS for _, _, held, _ in rows for default in held):
        return None
    return [[name, order, held, []] for name, order, held, _ in rows]


def own_slots(kind):
    """The slots that a class adds where its instances have no `__dict__`; None of any other class."""
    if kind.__dictoffset__ or "__slots__" not in vars(kind):
        return None
    weak = ["__weakref__"] if "__weakref__" in vars(kind) else []
    return [name for name, value in vars(kind).items() if inspect.ismemberdescriptor(value)] + weak


def method_of(key, value):
    """[name, decorator, kind] of a method or property; None of anything else."""
    function = getattr(value, "__func__", None) if isinstance(value, (staticmethod, classmethod)) else value
    function = value.fget if isinstance(value, property) else function
    if not isinstance(function, types.FunctionType) or function.__module__ == "typing":
        return None  # a protocol's own constructor is the other side's as well
    is_async, is_generator = inspect.iscoroutinefunction(function), inspect.isgeneratorfunction(function)
    wrapper = WRAPPERS[type(value)] + ("+" if isinstance(value, property) and value.fset else "")
    return [key, wrapper, "async" if is_async else "generator" if is_generator else "plain"]


def closure_roots(value):
    """Returns the objects that a function of the code holds: a call may change them, so their states travel with it."""
    if isinstance(value, types.FunctionType):
        held = []
        for cell in value.__closure__ or ():
            try:
                held.append(cell.cell_contents)
            except ValueError:
                pass  # not filled yet
        return (*held, *(value.__defaults__ or ()))
    if isinstance(value, functools.partial):
        return (value.func, *value.args, *value.keywords.values())
    return (value.__self__,) if isinstance(value, types.MethodType) else ()


def hooks_of(kind):
    """[its metaclass, whether a function meets its subclasses]"""
    return [type(kind).__qualname__, isinstance(kind.__init_subclass__, types.MethodType)]
