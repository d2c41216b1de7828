"""Verb ``serve``, and ``LocalServer``: a real language model on loopback, without a key and without a hub."""

from __future__ import annotations

import argparse
import atexit
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from bench.errors import ModelError
from bench.llm import Client, ReplyCache
from bench.models import require_model
from bench.replies import Endpoint, Reply, Request

LOCAL = "local"
START_S = 180.0


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench serve``."""
    parser.add_argument("--model", default="auto", help="auto, qwen, smollm2, or the path of a GGUF file")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--context", type=int, default=4096, help="tokens of prompt and reply together")


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted."""
    with LocalServer(require_model(arguments.model), arguments.port, arguments.context) as server:
        print(f"{server.model.name}: {server.url} (Ctrl-C stops it)", flush=True)
        return server.wait()


class LocalServer:
    """Context manager: starts the server as a child, waits until it answers, stops it whatever happens.

    The child also ends by itself when this process is killed.
    """

    def __init__(self, model: Path, port: int = 0, context_tokens: int = 4096, threads: int | None = None) -> None:
        self.model, self._context_tokens = model, context_tokens
        self._port = port or _free_port()
        self._threads = threads or _cpus()
        self._child: subprocess.Popen[bytes] | None = None
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop

    @property
    def url(self) -> str:
        """Base URL of the OpenAI-compatible API."""
        return f"http://127.0.0.1:{self._port}/v1"

    def start(self) -> Self:
        """Start the child and wait for its ``/health``.

        Raises:
            ModelError: the server is not installed, or does not come up; the end of its log is in the message.
        """
        command = [sys.executable, "-m", "bench.llama_server", str(self.model), str(self._port)]
        command += [str(self._context_tokens), str(self._threads)]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self._log, stderr=self._log)
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self._child.poll() is not None:
                break
            if _healthy(self.url):
                return self
            time.sleep(0.1)
        words = self._last_words()
        self.stop()
        raise ModelError(f"llama.cpp server: did not start with {self.model.name}: {words}")

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        missing = any("No module named 'xllamacpp'" in line for line in lines)
        return "it is not installed; run make models" if missing else (lines[-1] if lines else "no message")

    def wait(self) -> int:
        """Wait until the child ends; its exit code."""
        return self._child.wait() if self._child else 0

    def stop(self) -> None:
        """Stop the child."""
        child, self._child = self._child, None
        if child is None:
            return
        if child.stdin:
            child.stdin.close()
        try:
            child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        self._log.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


class LocalChat:
    """Asks the local model; the server starts when the first reply is not in the cache, and ends with the process."""

    def __init__(self, endpoint: Endpoint, cache: ReplyCache) -> None:
        self._model = require_model(endpoint.model)
        identity = endpoint.identity or f"local:{self._model.name}:{self._model.stat().st_size}"
        self._client = Client(replace(endpoint, identity=identity), cache)

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Return one reply a request, in order.

        Raises:
            ModelError: the server does not start.
            LimitReached: a limit of the endpoint stopped it.
        """
        if any(self._client.cached(request) is None for request in requests):
            server = _shared_server(self._model)
            self._client.endpoint = replace(self._client.endpoint, base_url=server.url)
        return self._client.ask(requests)


@lru_cache(maxsize=16)
def open_chat(endpoint: Endpoint, replies: Path | None) -> Client | LocalChat:
    """Return the client of an endpoint, one a process: its limits count over all points of the sweep.

    Raises:
        ModelError: ``base_url: local``, and the model is not installed.
    """
    cache = ReplyCache(replies)
    return LocalChat(endpoint, cache) if endpoint.base_url == LOCAL else Client(endpoint, cache)


@lru_cache(maxsize=1)
def _shared_server(model: Path) -> LocalServer:
    server = LocalServer(model).start()
    atexit.register(server.stop)
    return server


def _healthy(url: str) -> bool:
    try:
        with httpx.Client(trust_env=False, timeout=2.0) as http:
            return http.get(f"{url.removesuffix('/v1')}/health").status_code == 200
    except httpx.TransportError:
        return False


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
