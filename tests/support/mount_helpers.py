"""An environment, a sandbox spec and pairs of arguments, for tests of the bubblewrap command line."""

from __future__ import annotations

from greenloop_sandbox import Environment


def make_environment(prefix, base, executable=None):
    return Environment(
        executable=executable or prefix / "bin" / "python",
        prefix=prefix,
        base=base,
        version=(3, 12),
        source="",
        has_pytest=True,
    )


def argument_pairs(words, option):
    return [tuple(words[number + 1 : number + 3]) for number, word in enumerate(words) if word == option]
