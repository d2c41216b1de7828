"""A chat-completions server on loopback that misbehaves as told, and counts what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Act:
    """What the server does with one call: wait, then drop the connection or send a status, headers and a body."""

    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drop: bool = False


def completion(
    content: str | None, finish: str = "stop", prompt_tokens: int = 1000, completion_tokens: int = 10, **message: Any
) -> str:
    """Body of a chat completion."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
    usage = {"prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens}
    return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], "usage": usage})


def says(content: str | None, finish: str = "stop", **more: Any) -> Act:
    """The server answers ``content``."""
    return Act(body=completion(content, finish, **more))


def error(status: int, message: str, **headers: str) -> Act:
    """The server answers with an error, in the OpenAI form."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Act(status, json.dumps({"error": {"message": message}}), named)


Behave = Callable[[dict[str, Any], int], Act]


class FaultServer:
    """Context manager. ``behave(body, n)`` decides on the n-th call (from 0); bodies and headers are kept."""

    def __init__(self, behave: Behave) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answered = 0
        lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # headers and body are two writes: the second would wait 40 ms

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    number = len(outer.bodies)
                    outer.bodies.append(body)
                    outer.headers.append(dict(self.headers))
                act = behave(body, number)
                time.sleep(act.delay_s)
                if act.drop:
                    self.close_connection = True
                    return
                data = act.body.encode()
                try:
                    self.send_response(act.status)
                    for name, value in {**act.headers, "Content-Length": str(len(data))}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    return
                with lock:
                    outer.answered += 1

            def log_message(self, format: str, *args: Any) -> None:
                return

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def calls(self) -> int:
        """Calls received so far."""
        return len(self.bodies)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
