"""`greenloop.answer`: the user's answer to a question of a run."""

from __future__ import annotations

from typing import Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from greenloop.core.docstrings.literals import parse_literal_input
from greenloop.lsp.connection.client import Client
from greenloop.lsp.connection.messages import AnswerParams, answer_params, command_argument
from greenloop.lsp.documents.open_documents import Documents
from greenloop.lsp.runs.command_arguments import run_filter
from greenloop.lsp.runs.runs import Runs
from greenloop.lsp.state.questions import Answer, Question


def register(server: LanguageServer, client: Client, documents: Documents, runs: Runs) -> None:
    @server.command("greenloop.answer")
    def answer(*arguments: Any) -> None:
        params = answer_params(command_argument(arguments))
        is_meant = run_filter(documents, runs, arguments)
        open_questions = [run.question for run in runs if run.question is not None and is_meant(run)]
        question = next((each for each in open_questions if each.text == params.question), None)
        if question is None:
            client.show_message("That question is no longer open.")
        else:
            question.close(_answer(question, params))


def _answer(question: Question, params: AnswerParams) -> Answer:
    """The answer to a question. Raises `JsonRpcInvalidParams` for an invalid one; the question stays open."""
    if params.answer is not None:
        if params.answer not in question.options:
            raise JsonRpcInvalidParams(f"'answer' must be one of: {', '.join(question.options) or 'none, a value'}.")
        return Answer(option=params.answer)
    if question.options and question.typed_option is None:
        raise JsonRpcInvalidParams("This question takes one of its options, not a value.")
    try:
        value = parse_literal_input(params.value or "")
    except ValueError as error:
        raise JsonRpcInvalidParams(str(error)) from error
    return Answer(option=question.typed_option, value=value)
