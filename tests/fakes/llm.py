"""An OpenAI-compatible server with a script per test and a ledger of its calls."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """What the server does with one call. `cut`: close the connection instead."""

    content: Any = "OK"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] | None = None
    delay: float = 0.0
    cut: bool = False
    finish_reason: str = "stop"
    raw: bytes | None = None
    usage: Any = field(
        default_factory=lambda: {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
        }
    )


def error(status: int, message: str, **fields: Any) -> Answer:
    """A refusal in OpenAI's shape."""
    return Answer(status=status, body={"error": {"message": message, **fields}})


def verdict(score: Any = 4, reason: str = "Fine.") -> Answer:
    return Answer(json.dumps({"reason": reason, "score": score}))


Script = Callable[[dict[str, Any], int], Answer]


class FakeLLM:
    """`script(body, n)` gives the answer to the n-th call (from 0)."""

    def __init__(self, script: Script | None = None) -> None:
        self.script: Script = script or (lambda _body, _n: verdict())
        self.calls: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_args: Any) -> None:
                """Quiet."""

            def do_POST(self) -> None:
                fake._serve(self)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> FakeLLM:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length", 0))
        body = json.loads(handler.rfile.read(length) or b"{}")
        with self._lock:
            number = len(self.calls)
            self.calls.append(body)
            self.headers.append(dict(handler.headers))
            self.paths.append(handler.path)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            answer = self.script(body, number)
            if answer.delay:
                time.sleep(answer.delay)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._send(handler, body, answer)
        finally:
            with self._lock:
                self.at_once -= 1

    def _send(
        self, handler: BaseHTTPRequestHandler, body: dict[str, Any], answer: Answer
    ) -> None:
        if answer.cut:
            handler.close_connection = True
            handler.connection.close()
            return
        payload = answer.raw
        if payload is None:
            payload = json.dumps(answer.body or _completion(body, answer)).encode()
        handler.send_response(answer.status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(payload)))
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(payload)


def _completion(body: dict[str, Any], answer: Answer) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer.content}
    usage = {} if answer.usage is None else {"usage": answer.usage}
    return {
        **usage,
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "model": body.get("model", "fake"),
        "choices": [
            {"index": 0, "message": message, "finish_reason": answer.finish_reason}
        ],
    }
