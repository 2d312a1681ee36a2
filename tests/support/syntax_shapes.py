"""A text with every shape of definition."""

from __future__ import annotations

SHAPES = '''\
import functools

@functools.cache
@other(
    1,
)
def decorated(x):
    """Doc
    of two lines."""
    def nested():
        class Deep: ...
        return 1
    return nested
    # a comment after the last statement

async def waits(): return 1

class Outer(Base, metaclass=Meta):
    """Doc."""
    field: int = 3

    @property
    def size(self): return self._size

    @size.setter
    def size(self, value):
        self._size = value

    class Inner:
        def method(self):
            text = """
def not_a_function():
    pass
"""
            return text

if TYPE_CHECKING:
    def seen_by_checkers(): ...
else:
    def seen_by_checkers():
        return 2

try:
    def fallback(): return 1
except ImportError:
    def fallback(): return 2
'''
