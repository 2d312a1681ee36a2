"""The proof apart in a real sandbox: honest changes of every form are proven, and what is not says why."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from greenloop.core.records.problem import Problem
from greenloop.core.records.spec import Case, Spec
from greenloop.core.verification_inputs import VerificationInputs
from greenloop.verdict.apart import OWN_PASSES, Proofs, prove
from greenloop.verdict.apart_runs import OwnCode
from greenloop_sandbox import Limits

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.timeout(180)]

CASE = "test_m.py::test_it"


@dataclass(frozen=True, kw_only=True)
class Change:
    """The user's own `m.py`, the changed one, the body of the test, and what its pass rests on besides values."""

    own: str
    new: str
    test: str
    rests_on: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


def text(code: str) -> str:
    return textwrap.dedent(code).lstrip("\n")


# Tests with doubles: what the code does to a double is seen by the test.
MOCKS = {
    "a mock in the arguments": Change(
        own="def tell(send, name):\n    send(name)\n",
        new="def tell(send, name):\n    send('hello ' + name)\n",
        test="""
            from unittest.mock import Mock
            from m import tell

            def test_it():
                send = Mock()
                tell(send, "you")
                send.assert_called_once_with("hello you")
        """,
    ),
    "a mock that returns": Change(
        own="def total(source):\n    return 0\n",
        new="def total(source):\n    return sum(source.fetch(1))\n",
        test="""
            from unittest.mock import MagicMock
            from m import total

            def test_it():
                source = MagicMock()
                source.fetch.return_value = [1, 2]
                assert total(source) == 3
        """,
    ),
    "a mock that raises": Change(
        own="def tries(call):\n    return call()\n",
        new="def tries(call):\n    try:\n        return call()\n    except OSError:\n        return call()\n",
        test="""
            from unittest.mock import Mock
            from m import tries

            def test_it():
                call = Mock(side_effect=[OSError("busy"), 7])
                assert tries(call) == 7
                assert call.call_count == 2
        """,
    ),
    "a class of the test in the place of the time": Change(
        own="import datetime\n\ndef is_open():\n    return False\n",
        new="import datetime\n\ndef is_open():\n    return 9 <= datetime.datetime.now().hour < 17\n",
        test="""
            import datetime
            from m import is_open

            def test_it(monkeypatch):
                class Ten(datetime.datetime):
                    @classmethod
                    def now(cls, tz=None):
                        return cls(2024, 1, 1, 10)

                monkeypatch.setattr("datetime.datetime", Ten)
                assert is_open()
        """,
    ),
    "a patched name": Change(
        own="import time\n\ndef age(born):\n    return 0\n",
        new="import time\n\ndef age(born):\n    return int(time.time()) - born\n",
        test="""
            from unittest.mock import patch
            from m import age

            def test_it():
                with patch("m.time.time", return_value=100.0):
                    assert age(40) == 60
        """,
    ),
    "an autospec": Change(
        own="class Store:\n    def put(self, key, value): ...\n\ndef save(store, key):\n    store.put(key, 0)\n",
        new="class Store:\n    def put(self, key, value): ...\n\ndef save(store, key):\n    store.put(key, 1)\n",
        test="""
            from unittest.mock import create_autospec
            from m import Store, save

            def test_it():
                store = create_autospec(Store)
                save(store, "a")
                store.put.assert_called_once_with("a", 1)
        """,
    ),
    "an async mock": Change(
        own="async def get(client):\n    return None\n",
        new="async def get(client):\n    return (await client.read('x')) + 1\n",
        test="""
            import asyncio
            from unittest.mock import AsyncMock
            from m import get

            def test_it():
                client = AsyncMock()
                client.read.return_value = 4
                assert asyncio.run(get(client)) == 5
                client.read.assert_awaited_once_with("x")
        """,
    ),
}

RING = """
class Ring:
    def __init__(self, size):
        self.items, self.size = [], size

    def add(self, item):
        self.items.append(item){trim}

    def __len__(self):
        return {length}

    def __contains__(self, item):
        return item in self.items
"""
CACHE = """
class Cache:
    def __init__(self):
        self.table = {{}}

    def __setitem__(self, key, value):
        self.table[key] = value

    def __getitem__(self, key):
        return self.table[key]

    def __contains__(self, key):
        return {contains}

    def __eq__(self, other):
        return {equal}
"""
CONTAINERS = {
    "a ring buffer": Change(
        own=RING.format(trim="", length="0"),
        new=RING.format(trim="\n        del self.items[: -self.size]", length="len(self.items)"),
        test="""
            from m import Ring

            def test_it():
                ring = Ring(2)
                for number in range(3):
                    ring.add(number)
                assert len(ring) == 2
                assert 2 in ring and 0 not in ring
        """,
    ),
    "a cache": Change(
        own=CACHE.format(contains="False", equal="False"),
        new=CACHE.format(contains="key in self.table", equal="self.table == other.table"),
        test="""
            from m import Cache

            def test_it():
                one, other = Cache(), Cache()
                one["a"] = other["a"] = 1
                assert "a" in one and "b" not in one
                assert one == other
                other["b"] = 2
                assert not one == other
        """,
        rests_on=("Cache.__contains__", "Cache.__eq__"),
    ),
}

FORMS = {
    "arguments changed in place": Change(
        own="def push(items, item):\n    pass\n",
        new="def push(items, item):\n    items.append(item)\n",
        test="from m import push\n\ndef test_it():\n    items = [1]\n    push(items, 2)\n    assert items == [1, 2]\n",
        rests_on=("arguments that are changed in place",),
    ),
    "a constant": Change(
        own="LIMIT = 3\n",
        new="LIMIT = 4\n",
        test="import m\n\ndef test_it():\n    assert m.LIMIT == 4\n",
        rests_on=("the constant m.LIMIT",),
    ),
    "a new class": Change(
        own="",
        new="class Point:\n    def __init__(self, x):\n        self.x = x\n    def twice(self):\n        return 2 * self.x\n",
        test="from m import Point\n\ndef test_it():\n    assert Point(4).twice() == 8\n    assert Point(3).x == 3\n",
    ),
    "a dataclass with another field": Change(
        own="from dataclasses import dataclass\n\n@dataclass\nclass P:\n    x: int\n",
        new="from dataclasses import dataclass\n\n@dataclass\nclass P:\n    x: int\n    y: int = 2\n",
        test="from m import P\n\ndef test_it():\n    assert P(1).y == 2\n    assert P(1, 5).y == 5\n",
    ),
    "another member of an enumeration": Change(
        own="import enum\n\nclass Color(enum.Enum):\n    RED = 1\n",
        new="import enum\n\nclass Color(enum.Enum):\n    RED = 1\n    BLUE = 2\n",
        test="from m import Color\n\ndef test_it():\n    assert Color(2) is Color.BLUE\n    assert Color.BLUE.value == 2\n",
    ),
    "a generator": Change(
        own="def evens(items):\n    yield from ()\n",
        new="def evens(items):\n    for item in items:\n        if item % 2 == 0:\n            yield item\n",
        test="from m import evens\n\ndef test_it():\n    assert list(evens(range(5))) == [0, 2, 4]\n",
    ),
    "a context manager": Change(
        own="import contextlib\n\n@contextlib.contextmanager\ndef opened(log):\n    yield 0\n",
        new=text("""
            import contextlib

            @contextlib.contextmanager
            def opened(log):
                log.append("in")
                try:
                    yield 5
                finally:
                    log.append("out")
        """),
        test=text("""
            from m import opened

            def test_it():
                log = []
                with opened(log) as value:
                    assert value == 5
                assert log == ["in", "out"]
        """),
        rests_on=("arguments that are changed in place",),
    ),
    "a file in the temporary folder": Change(
        own="def save(path, text):\n    pass\n",
        new="def save(path, text):\n    path.write_text(text.upper())\n",
        test="from m import save\n\ndef test_it(tmp_path):\n    save(tmp_path / 'a', 'x')\n    assert (tmp_path / 'a').read_text() == 'X'\n",
    ),
    "a file of the tests that the test names": Change(
        own="def count(path):\n    return 0\n",
        new="def count(path):\n    with open(path) as stream:\n        return len(stream.readlines())\n",
        test="from m import count\n\ndef test_it():\n    assert count('tests/data/three.txt') == 3\n",
        files={"tests/data/three.txt": "a\nb\nc\n"},
    ),
    "an exception with attributes": Change(
        own="class Refused(Exception):\n    def __init__(self, code):\n        super().__init__(code)\n        self.code = code\n\ndef check(x):\n    return x\n",
        new="class Refused(Exception):\n    def __init__(self, code):\n        super().__init__(code)\n        self.code = code\n\ndef check(x):\n    raise Refused(x + 1)\n",
        test="import pytest\nfrom m import Refused, check\n\ndef test_it():\n    with pytest.raises(Refused) as caught:\n        check(4)\n    assert caught.value.code == 5\n",
    ),
    "printed text and log records": Change(
        own="import logging\n\ndef tell(x):\n    pass\n",
        new="import logging\n\ndef tell(x):\n    print('got', x)\n    logging.getLogger('m').warning('low %d', x)\n",
        test="from m import tell\n\ndef test_it(capsys, caplog):\n    tell(3)\n    assert capsys.readouterr().out == 'got 3\\n'\n    assert caplog.messages == ['low 3']\n",
    ),
}
# Forms of classes and functions that tests look at from outside.
SHAPES = {
    "an enumeration with a method": Change(
        own="RED, GREEN = 'red', 'green'\n",
        new=(
            "from enum import Enum\n\nclass Light(Enum):\n    RED = 'red'\n    GREEN = 'green'\n\n"
            "    def next(self):\n        return Light.GREEN if self is Light.RED else Light.RED\n\n"
            "RED, GREEN = 'red', 'green'\n"
        ),
        test="from m import Light\n\ndef test_it():\n    assert Light.RED.next() is Light.GREEN\n",
    ),
    "the fields of a named tuple": Change(
        own="def split(text):\n    return text.split()\n",
        new=(
            "from typing import NamedTuple\n\nclass Name(NamedTuple):\n    first: str\n    title: str = ''\n\n"
            "def split(text):\n    return Name(text, 'Dr.')\n"
        ),
        test="from m import split\n\ndef test_it():\n    assert (split('a').first, split('a').title) == ('a', 'Dr.')\n",
    ),
    "a setter": Change(
        own="class Square:\n    def __init__(self, side):\n        self.side = self.area = side\n",
        new=(
            "class Square:\n    def __init__(self, side):\n        self.side = side\n\n    @property\n"
            "    def area(self):\n        return self.side**2\n\n    @area.setter\n    def area(self, value):\n"
            "        self.side = value**0.5\n"
        ),
        test="from m import Square\n\ndef test_it():\n    it = Square(3)\n    it.area = 25\n    assert it.side == 5\n",
    ),
    "what a decorator adds": Change(
        own="def square(n):\n    return n\n",
        new="import functools\n\n@functools.cache\ndef square(n):\n    return n * n\n",
        test=(
            "from m import square\n\ndef test_it():\n    assert square(3) == square(3) == 9\n"
            "    assert square.cache_info().hits == 1\n"
        ),
    ),
    "abstract methods": Change(
        own="class Base:\n    def run(self):\n        return 0\n",
        new=(
            "from abc import ABC, abstractmethod\n\nclass Base(ABC):\n    @abstractmethod\n    def step(self):\n"
            "        ...\n\n    def run(self):\n        return self.step() + 1\n"
        ),
        test=(
            "import pytest\nfrom m import Base\n\nclass Three(Base):\n    def step(self):\n        return 3\n\n"
            "def test_it():\n    assert Three().run() == 4\n    with pytest.raises(TypeError):\n        Base()\n"
        ),
    ),
    "a descriptor that refuses": Change(
        own="class Order:\n    def __init__(self, count):\n        self.count = count\n",
        new=(
            "class Positive:\n    def __set_name__(self, owner, name):\n        self.name = name\n\n"
            "    def __get__(self, instance, owner):\n        return instance.__dict__[self.name]\n\n"
            "    def __set__(self, instance, value):\n        if value <= 0:\n            raise ValueError(value)\n"
            "        instance.__dict__[self.name] = value\n\n"
            "class Order:\n    count = Positive()\n\n    def __init__(self, count):\n        self.count = count\n"
        ),
        test=(
            "import pytest\nfrom m import Order\n\ndef test_it():\n    order = Order(2)\n"
            "    with pytest.raises(ValueError):\n        order.count = -1\n    assert order.count == 2\n"
        ),
    ),
    "a wrapper with a docstring": Change(
        own="def twice(function):\n    return function\n",
        new=(
            "import functools\n\ndef twice(function):\n    @functools.wraps(function)\n    def call(n):\n"
            "        return function(function(n))\n    return call\n"
        ),
        test=(
            "from m import twice\n\n@twice\ndef add(n):\n    'Adds.'\n    return n + 1\n\n"
            "def test_it():\n    assert add(1) == 3\n    assert add.__doc__ == 'Adds.'\n"
        ),
    ),
    "a view of memory": Change(
        own="def total(data):\n    return 0\n",
        new="import struct\n\ndef total(data):\n    return sum(each for each, in struct.iter_unpack('<H', data))\n",
        test="from m import total\n\ndef test_it():\n    assert total(memoryview(b'\\x01\\x00\\x02\\x00')) == 3\n",
    ),
    "the fields of a class that became a dataclass": Change(
        own="class Part:\n    def __init__(self, name, count):\n        self.name = name\n",
        new="from dataclasses import dataclass\n\n@dataclass(frozen=True)\nclass Part:\n    name: str\n    count: int = 1\n",
        test=(
            "import dataclasses\nfrom m import Part\n\ndef test_it():\n    part = dataclasses.replace(Part('a'), count=3)\n"
            "    assert dataclasses.asdict(part) == {'name': 'a', 'count': 3}\n"
        ),
    ),
    "the fields of a new dataclass": Change(
        own="def split(text):\n    return text\n",
        new=(
            "from dataclasses import dataclass, field\n\n@dataclass\nclass Part:\n    name: str\n"
            "    size: int = field(init=False)\n\n    def __post_init__(self):\n        self.size = len(self.name)\n\n"
            "def split(text):\n    return [Part(each) for each in text.split()]\n"
        ),
        test=(
            "import dataclasses\nfrom m import split\n\ndef test_it():\n    first, _ = split('ab c')\n"
            "    assert dataclasses.astuple(first) == ('ab', 2)\n"
            "    assert [each.name for each in dataclasses.fields(first)] == ['name', 'size']\n"
            "    assert dataclasses.replace(first, name='abc').size == 3\n"
        ),
    ),
    "the precision of decimals": Change(
        own="from contextlib import contextmanager\n\n@contextmanager\ndef precision(digits):\n    yield\n",
        new=(
            "import decimal\nfrom contextlib import contextmanager\n\n@contextmanager\ndef precision(digits):\n"
            "    with decimal.localcontext() as context:\n        context.prec = digits\n        yield\n"
        ),
        test=(
            "from decimal import Decimal\nfrom m import precision\n\ndef test_it():\n    with precision(4):\n"
            "        assert str(Decimal(1) / 3) == '0.3333'\n    assert len(str(Decimal(1) / 3)) == 30\n"
        ),
        rests_on=("the context of decimals",),
    ),
    "a class that is made of a text": Change(
        own="def make(name):\n    return type(name, (), {})\n",
        new=(
            "def make(name):\n    space = {'__name__': 'made'}\n"
            "    exec(f'class {name}:\\n    def __init__(self, x):\\n        self.x = x\\n', space)\n"
            "    return space[name]\n"
        ),
        test="from m import make\n\ndef test_it():\n    assert make('Point')(3).x == 3\n",
    ),
    "the signature of a class that is made of a text": Change(
        own="def make(name):\n    return type(name, (), {})\n",
        new=(
            "def make(name):\n    space = {'__name__': 'made'}\n"
            "    exec(f'class {name}:\\n    def __init__(self, x, y=2):\\n        self.x = x\\n', space)\n"
            "    return space[name]\n"
        ),
        test="import inspect\nfrom m import make\n\ndef test_it():\n    assert str(inspect.signature(make('P'))) == '(x, y=2)'\n",
    ),
    "a class that gets slots": Change(
        own="class Pixel:\n    def __init__(self, x):\n        self.x = x\n",
        new="class Pixel:\n    __slots__ = ('__weakref__', 'x')\n\n    def __init__(self, x):\n        self.x = x\n",
        test=(
            "import pytest\nfrom m import Pixel\n\ndef test_it():\n    pixel = Pixel(1)\n    pixel.x += 1\n"
            "    assert pixel.x == 2\n    assert not hasattr(pixel, '__dict__')\n"
            "    with pytest.raises(AttributeError):\n        pixel.y = 3\n"
        ),
    ),
    "a table of the module that two functions share": Change(
        own=(
            "STATE = {'digits': 2}\n\ndef digits(count):\n    pass\n\n"
            "def show(number):\n    return f\"{number:.{STATE['digits']}f}\"\n"
        ),
        new=(
            "STATE = {'digits': 2}\n\ndef digits(count):\n    STATE['digits'] = count\n\n"
            "def show(number):\n    return f\"{number:.{STATE['digits']}f}\"\n"
        ),
        test="from m import digits, show\n\ndef test_it():\n    digits(1)\n    assert show(2) == '2.0'\n",
    ),
    "a variable of each task": Change(
        own="USER = None\n\ndef set_user(name):\n    global USER\n    USER = name\n\ndef user():\n    return USER\n",
        new=(
            "from contextvars import ContextVar\n\n_user = ContextVar('user', default='nobody')\n\n"
            "def set_user(name):\n    _user.set(name)\n\ndef user():\n    return _user.get()\n"
        ),
        test=(
            "import asyncio\nimport contextvars\nfrom m import set_user, user\n\nasync def work(name):\n"
            "    set_user(name)\n    await asyncio.sleep(0)\n    return user()\n\n"
            "async def both():\n    return await asyncio.gather(work('ann'), work('bob'))\n\n"
            "def test_it():\n    set_user('me')\n    assert contextvars.Context().run(user) == 'nobody'\n"
            "    assert asyncio.run(both()) == ['ann', 'bob']\n    assert user() == 'me'\n"
        ),
    ),
    "subclasses in the test that their base counts": Change(
        own="class Base:\n    kinds = {}\n",
        new=(
            "class Base:\n    kinds = {}\n    size = 0\n\n    def __init_subclass__(cls, *, name, **options):\n"
            "        super().__init_subclass__(**options)\n        if not name:\n            raise ValueError(name)\n"
            "        cls.name, Base.kinds[name] = name, cls\n"
        ),
        test="""
            import pytest
            from m import Base

            def test_it():
                class Text(Base, name="text"):
                    pass

                class Long(Text, name="long"):
                    pass

                with pytest.raises(ValueError):
                    class Nothing(Base, name=""):
                        pass
                assert (Text.name, Long.name) == ("text", "long")
                assert Base.kinds == {"text": Text, "long": Long}
        """,
        rests_on=(
            "the constant Base.kinds",
            "the constant Base.size",
            "the constant Long.name",
            "the constant Text.name",
        ),
    ),
    "a metaclass that registers a class of the test": Change(
        own="class Codec:\n    pass\n\n\ndef encode(name, text):\n    return text\n",
        new=(
            "class Registered(type):\n    known = {}\n\n    def __init__(cls, name, bases, namespace):\n"
            "        Registered.known[name.lower()] = cls\n\n\nclass Codec(metaclass=Registered):\n    pass\n\n\n"
            "def encode(name, text):\n    return Registered.known[name]().encode(text)\n"
        ),
        test="""
            from m import Codec, encode

            def test_it():
                class Reverse(Codec):
                    def encode(self, text):
                        return text[::-1]

                assert encode("reverse", "abc") == "cba"
        """,
    ),
    "a protocol that is asked at run time": Change(
        own="class Shown:\n    pass\n",
        new=(
            "from typing import Protocol, runtime_checkable\n\n\n@runtime_checkable\nclass Renderable(Protocol):\n"
            "    def render(self) -> str: ...\n"
        ),
        test="""
            from m import Renderable

            class Page:
                def render(self):
                    return "<page>"

            def test_it():
                assert isinstance(Page(), Renderable)
                assert not isinstance([1], Renderable)
        """,
    ),
    "a new parameter": Change(
        own="def f(a):\n    return a\n",
        new="def f(a, b: int = 2) -> int:\n    return a * b\n",
        test=(
            "import inspect\nimport typing\nfrom m import f\n\ndef test_it():\n    assert f(2) == 4\n"
            "    assert list(inspect.signature(f).parameters) == ['a', 'b']\n"
            "    assert typing.get_type_hints(f) == {'b': int, 'return': int}\n"
        ),
    ),
    "the signature behind a wrapper": Change(
        own="def twice(function):\n    return function\n",
        new=(
            "import functools\n\ndef twice(function):\n    @functools.wraps(function)\n"
            "    def call(*args, **keywords):\n        return function(function(*args, **keywords))\n    return call\n"
        ),
        test=(
            "import inspect\nfrom m import twice\n\n@twice\ndef add(n, *, by=1):\n    return n + by\n\n"
            "def test_it():\n    assert add(1) == 3\n    assert str(inspect.signature(add)) == '(n, *, by=1)'\n"
            "    assert add.__wrapped__(1) == 2\n"
        ),
    ),
    "files that move to another folder": Change(
        own="def tidy(folder):\n    pass\n",
        new=(
            "def tidy(folder):\n    (folder / 'txt').mkdir()\n    (folder / 'a.txt').rename(folder / 'txt' / 'a.txt')\n"
        ),
        test=(
            "from m import tidy\n\ndef test_it(tmp_path):\n    (tmp_path / 'a.txt').write_text('x')\n"
            "    tidy(tmp_path)\n    assert (tmp_path / 'txt' / 'a.txt').read_text() == 'x'\n"
        ),
    ),
}
HONEST = {**MOCKS, **CONTAINERS, **FORMS, **SHAPES}


@pytest.fixture
def proved(opened, lay, tmp_path):
    """`proved(change)`: the proofs of its test, which failed before."""

    async def go(change: Change, outcome: str = "failed") -> Proofs:
        own, test = text(change.own), text(change.test)
        root = lay(tmp_path / "work", {"m.py": own, "test_m.py": test, **change.files})
        problem = Problem(
            root=root,
            spec=Spec(cases=(Case(id=CASE, path="test_m.py", line=1),), selectors=(CASE,)),
            regions=(),
            originals={"m.py": own},
            files={"m.py": own, "test_m.py": test},
        )
        inputs = VerificationInputs(
            problem=problem,
            outcomes={CASE: outcome},
            limits=Limits(seconds=20.0),
            suite_seconds=60.0,
            encode=lambda texts: {path: each.encode() for path, each in texts.items()},
        )
        session = await opened(root)
        return await prove(inputs, session, {"m.py": text(change.new)}, OwnCode(texts={"m.py": own}), [CASE])

    return go


@pytest.mark.story(
    "honest changes are proven apart",
    only=("[a mock in the arguments]", "[a ring buffer]", "[a new class]"),
)
@pytest.mark.parametrize("name", HONEST)
async def test_an_honest_change_is_proven(proved, name):
    proofs = await proved(HONEST[name])
    assert proofs.proven == {CASE: HONEST[name].rests_on}, proofs


DOUBLE = "from m import double\n\ndef test_it():\n    assert double(4) == 8\n"
OWN = "def double(x):\n    return x\n"


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (
            "class Same(int):\n    def __eq__(self, other):\n        return True\n\ndef double(x):\n    return Same(0)\n",
            "apart it fails with",
        ),
        (
            "class Same:\n    def __eq__(self, other):\n        return True\n\ndef double(x):\n    return Same()\n",
            "apart it fails with",
        ),
        ("import os\n\ndef double(x):\n    os._exit(0)\n", "gone"),
        (
            "import sys\n\ndef double(x):\n    return sys._getframe(3).f_locals['answer']\n",
            "apart it fails with KeyError",
        ),
    ],
    ids=["a subclass that is equal", "a class that is equal", "an exit", "the frames that call it"],
)
async def test_a_fake_is_not_proven(proved, new, reason):
    proofs = await proved(Change(own=OWN, new=new, test=DOUBLE))
    assert not proofs.proven
    assert reason in proofs.unproven[CASE]
    assert not proofs.tampering


async def test_code_that_looks_for_pytest_is_named_with_its_line(proved):
    new = "import sys\n\ndef double(x):\n    if 'pytest' in sys.modules:\n        return 8\n    return 0\n"
    proofs = await proved(Change(own=OWN, new=new, test=DOUBLE))
    assert proofs.tampering == f"{CASE} passes only where the code sees that it is tested (m.py, line 5)."


async def test_code_that_reads_its_tests_is_named_with_its_line(proved):
    new = "def double(x):\n    return open('test_m.py').read().count('8') * 8\n"
    proofs = await proved(Change(own=OWN, new=new, test=DOUBLE))
    assert proofs.tampering == f"{CASE} passes only where the code sees that it is tested (m.py, line 2)."


async def test_a_test_that_passes_with_the_own_code_is_a_veto(proved):
    proofs = await proved(
        Change(
            own=OWN,
            new="def double(x):\n    return 2 * x\n",
            test="import m\n\ndef test_it():\n    assert m.double(0) == 0\n",
        )
    )
    assert proofs.unproven == {CASE: OWN_PASSES}


async def test_a_tolerance_that_the_test_takes_from_the_code_is_no_proof(proved):
    change = Change(
        own="TOLERANCE = 0.1\n\ndef half(x):\n    return x\n",
        new="TOLERANCE = 1000.0\n\ndef half(x):\n    return x\n",
        test="import m\n\ndef test_it():\n    assert abs(m.half(8) - 4) < m.TOLERANCE\n",
    )
    proofs = await proved(change)
    assert not proofs.proven
    assert proofs.unproven[CASE] == "it also passes with a wrong value in place of the constant m.TOLERANCE"


async def test_an_equality_that_says_yes_to_all_is_no_proof(proved):
    own = "class P:\n    def __init__(self, x):\n        self.x = x\n    def __eq__(self, other):\n        return self.x == other.x\n\ndef make(x):\n    return P(0)\n"
    new = own.replace("return self.x == other.x", "return True")
    proofs = await proved(
        Change(own=own, new=new, test="from m import P, make\n\ndef test_it():\n    assert make(3) == P(3)\n")
    )
    assert not proofs.proven
    assert "says the same of wrong values" in proofs.unproven[CASE]
    assert CASE in proofs.vetoed


async def test_code_behind_a_link_is_proven(proved, tmp_path):
    (tmp_path / "work" / "real").mkdir(parents=True)
    (tmp_path / "work" / "real" / "m.py").write_text(OWN)
    (tmp_path / "work" / "m.py").symlink_to("real/m.py")
    assert (await proved(Change(own=OWN, new="def double(x):\n    return 2 * x\n", test=DOUBLE))).proven == {CASE: ()}


async def test_a_program_that_the_test_starts_is_the_reason(proved):
    test = (
        "import subprocess\nimport sys\n\n\ndef test_it():\n    program = 'import m; print(m.double(4))'\n"
        "    ran = subprocess.run([sys.executable, '-c', program], capture_output=True)\n"
        "    assert ran.stdout == b'8\\n'\n"
    )
    proofs = await proved(Change(own=OWN, new="def double(x):\n    return 2 * x\n", test=test))
    assert proofs.unproven == {CASE: "it starts a program, which runs without the change"}


async def test_threads_that_wait_for_each_other_cannot_be_put_apart(proved):
    change = Change(
        own="def each(function, items):\n    return [function(item) for item in items]\n",
        new=(
            "from concurrent.futures import ThreadPoolExecutor\n\ndef each(function, items):\n"
            "    with ThreadPoolExecutor() as pool:\n        return list(pool.map(function, items))\n"
        ),
        test=(
            "import threading\nfrom m import each\n\ndef test_it():\n    barrier = threading.Barrier(2, timeout=6)\n"
            "    assert sorted(each(lambda n: barrier.wait(), [1, 2])) == [0, 1]\n"
        ),
    )
    assert (await proved(change)).unproven == {CASE: "threads ask at the same time"}
