"""The habits of prose and names that a machine can see: in docstrings, function names, pages and messages."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parents[2]
FOLDERS = ("server/greenloop", "sandbox/greenloop_sandbox", "lab/greenloop_lab")
CLAUSE = re.compile(r"(What|Whether|Where|How|Who|Why|When|Which)\b")
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
DOCUMENTED = ast.Module | ast.ClassDef | FUNCTIONS
# Of functions that are neither properties nor answer yes or no. The number may only fall.
PARTICIPLE = re.compile(
    r"_?([a-z]+ed|told|known|given|shown|seen|written|made|found|taken|kept|sent|said|drawn|chosen|left|built|hidden)"
)
PARTICIPLES = 62
PAGES = [
    *(HOUSE / name for name in ("README.md", "ARCHITECTURE.md", "vscode-client/README.md")),
    *(page for folder in ("docs", "lab/docs") for page in sorted((HOUSE / folder).glob("*.md"))),
    *(
        page
        for folder in ("server/greenloop", "sandbox/greenloop_sandbox")
        for page in sorted((HOUSE / folder).rglob("*.md"))
    ),
]
# Each with the words to use instead; `glossary.md` has those of the product.
WORDS = {
    r"\bbeside\b": "with, next to, in addition to, other",
    r"\bby itself\b": "automatically",
    r"\bwhoever\b": "the user, the author, anyone who",
    r"\bas it stands\b": "unchanged",
    r"\bso many (more|as)\b": "that many",
    r"\b(is|are) told\b": "learns, sees, gets",
    r"(?<!there )\b(is|are) no (call|list|file|sign|test|function|module|number|path|name|model|expression)\b": "is not a …",
    r"\b(dear|dearest|dearer)\b": "expensive",
    r"\b(canar(y|ied)|oracle test|earned pass)\b": "tamper check, proven apart",
    r"\bmend(s|ed|ing)?\b": "fix, correct",
}


@cache
def trees(folder: str) -> list[tuple[str, ast.AST]]:
    """All functions, classes and modules of a folder, with their paths."""
    files = sorted((HOUSE / folder).rglob("*.py"))
    assert files
    return [
        (str(file.relative_to(HOUSE)), node)
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, DOCUMENTED)
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_docstring_uses_a_clause_as_a_noun(folder):
    """A docstring names the thing or its action: "State of a run so far.", not "What is known of a run"."""
    clauses = [
        f"{path}:{node.body[0].lineno}" for path, node in trees(folder) if CLAUSE.match(ast.get_docstring(node) or "")
    ]
    assert clauses == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_use_common_words(folder):
    found = [
        f"{path}:{node.body[0].lineno} {match.group()!r}; use: {better}"
        for path, node in trees(folder)
        for word, better in WORDS.items()
        for match in re.finditer(word, ast.get_docstring(node) or "", re.IGNORECASE)
    ]
    assert found == []


def test_functions_are_not_named_by_bare_participles():
    named = [
        f"{path}:{node.lineno} {node.name}"
        for folder in FOLDERS
        for path, node in trees(folder)
        if isinstance(node, FUNCTIONS) and PARTICIPLE.fullmatch(node.name)
        if not node.decorator_list and "/inside/" not in path
        if not (isinstance(node.returns, ast.Name) and node.returns.id == "bool")
    ]
    assert len(named) <= PARTICIPLES, "name a function by a verb, or by the noun that it returns:\n" + "\n".join(named)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HOUSE)))
def test_pages_and_messages_use_common_words(page):
    """`messages.md` has every text of the product. Code in pages is not prose."""
    text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`\n]*`", "", text)
    text = re.sub(r"^### drafting/context/.*?(?=^### )", "", text, flags=re.DOTALL | re.MULTILINE)  # for models
    found = [
        f"{match.group()!r}: {text[max(match.start() - 40, 0) : match.end() + 20]!r}; use: {better}"
        for word, better in WORDS.items()
        for match in re.finditer(word, text, re.IGNORECASE)
    ]
    assert found == []
