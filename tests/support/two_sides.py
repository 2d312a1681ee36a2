"""The two sides of a conversation between judge and code, in one process: the code in a thread."""

from __future__ import annotations

import io
import json
import socket
import struct
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inside import load_apart

apart = load_apart()
CannotCross = apart["apart_rules"].CannotCross
Peer, Gone = apart["apart_peer"].Peer, apart["apart_peer"].Gone
SECONDS = 20.0
ROOT = str(Path(__file__).resolve().parents[2])  # the tests of this repository are the tests

# The user's own project, which both sides have.
SHOP = """
import dataclasses, enum, typing

class Color(enum.Enum):
    RED = 1
    BLUE = "b"

class Mode(enum.Flag):
    READ = 1
    WRITE = 2

@dataclasses.dataclass
class Item:
    name: str
    price: object = 1.0

class Point(typing.NamedTuple):
    x: object
    y: object

class Slotted:
    __slots__ = ("a", "b")

class Plain:
    def total(self):
        return 1

    @staticmethod
    def make():
        return Plain()

class Basket(list):
    pass

class Missing(KeyError):
    def __init__(self, name, code):
        super().__init__(name)
        self.code = code

def helper(x):
    return 2 * x

REGISTRY = Plain()
"""


@contextmanager
def shop_module() -> Iterator[types.ModuleType]:
    """The module `shop`, fresh, as long as the context is open."""
    before, module = sys.modules.get("shop"), types.ModuleType("shop")
    sys.modules["shop"] = module
    try:
        exec(SHOP, vars(module))
        yield module
    finally:
        del sys.modules["shop"]
        if before is not None:
            sys.modules["shop"] = before


def request(**more: Any) -> dict[str, Any]:
    """The `apart` field of a run, as `apart_changes.complete` makes it."""
    allowed = sorted({*apart["apart_rules"].STANDARD, "shop", "numpy"})
    return {"root": ROOT, "allowed": allowed, "project": ["shop"], "tests": [], "modules": {}, **more}


class Side(Peer):
    """A side whose messages have values alone."""

    def outgoing(self, _encoder: Any) -> dict[str, Any]:
        return {}

    def incoming(self, _message: Any) -> None: ...


class Code(Side):
    """The code's side: a question names one of its functions."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], wire: Any) -> None:
        super().__init__(False, request(), wire)
        self.functions = functions

    def answer(self, kind: str, values: list[Any]) -> Any:
        return self.functions[kind](*values) if kind in self.functions else super().answer(kind, values)

    def serve_all(self) -> None:
        while True:
            try:
                self.serve()
            except (Gone, OSError):
                return
            except CannotCross as error:
                self.send("unfit", [str(error)])


class Judge(Side):
    """The judge's side; `given_up` are the reasons why nothing can be concluded."""

    def __init__(self, wire: Any, *, applies: bool = True) -> None:
        super().__init__(True, request(), wire)
        self.applies, self.asked_changes, self.given_up = applies, 0, []

    def takes_change(self, _number: str) -> bool:
        self.asked_changes += 1
        return self.applies

    def takes_class(self, _kind: type) -> bool:
        return True

    def changed_items(self, _tag: str, items: list[Any], _number: str, _held: Any) -> list[Any]:
        return items

    def changed_attributes(self, _number: str, _held: Any, new: Mapping[str, Any]) -> Mapping[str, Any]:
        return new

    def watch_equality(self, _kind: type) -> None: ...

    def ask_stub(self, _class_name: str, _name: str, args: Any, ask: Callable[[Any], Any], _is_new: bool) -> Any:
        return ask(args)

    def note_raised(self, _error: BaseException) -> None: ...

    def give_up(self, error: BaseException) -> None:
        self.given_up.append(str(error))

    def ask(self, name: str, *values: Any) -> Any:
        return self.request(name, *values)


@contextmanager
def conversation(*, applies: bool = True, **functions: Callable[..., Any]) -> Iterator[Judge]:
    """The judge's side of a conversation with code that has these functions."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(SECONDS)
        code = Code(functions, theirs.makefile("rwb"))
        thread = threading.Thread(target=code.serve_all, daemon=True)
        thread.start()
        judge = Judge(ours.makefile("rwb"), applies=applies)
        yield judge
        ours.shutdown(socket.SHUT_RDWR)
        thread.join(SECONDS)


def said(body: bytes | Mapping[str, Any], *, size: int | None = None) -> Judge:
    """A judge that is about to receive this message."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Judge(io.BytesIO(struct.pack(">I", len(data) if size is None else size) + data))


def receive(values: list[Any], states: Mapping[str, Any] | None = None, judge: Judge | None = None) -> list[Any]:
    """What the judge makes of these encoded values."""
    judge = judge or said(b"")
    judge.wire = said({"k": "return", "v": values, "o": states or {}}).wire
    return judge.receive()[1]
