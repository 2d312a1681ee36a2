"""Parsing where another thread disturbs CPython's parser."""

from __future__ import annotations

import ast

import pytest

from greenloop.core.python import ast_source

MISMATCH = SystemError("AST constructor recursion depth mismatch (before=63, after=28)")


def disturb(monkeypatch, times):
    real, left = ast.parse, [MISMATCH] * times

    def parse(text):
        if left:
            raise left.pop()
        return real(text)

    monkeypatch.setattr(ast_source.ast, "parse", parse)


def test_a_disturbed_parser_is_asked_again(monkeypatch):
    disturb(monkeypatch, ast_source.TRIES - 1)
    module = ast_source.parse_module("disturbed = 1\n")
    assert isinstance(module, ast.Module)


def test_one_that_stays_disturbed_is_an_error_that_callers_know(monkeypatch):
    disturb(monkeypatch, 2 * ast_source.TRIES)
    error = ast_source.parse_module("disturbed = 2\n")
    assert isinstance(error, SyntaxError)
    with pytest.raises(SystemError):
        ast_source.parse_module_strictly("disturbed = 2\n")
