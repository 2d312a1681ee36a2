"""Finds names by which a test expects less than it did: wider classes, lost members of enumerations and protocols.

It must not know which tests use them.
"""

import builtins
import enum
import types


def parts_of(kind):
    """{member: members that it contains} of an enumeration, {"": members} of a protocol; None of anything else."""
    if not issubclass(type(kind), type):
        return None
    if issubclass(kind, enum.Flag):
        members = kind.__members__
        named = {each: part.value for each, part in members.items() if part.value and part.name == each}
        contained = lambda value: {each for each, part in named.items() if part & value == part}  # noqa: E731
        return {name: contained(member.value) for name, member in members.items()}
    if issubclass(kind, enum.Enum):
        return {member.name: {member.name} for member in kind}
    if getattr(kind, "_is_protocol", False):
        held = vars(kind).items()
        asked = {name for name, value in held if name.strip("_") == name or isinstance(value, types.FunctionType)}
        return {"": {name for name in asked.union(getattr(kind, "__annotations__", ())) if not hasattr(object, name)}}
    return None


def weaker_names(own, parts, new, is_own):
    """Yields names of a module that stand for more than they did, and lost members. `parts`: those before."""
    for name, kind in own.items():
        now = new.get(name, kind)
        lost = _lost(parts[name], parts_of(now))
        yield from {name, *lost} - {""} if lost else ()
        if type(kind) is object and type(now) is bool:  # anything may give that
            yield name
        if type(kind) is tuple and type(now) is tuple and any(_is_wider(one, each) for one in kind for each in now):
            yield name
        if now is kind or not isinstance(kind, type):
            continue
        is_one = is_own(now) and any(new.get(each) is now and own[each] is not kind for each in own.keys() - {name})
        is_abstract = not is_own(now) and getattr(now, "__abstractmethods__", ())  # it decides what is an instance
        is_wider = any(now is each for each in (*kind.__mro__, *vars(builtins).values()))
        if is_one or is_abstract or is_wider or not callable(now):
            yield name


def _lost(before, after):
    """The members that have lost themselves, or a part and got none in its place."""
    pairs = {name: (held, after.get(name, set())) for name, held in before.items()} if before and after else {}
    return {name for name, (held, now) in pairs.items() if name in held - now or now < held}


def _is_wider(kind, other):
    return isinstance(kind, type) and any(other is each for each in kind.__mro__[1:])
