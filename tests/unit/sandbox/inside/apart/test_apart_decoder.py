"""The judge takes nothing that the code's encoder never makes."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from two_sides import CannotCross, apart, receive, said, shop_module

PLAIN, OTHER = ["g", "shop", "Plain"], ["g", "shop", "Item"]
REFUSED = {
    "an unknown tag": (["zz"], {}),
    "a tag that is a list": ([["s"]], {}),
    "an object": ({}, {}),
    "no tag": ([], {}),
    "a number without an object": (["s", "c9"], {}),
    "a number of the judge's own": (["s", "j9"], {"j9": ["l"]}),
    "an object in itself": (["s", "c1"], {"c1": ["o", PLAIN, [], ["s", "c1"]], "c2": ["x", PLAIN, ["s", "c2"]]}),
    "a function of the standard library": (["g", "os", "system"], {}),
    "a built-in that runs code": (["g", "builtins", "eval"], {}),
    "a test framework": (["g", "pytest", "approx"], {}),
    "a mock": (["s", "c1"], {"c1": ["o", ["g", "unittest.mock", "Mock"], [], None]}),
    "what is equal to everything": (["g", "unittest.mock", "ANY"], {}),
    "a special name": (["g", "builtins", "dict.__class__"], {}),
    "a name that is not there": (["g", "shop", "gone"], {}),
    "a name of another form": (["g", 1, 2], {}),
    "a module that may not be seen": (["m", "subprocess"], {}),
    "a module that is not loaded": (["m", "shop.gone"], {}),
    "a function of the code": (["s", "c1"], {"c1": ["fn", "", ["f", "f", None], [[], [], None, [], None], [None, None], [[], []]]}),
    "a partial function": (["pa", ["g", "shop", "helper"], ["t"]], {}),
    "a method of a library": (["bm", ["g", "builtins", "dict"], "fromkeys"], {}),
    "a special method": (["bm", ["s", "c1"], "__class__"], {"c1": ["o", PLAIN, [], None]}),
    "an instance of no class": (["s", "c1"], {"c1": ["o", 5, [], None]}),
    "an instance of the exception itself": (["s", "c1"], {"c1": ["x", OTHER, ["t"], [], None, None, False]}),
    "an exception made as an object": (["s", "c1"], {"c1": ["o", ["g", "shop", "Missing"], [], None]}),
    "attributes without a place": (["s", "c1"], {"c1": ["o", ["g", "shop", "Slotted"], ["x", 1], None]}),
    "an attribute that is no text": (["s", "c1"], {"c1": ["o", PLAIN, [1, 1], None]}),
    "a method hidden by a value": (["s", "c1"], {"c1": ["o", PLAIN, ["total", 1], None]}),
    "a static method hidden by a value": (["s", "c1"], {"c1": ["o", PLAIN, ["make", 1], None]}),
    "an enumeration's member that is none": (["e", ["g", "shop", "Color"], "GREEN"], {}),
    "a member of what is no enumeration": (["e", PLAIN, "x"], {}),
    "a text that is no number": (["i", "0xzz"], {}),
    "bytes that are none": (["b", "\u00e4"], {}),
    "a class with a base of the tests": (["s", "c1"], {"c1": ["C", "class", "X", "m", [["g", "pytest", "Item"]], [], []]}),
    "a subclass of a class that cannot have any": (["s", "c1"], {"c1": ["C", "class", "X", "m", [["g", "builtins", "bool"]], [], []]}),
}  # fmt: skip


@pytest.mark.parametrize(("value", "states"), REFUSED.values(), ids=REFUSED)
def test_the_judge_refuses(shop, value, states):
    with pytest.raises(CannotCross):
        receive([value], states)


def test_an_object_keeps_its_class(shop):
    judge = said(b"")
    assert type(receive([["s", "c1"]], {"c1": ["o", PLAIN, [], []]}, judge)[0]) is shop.Plain
    with pytest.raises(CannotCross, match="changed its class"):
        receive([None], {"c1": ["o", OTHER, [], []]}, judge)


def test_a_container_keeps_its_kind():
    judge = said(b"")
    assert receive([["s", "c1"]], {"c1": ["l", 1]}, judge) == [[1]]
    with pytest.raises(CannotCross, match="another kind"):
        receive([None], {"c1": ["d", 1, 2]}, judge)


# -- whatever it is told ------------------------------------------------------------------------------------------------

TAGS = sorted([*apart["apart_values"].BY_TAG, *apart["apart_decoder"].NAMES])
FORMS = ["l", "d", "S", "ba", "lk", "st", "h", "fn", "C", "o", "x", "zz"]
NUMBERS = ["c1", "c2", "j1", "j2", "g|shop|REGISTRY", "g|os|system", "g|a", ""]
WORDS = st.sampled_from(
    ["shop", "builtins", "os", "Plain", "Item", "Color", "Basket", "Missing", "Slotted", "total", "RED", "__class__",
     "enum", "class", "Lock", "StringIO", "property", "PosixPath", "int16", "a", "b2s=", *NUMBERS]
)  # fmt: skip
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | WORDS,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.builds(lambda tag, rest: [tag, *rest], st.sampled_from(TAGS), st.lists(inner, max_size=4))
        | st.builds(lambda module, name: ["g", module, name], st.just("shop"), WORDS)
        | st.dictionaries(WORDS, inner, max_size=2)
    ),
    max_leaves=8,
)
STATES = st.dictionaries(
    st.sampled_from(NUMBERS),
    st.builds(lambda form, rest: [form, *rest], st.sampled_from(FORMS), st.lists(JUNK, max_size=6)) | JUNK,
    max_size=3,
)


@given(st.lists(JUNK, max_size=3), STATES)
@settings(max_examples=100, deadline=None)
def test_no_message_makes_the_judge_do_anything_but_refuse_or_rebuild(values, states):
    mine, judge = [1, {"a": 2}], said(b"")
    judge.share(mine)
    judge.share(mine[1])
    with shop_module() as shop:
        with suppress(CannotCross):
            receive(values, states, judge)
        assert (mine, vars(shop.REGISTRY)) == ([1, {"a": 2}], {})
