"""Texts that the parser cannot read, however it says so: an error is returned, and never raised."""

from __future__ import annotations

import ast

import pytest

from greenloop.core.python import ast_source
from greenloop.core.python.names import free_names, undefined_names

DEEP = {
    "null byte": "x = '\0'",
    "sum": "x = " + "+".join(["1"] * 50_000),
    "powers": "x = " + "2**" * 5000 + "1",
    "brackets": "(" * 5000 + ")" * 5000,
}


def miscount(*_args, **_options):
    raise SystemError("AST constructor recursion depth mismatch (before=6, after=8)")


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_what_the_parser_gives_up_is_an_error_of_syntax(text):
    assert isinstance(ast_source.parse_module(text), SyntaxError)
    assert isinstance(ast_source.compile_error(text), SyntaxError)
    assert isinstance(ast_source.parse_fragment(f"    {text}"), SyntaxError)
    assert ast_source.statements_of(text) == ()


def test_a_depth_that_the_parser_miscounts_each_time_is_an_error_of_syntax():
    error = ast_source.parse_module("unlike = any('other text')", miscount)
    assert isinstance(error, SyntaxError)
    assert "depth mismatch" in str(error)
    assert isinstance(ast_source.compile_error("x = 1", miscount), SyntaxError)


def test_names_of_what_the_parser_gives_up_are_not_known():
    assert free_names("x = a", miscount) == set()
    assert undefined_names("x = a", miscount) == {}


def test_a_text_that_the_parser_miscounts_once_is_read_again():
    """As where a finalizer parses a text meanwhile."""
    calls = []

    def miscount_once(text):
        calls.append(text)
        return ast.parse(text) if len(calls) > 1 else miscount()

    assert isinstance(ast_source.parse_module("once = 'and again'", miscount_once), ast.Module)
