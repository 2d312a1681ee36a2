"""The forms that the input of a test may take in code: as itself, as a text, a checksum, its length; pure functions.

It must not know of code.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from greenloop.drafting.candidates.checks import literal_tables
from greenloop.plugins.other_inputs.varied_inputs import Instance

LEAST_TEXT = 4  # characters of an input that counts inside a longer text
RARE_LENGTH = 256  # no code or checksum is so long
LARGE = 1e15  # from here on, floats are no exact numbers


def is_small(value: Any) -> bool:
    """Is it a value that base cases use? A number with a fraction is not."""
    return literal_tables.is_small(value) and not (type(value) is float and not value.is_integer())


def key_of(value: Any) -> str:
    """Equal for values that Python finds equal in a lookup; lists and tuples of the same items are, too."""
    if isinstance(value, list | tuple):
        return f"({','.join(map(key_of, value))})"
    if isinstance(value, set | frozenset):
        return f"{{{','.join(sorted(map(key_of, value)))}}}"
    if isinstance(value, dict):
        return f"{{{','.join(sorted(f'{key_of(key)}:{key_of(each)}' for key, each in value.items()))}}}"
    if type(value) is float and value.is_integer() and abs(value) < LARGE:
        return repr(int(value))
    return repr(value)


def wholes_of(arguments: Sequence[Any]) -> Iterator[Any]:
    """Yields the arguments together, or the only one; defaults at the end may be left out."""
    for count in range(len(arguments), 0, -1):
        yield tuple(arguments[:count])
    large = [each for each in arguments if not is_small(each)]
    if len(large) == 1:
        yield large[0]


def forms_of(arguments: Sequence[Any]) -> frozenset[str]:
    """Returns the keys of the input as it is, in order, in other case, as letters, joined."""
    keys = set()
    for each in wholes_of(arguments):
        keys.add(key_of(each))
        if isinstance(each, str):
            keys |= {key_of(form) for form in (each.lower(), each.upper(), each.strip(), each[::-1], list(each))}
            keys.add(key_of("".join(filter(str.isalnum, each))))
        elif isinstance(each, list | tuple):
            keys.add(key_of(sorted(each, key=repr)))
            keys.add("{" + ",".join(sorted({key_of(item) for item in each})) + "}")
        elif isinstance(each, dict):
            keys |= {key_of(sorted(each.items(), key=repr)), key_of(list(each.items()))}
        keys |= {key_of(_joined(each)), key_of(tuple(map(_joined, each)) if isinstance(each, tuple) else each)}
    return frozenset(key for key in keys if key not in ("()", "{}", "''"))


def _joined(value: Any) -> Any:
    """Texts in a list as one text; anything else as it is."""
    is_texts = isinstance(value, list | tuple) and len(value) > 1 and all(isinstance(each, str) for each in value)
    return "".join(value) if is_texts else value


def texts_of(arguments: Sequence[Any]) -> frozenset[str]:
    """Returns how the input is written, in those forms that no other text has by chance."""
    found = set()
    for each in wholes_of(arguments):
        found |= {repr(each), repr(each).strip("()[],"), repr(each).replace(" ", "")}
        try:
            found |= {json.dumps(each), json.dumps(each, separators=(",", ":"))}
        except (TypeError, ValueError):
            continue
    return frozenset(text for text in found if len(text) >= LEAST_TEXT and not text.isalpha())


def digests_of(arguments: Sequence[Any]) -> frozenset[str]:
    """Returns the keys of its hashes and checksums."""
    found: set[str] = set()
    for each in wholes_of(arguments):
        if isinstance(each, tuple):  # the hash of a number is the number
            with suppress(TypeError):
                found.add(key_of(hash(each)))
        for text in {repr(each), str(each)}:
            data = text.encode("utf-8", "replace")
            found |= {key_of(zlib.crc32(data)), key_of(zlib.adler32(data))}
            for name in ("md5", "sha1", "sha256"):
                hexadecimal = hashlib.new(name, data, usedforsecurity=False).hexdigest()
                found |= {key_of(hexadecimal[:length]) for length in (6, 8, 10, 12, 16, len(hexadecimal))}
    return frozenset(found)


def rare_lengths_of(arguments: Sequence[Any]) -> frozenset[str]:
    """Returns the keys of great lengths, powers of two apart: these are sizes of blocks."""
    sizes = (len(each) for each in arguments if isinstance(each, list | tuple | str | set | frozenset | dict))
    return frozenset(key_of(size) for size in sizes if size > RARE_LENGTH and size & (size - 1))


def marks_of(arguments: Sequence[Any]) -> frozenset[str]:
    """Returns the keys of what is true of few other inputs: their items, lengths, sums and extremes."""
    found: list[Any] = []
    for each in arguments:
        if isinstance(each, list | tuple | str | set | frozenset | dict):
            items = list(each)
            found += [len(items), *items[:8], *items[-2:]]
            if items and all(type(item) in (int, float) for item in items):
                found += [sum(items), max(items), min(items)]
        elif not isinstance(each, Instance):
            found.append(each)
    return frozenset(key_of(each) for each in found if not is_small(each))
