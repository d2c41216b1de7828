"""A real llama.cpp server with a real model (SmolLM2-135M) on loopback: the wire, the states, the child's life."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import httpx
import pytest
from pydantic import BaseModel

from bench.errors import ModelError
from bench.generators.base import Tools
from bench.generators.openai import OpenAI
from bench.judges.base import Tools as JudgeTools
from bench.judges.openai import OpenAI as Judge
from bench.llm import Client, ReplyCache
from bench.models import find_model, require_model
from bench.replies import Answer, Case, Endpoint, Request
from bench.serve import LocalChat, LocalServer
from bench.types import Context

MODEL = find_model("smollm2")
pytestmark = pytest.mark.skipif(
    MODEL is None or importlib.util.find_spec("xllamacpp") is None, reason="no local model (make models)"
)
PASSAGE = "The library of Aldmere opens at nine. A late book costs 20 cents a day. The director is Ines Vorr."


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    with LocalServer(require_model("smollm2"), context_tokens=1024, threads=1) as running:
        yield running


def endpoint(server: LocalServer, **changes: object) -> Endpoint:
    values: dict[str, object] = {"model": "smollm2", "base_url": server.url, "max_concurrency": 1, "max_tokens": 24}
    return Endpoint(**{**values, **changes})  # type: ignore[arg-type]


class Colour(BaseModel):
    """A form with an enum."""

    colour: Literal["red", "green", "blue"]


def test_a_real_model_answers_the_same_twice_and_is_asked_once(server: LocalServer, tmp_path: Path) -> None:
    request = Request((("user", "What is the capital of France? Answer in one word."),))
    cache = ReplyCache(tmp_path / "replies.sqlite")
    first = Client(endpoint(server), cache).ask([request])[0]
    cached = Client(endpoint(server), cache).ask([request])[0]
    fresh = Client(endpoint(server)).ask([request])[0]
    assert first.state == "ok"
    assert "Paris" in first.text
    assert first.text == cached.text == fresh.text
    assert (first.usage.sent, cached.usage.sent) == (1, 0)
    assert 10 < first.usage.prompt_tokens < 100
    assert first.sent["max_tokens"] == 24


def test_a_real_server_keeps_to_a_json_schema(server: LocalServer) -> None:
    request = Request((("user", 'What colour is grass? Reply as JSON: {"colour": ...}'),), Colour)
    (reply,) = Client(endpoint(server)).ask([request])
    assert reply.state == "ok"
    assert isinstance(reply.data, Colour)
    assert reply.sent["response_format"]["type"] == "json_schema"


def test_a_real_reply_that_runs_out_of_tokens_is_truncated(server: LocalServer) -> None:
    request = Request((("user", "Count from one to one hundred in words."),), max_tokens=5)
    (reply,) = Client(endpoint(server)).ask([request])
    assert (reply.state, reply.text) == ("truncated", "")
    assert reply.usage.completion_tokens == 5


def test_a_real_prompt_that_does_not_fit_is_no_answer(server: LocalServer) -> None:
    (reply,) = Client(endpoint(server, retries=0)).ask([Request((("user", "word " * 3000),))])
    assert reply.state in ("failed", "prompt_cut", "truncated")
    assert reply.reason


def test_a_real_model_generates_and_judges(server: LocalServer) -> None:
    values = vars(endpoint(server))
    chat = Client(endpoint(server))
    context = Context((PASSAGE,), (None,), 30)
    generator = OpenAI(**values)
    (answer,) = generator.answer(["What does a late book cost?"], [context], Tools(chat=chat))
    assert answer.status in ("answered", "declined", "truncated")
    assert answer.usage.prompt_tokens > 50
    judge = Judge(**values, reasons=False, claims="sentences", parts=["faithfulness", "correctness"])
    case = Case("What does a late book cost?", (PASSAGE,), Answer("20 cents a day. [1]", (1,)), "20 cents a day")
    (judgement,) = judge.judge([case], JudgeTools(chat=chat))
    assert judgement.faults == {}
    assert judgement.claims is not None
    assert len(judgement.claims) == 1
    assert judgement.usage.replies == 3


def test_the_server_starts_when_it_is_needed_only(tmp_path: Path) -> None:
    end = Endpoint(model="smollm2", base_url="local", max_concurrency=1, max_tokens=4)
    request = Request((("user", "Say hello."),))
    cache = ReplyCache(tmp_path / "replies.sqlite")
    first = LocalChat(end, cache)
    (reply,) = first.ask([request])
    again = LocalChat(end, cache)
    (same,) = again.ask([request])
    assert same.raw == reply.raw
    assert same.usage.sent == 0
    assert again._client.endpoint.base_url == "local"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_server_ends_with_the_process_that_started_it(how: signal.Signals) -> None:
    code = "import bench.serve as serve, bench.models as models\n"
    code += "s = serve.LocalServer(models.require_model('smollm2'), threads=1)\n"
    code += "with s: print(s.url, s._child.pid, flush=True); s.wait()"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout is not None
        url, child = parent.stdout.readline().split()
        assert httpx.get(f"{url.removesuffix('/v1')}/health", trust_env=False).status_code == 200
        os.kill(parent.pid, how)
        parent.wait(timeout=20)
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2]:
            break
        time.sleep(0.1)
    else:
        pytest.fail("the server outlived its parent")


def test_a_file_that_is_no_model_is_refused_with_the_servers_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"did not start with bad\.gguf"):
        LocalServer(bad).start()
    monkeypatch.setenv("BENCH_MODELS", str(tmp_path))
    with pytest.raises(ModelError, match="make models"):
        require_model("qwen")
    with pytest.raises(ModelError, match="allowed: auto, qwen, smollm2"):
        require_model("nothing-like-it.gguf")
