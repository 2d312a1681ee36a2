"""What is exported can be learned from: it loads elsewhere, and a toy model's training goes on with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from double_problem import BASELINE
from exported import export
from greenloop.core import registry
from greenloop_lab.engine.history.learning import Wanted
from greenloop_lab.engine.history.row_files import write_rows
from learning_runs import HALF, WRONG, attempt, chain, refused

RUNS = [chain(messages=True), chain(), [BASELINE, attempt(1, WRONG[0]), refused(2), attempt(3, HALF)]]


def text_of(messages: list[dict[str, str]]) -> str:
    return "".join(f"<{each['role']}>{each['content']}" for each in messages)


@pytest.mark.needs("datasets")
@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("kind", registry.list_parts("export"))
def test_rows_load_as_a_data_set(tmp_path, monkeypatch, kind, suffix):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    datasets.disable_progress_bars()
    rows = export(tmp_path, kind, *RUNS)
    path = tmp_path / f"x.{suffix}"
    write_rows(rows, Wanted(kind=kind).row, path)
    builder = "json" if suffix == "jsonl" else "parquet"
    loaded = datasets.load_dataset(builder, data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    assert [dict(row) for row in loaded] == rows


class Toy:
    """A model of bytes, small enough to learn in a second."""

    def __init__(self) -> None:
        import torch
        from torch import nn

        torch.manual_seed(0)
        torch.set_num_threads(1)
        self.torch = torch
        self.embedding, self.recurrent, self.head = (
            nn.Embedding(256, 32),
            nn.GRU(32, 64, batch_first=True),
            nn.Linear(64, 256),
        )
        parts = (self.embedding, self.recurrent, self.head)
        self.optimizer = torch.optim.Adam([each for part in parts for each in part.parameters()], lr=1e-2)

    def log_probability(self, prompt: str, answer: str) -> Any:
        """The mean of the answer's bytes after the prompt."""
        prompt_bytes, answer_bytes = prompt.encode()[-400:], answer.encode()[:400]
        tokens = self.torch.tensor([[*prompt_bytes, *answer_bytes]])
        hidden, _state = self.recurrent(self.embedding(tokens[:, :-1]))
        logs = self.torch.log_softmax(self.head(hidden), -1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
        return logs[:, -len(answer_bytes) :].mean()

    def train(self, loss_of: Any, steps: int = 12) -> tuple[float, float]:
        """The loss before and after some steps of training."""
        losses = []
        for _ in range(steps):
            loss = loss_of()
            losses.append(float(loss.detach()))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return losses[0], losses[-1]


def load(tmp_path, kind: str) -> list[dict[str, Any]]:
    """Rows as somebody else reads them: from a file, by plain JSON."""
    path = tmp_path / "x.jsonl"
    write_rows(export(tmp_path, kind, *RUNS), Wanted(kind=kind).row, path)
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.needs("torch")
def test_accepted_answers_become_likelier(tmp_path):
    rows, toy = load(tmp_path, "sft"), Toy()
    before, after = toy.train(
        lambda: -sum(toy.log_probability(text_of(row["prompt"]), text_of(row["completion"])) for row in rows)
    )
    assert after < before / 2


@pytest.mark.needs("torch")
def test_the_chosen_becomes_likelier_than_the_rejected(tmp_path):
    rows, toy = load(tmp_path, "pairs"), Toy()

    def margin(row: dict[str, Any]) -> Any:
        prompt = text_of(row["prompt"])
        return toy.log_probability(prompt, row["chosen"]) - toy.log_probability(prompt, row["rejected"])

    before, after = toy.train(lambda: -sum(toy.torch.nn.functional.logsigmoid(margin(row)) for row in rows))
    assert after < before
    assert float(sum(margin(row) for row in rows).detach()) > 0


@pytest.mark.needs("torch")
def test_a_second_turn_with_a_gain_is_reinforced(tmp_path):
    rows, toy = load(tmp_path, "turns"), Toy()
    gains = [row for row in rows if row["difference"] > 0]
    assert gains

    def loss() -> Any:
        prompts = [text_of(row["prompt"]) + row["first_answer"] + row["feedback"] for row in gains]
        return -sum(
            row["difference"] * toy.log_probability(prompt, row["second_answer"])
            for row, prompt in zip(gains, prompts, strict=True)
        )

    before, after = toy.train(loss)
    assert after < before / 2
