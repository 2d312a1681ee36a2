"""An OpenAI-compatible server on this machine whose answers are given: from a list, or one file for each request.

It must not know who asks, nor what the answers mean.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CHARACTERS = 4  # of one token, for both sides alike
PATIENCE = 1800.0  # seconds that an answer in a file may take
MARK = "CALL "  # of a line `CALL name {"argument": "value"}`, which is a call of a tool

Answer = Callable[[int, dict[str, Any]], str]  # of the request with this number, from 0


@contextmanager
def serve(answer: Answer) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yields the address of a server, and the list that its requests are added to: seconds, tokens, the answer."""
    requests: list[dict[str, Any]] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Keeps the output free."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            began = time.monotonic()
            with lock:
                number = len(requests)
                record: dict[str, Any] = {"began": began, "prompt_tokens": _prompt_tokens(body)}
                requests.append(record)
            text = answer(number, body)
            record |= {"seconds": time.monotonic() - began, "answer": text}
            self._send(body, text, record["prompt_tokens"])

        def _send(self, body: dict[str, Any], text: str, prompt_tokens: int) -> None:
            message, reason = _message(text, has_tools=bool(body.get("tools")))
            tokens = len(text) // CHARACTERS
            usage = {"prompt_tokens": prompt_tokens, "completion_tokens": tokens}
            usage["total_tokens"] = prompt_tokens + tokens
            head = {"id": "given", "created": 0, "model": body["model"]}
            if body.get("stream"):
                pieces: list[dict[str, Any]] = [
                    {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
                    {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
                    {"choices": [], "usage": usage},
                ]
                rows = [json.dumps({**head, "object": "chat.completion.chunk", **piece}) for piece in pieces]
                data = "".join(f"data: {row}\n\n" for row in [*rows, "[DONE]"]).encode()
                kind = "text/event-stream"
            else:
                choice = {"index": 0, "message": message, "finish_reason": reason}
                whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
                data, kind = json.dumps(whole).encode(), "application/json"
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        server.server_close()


def from_list(answers: Sequence[str]) -> Answer:
    """The recorded answers in turn; nothing after the last one."""
    return lambda number, _body: answers[number] if number < len(answers) else ""


def from_files(folder: Path) -> Answer:
    """Writes each request to req/NNNN.json of the folder, and waits for its answer in ans/NNNN.txt."""
    for name in ("req", "ans"):
        (folder / name).mkdir(parents=True, exist_ok=True)

    def answer(number: int, body: dict[str, Any]) -> str:
        temporary = folder / "req" / f"{number + 1:04}.tmp"
        temporary.write_text(json.dumps(body), encoding="utf-8")
        temporary.rename(temporary.with_suffix(".json"))
        file, began = folder / "ans" / f"{number + 1:04}.txt", time.monotonic()
        while not file.exists() and time.monotonic() - began < PATIENCE:
            time.sleep(0.2)
        return file.read_text(encoding="utf-8") if file.exists() else ""

    return answer


def _prompt_tokens(body: dict[str, Any]) -> int:
    return len(json.dumps([body["messages"], body.get("tools")])) // CHARACTERS


def _message(text: str, *, has_tools: bool) -> tuple[dict[str, Any], str]:
    calls = [line.split(" ", 2)[1:] for line in text.splitlines() if line.startswith(MARK)]
    if not has_tools or not calls:
        return {"role": "assistant", "content": text}, "stop"
    made = [
        {
            "id": f"call_{number}",
            "index": number,
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    said = "\n".join(line for line in text.splitlines() if not line.startswith(MARK)).strip()
    return {"role": "assistant", "content": said or None, "tool_calls": made}, "tool_calls"
