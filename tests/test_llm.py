"""The client of language models against a server that misbehaves, on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from bench.errors import ConfigError, StoreError
from bench.llm import Client, ReplyCache, forecast
from bench.llm.post import retry_after_s
from bench.llm.wire import parse
from bench.replies import Endpoint, Forecast, LimitReached, Request, Usage
from bench.settings import choose
from tests.faultserver import Act, FaultServer, completion, error, says

KEY = "sk-test-0123456789"


class Form(BaseModel):
    """A reply as the judge asks for."""

    verdict: Literal["supported", "unsupported"]


def endpoint(url: str, **changes: Any) -> Endpoint:
    return Endpoint(**{"model": "m", "base_url": url, "retries": 3, "max_wait_s": 0.05, **changes})


def asks(text: str = "hello", **more: Any) -> Request:
    return Request((("system", "Be brief."), ("user", text)), **more)


def in_turn(*acts: Act) -> Callable[[dict[str, Any], int], Act]:
    """The acts one after another, the last one for ever."""
    return lambda body, n: acts[min(n, len(acts) - 1)]


def test_a_good_reply_brings_text_usage_and_price() -> None:
    with FaultServer(in_turn(says("hi", prompt_tokens=2000, completion_tokens=100))) as server:
        client = Client(endpoint(server.url, prompt_usd_per_mtok=1.0, completion_usd_per_mtok=10.0))
        (reply,) = client.ask([asks()])
    assert (reply.state, reply.text) == ("ok", "hi")
    assert reply.usage == Usage(1, 1, 2000, 100, 0.003)
    assert reply.sent == {"model": "m", "temperature": 0.0, "seed": 0, "max_tokens": 512}


@pytest.mark.parametrize(
    ("act", "state"),
    [
        (says(None, "content_filter"), "refused"),
        (says(None, refusal="I cannot help with that."), "refused"),
        (says("", "length", reasoning_content="..."), "truncated"),
        (says("half an ans", "length"), "truncated"),
        (says(None), "empty"),
        (says("   "), "empty"),
        (says("<think>only thoughts</think>"), "empty"),
        (says("fine", prompt_tokens=3), "prompt_cut"),
        (Act(body='{"choices": []}'), "failed"),
        (Act(body="[1, 2]"), "failed"),
        (error(401, "no such key"), "failed"),
    ],
)
def test_every_state_of_a_reply_is_distinct(act: Act, state: str) -> None:
    with FaultServer(in_turn(act)) as server:
        (reply,) = Client(endpoint(server.url)).ask([asks("one two three four five six seven")])
    assert reply.state == state
    assert reply.text == ""
    assert reply.reason
    assert server.calls == 1


def test_empty_replies_of_the_shared_case_are_refused_and_truncated(shared: Path) -> None:
    choices = json.loads((shared / "cases/39-llm-empty/input.json").read_text())
    acts = [Act(body=json.dumps({"choices": [choice]})) for choice in choices]
    with FaultServer(in_turn(*acts)) as server:
        client = Client(endpoint(server.url))
        assert [client.ask([asks(text)])[0].state for text in "ab"] == ["refused", "truncated"]


def test_a_slow_model_is_waited_for_and_asked_once() -> None:
    with FaultServer(in_turn(Act(body=completion("ok"), delay_s=6.5))) as server:
        (reply,) = Client(endpoint(server.url)).ask([asks()])
    assert (reply.text, server.calls) == ("ok", 1)
    with pytest.raises(ConfigError, match="read_timeout_s"):
        endpoint("http://127.0.0.1/v1", read_timeout_s=5)


@pytest.mark.parametrize(
    "act", [error(500, "oh"), error(429, "slow down"), error(408, ""), Act(drop=True), Act(body="<html")]
)
def test_faults_that_may_pass_are_tried_again(act: Act) -> None:
    with FaultServer(in_turn(act, act, says("done"))) as server:
        (reply,) = Client(endpoint(server.url)).ask([asks()])
    assert (reply.text, server.calls) == ("done", 3)


@pytest.mark.parametrize("act", [error(500, "oh"), Act(drop=True), Act(body="garbage")])
def test_faults_that_do_not_pass_end_as_failed_and_are_not_kept(act: Act) -> None:
    cache = ReplyCache(None)
    with FaultServer(in_turn(act)) as server:
        (reply,) = Client(endpoint(server.url), cache).ask([asks()])
    assert (reply.state, server.calls, len(cache)) == ("failed", 4, 0)


def test_nobody_listening_is_a_failed_reply() -> None:
    (reply,) = Client(endpoint("http://127.0.0.1:9/v1", retries=0)).ask([asks()])
    assert reply.state == "failed"
    assert "Connect" in reply.reason


def test_retry_after_is_honoured() -> None:
    with FaultServer(in_turn(error(429, "slow down", Retry_After="1"), says("done"))) as server:
        start = time.monotonic()
        (reply,) = Client(endpoint(server.url, max_wait_s=60)).ask([asks()])
    assert reply.text == "done"
    assert time.monotonic() - start >= 1.0
    assert retry_after_s("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert [retry_after_s(value) for value in (None, "", "soon", "2.5")] == [None, None, None, 2.5]


def refuses(*fields: str, status: int = 400) -> Callable[[dict[str, Any], int], Act]:
    """A server that knows some fields not, and names the first one it meets."""

    def behave(body: dict[str, Any], n: int) -> Act:
        for name in fields:
            if name in body:
                hint = " Use max_completion_tokens." if name == "max_tokens" else ""
                return error(status, f"Unsupported parameter: {name}.{hint}")
        return says('{"verdict": "supported"}')

    return behave


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        (("max_tokens",), {"max_completion_tokens", "temperature", "seed", "response_format"}),
        (("temperature",), {"max_tokens", "seed", "response_format"}),
        (("response_format",), {"max_tokens", "temperature", "seed"}),
        (("temperature", "max_tokens", "seed"), {"max_completion_tokens", "response_format"}),
    ],
)
def test_refused_fields_are_left_out_once_and_for_all(fields: tuple[str, ...], kept: set[str]) -> None:
    with FaultServer(refuses(*fields)) as server:
        client = Client(endpoint(server.url))
        first = client.ask([asks(form=Form)])[0]
        before = server.calls
        second = client.ask([asks("again", form=Form)])[0]
    assert (first.state, second.state) == ("ok", "ok")
    assert server.calls == before + 1
    assert set(second.sent) == kept | {"model"}


def test_a_server_that_fails_on_a_json_schema_is_asked_without() -> None:
    behave = refuses("response_format", status=500)
    with FaultServer(behave) as server:
        (reply,) = Client(endpoint(server.url)).ask([asks(form=Form)])
    assert reply.state == "ok"
    assert "response_format" not in reply.sent


def test_a_passing_500_does_not_change_a_form_that_worked() -> None:
    good = says('{"verdict": "supported"}')
    with FaultServer(in_turn(good, error(500, "oh"), error(500, "oh"), good)) as server:
        client = Client(endpoint(server.url))
        replies = [client.ask([asks(text, form=Form)])[0] for text in "ab"]
    assert [reply.sent["response_format"]["type"] for reply in replies] == ["json_schema", "json_schema"]


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict": "supported"}',
        'Sure!\n```json\n{"verdict": "supported"}\n```',
        '<think>{"verdict": "unsupported"}?</think> {"verdict": "supported"} That is it.',
        '{"verdict": "supported"} I repeat: {"verdict": "supported"}',
    ],
)
def test_json_is_found_in_fences_thoughts_and_prose(text: str) -> None:
    with FaultServer(in_turn(says(text))) as server:
        (reply,) = Client(endpoint(server.url)).ask([asks(form=Form)])
    assert reply.data == Form(verdict="supported")
    assert server.calls == 1


@pytest.mark.parametrize(
    "text", ["yes", "{}", '{"verdict": "maybe"}', '{"verdict": 1}', '{"verdict": "supported"', "[" * 9999]
)
def test_what_is_not_the_form_is_not_taken(text: str) -> None:
    assert isinstance(parse(text, Form), str)


def test_two_different_verdicts_are_none() -> None:
    text = 'The passage says {"verdict": "supported"}, but {"verdict": "unsupported"}'
    assert parse(text, Form) == "2 different objects"


def test_bad_json_is_repaired_once() -> None:
    with FaultServer(in_turn(says("supported!"), says('{"verdict": "supported"}'))) as server:
        (reply,) = Client(endpoint(server.url)).ask([asks(form=Form)])
    assert (reply.data, server.calls) == (Form(verdict="supported"), 2)
    assert reply.usage.completion_tokens == 20
    assert [m["role"] for m in server.bodies[1]["messages"]] == ["system", "user", "assistant", "user"]


def test_json_that_stays_bad_is_a_state_with_the_raw_replies_kept() -> None:
    cache = ReplyCache(None)
    with FaultServer(in_turn(says("no"), says("never"))) as server:
        client = Client(endpoint(server.url), cache)
        first, second = (client.ask([asks(form=Form)])[0] for _ in range(2))
    assert (first.state, first.raw) == ("invalid_json", "no\n---\nnever")
    assert (second.state, server.calls) == ("invalid_json", 2)


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    questions = [asks(str(n)) for n in range(20)]
    with FaultServer(lambda body, n: says(body["messages"][-1]["content"])) as server:
        for _ in range(2):
            client = Client(endpoint(server.url), ReplyCache(tmp_path / "replies.sqlite"))
            replies = client.ask(questions + questions)
            assert [reply.text for reply in replies] == [str(n) for n in range(20)] * 2
        assert server.calls == 20
    assert sum(reply.usage.sent for reply in replies) == 0
    assert sum(reply.usage.prompt_tokens for reply in replies) == 40_000


@pytest.mark.parametrize(
    "change",
    [
        {"model": "other"},
        {"temperature": 0.5},
        {"max_tokens": 7},
        {"identity": "elsewhere"},
        {"base_url": "http://127.0.0.1:1/v1"},
    ],
)
def test_the_key_of_a_reply_holds_all_that_it_depends_on(change: dict[str, Any]) -> None:
    base = endpoint("http://127.0.0.1:2/v1")
    one, other = Client(base), Client(Endpoint(**{**vars(base), **change}))
    assert one.key(asks()) != other.key(asks())
    assert one.key(asks()) == Client(base).key(asks())
    assert len({one.key(asks()), one.key(asks("x")), one.key(asks(variant=1)), one.key(asks(form=Form))}) == 4


def test_a_local_server_on_another_port_is_the_same_endpoint() -> None:
    keys = {Client(endpoint(f"http://127.0.0.1:{port}/v1", identity="local")).key(asks()) for port in (1, 2)}
    assert len(keys) == 1


def test_a_limit_on_calls_stops_cleanly_and_a_rerun_goes_on(tmp_path: Path) -> None:
    cache, questions = ReplyCache(tmp_path / "replies.sqlite"), [asks(str(n)) for n in range(25)]
    with FaultServer(in_turn(says("ok"))) as server:
        for run in range(2):
            with pytest.raises(LimitReached, match=r"max_calls.*run the same command"):
                Client(endpoint(server.url, max_calls=10), cache).ask(questions)
            assert server.calls == 10 * (run + 1)
        assert len(Client(endpoint(server.url, max_calls=10), cache).ask(questions)) == 25
        assert server.calls == 25


def test_a_limit_on_cost_is_never_passed() -> None:
    price = {"prompt_usd_per_mtok": 10.0, "completion_usd_per_mtok": 100.0, "max_tokens": 10}
    with FaultServer(in_turn(says("ok", prompt_tokens=12))) as server:
        client = Client(endpoint(server.url, max_cost_usd=0.02, max_concurrency=4, **price))
        with pytest.raises(LimitReached, match="max_cost_usd"):
            client.ask([asks(str(n)) for n in range(100)])
    assert 0.015 < client.cost_usd <= 0.02
    assert server.calls < 100
    with pytest.raises(ConfigError, match="prices"):
        endpoint("http://127.0.0.1/v1", max_cost_usd=1.0)


def test_a_forecast_counts_without_sending() -> None:
    end = endpoint("http://127.0.0.1:9/v1", prompt_usd_per_mtok=1.0, completion_usd_per_mtok=2.0, max_tokens=100)
    seen = forecast(end, [asks("a b c"), asks("d", max_tokens=10)], lambda texts: [len(t.split()) for t in texts])
    assert seen == Forecast(2, 2 + 3 + 2 + 1 + 16, 110, (24 + 220) / 1e6)


def test_the_key_reaches_the_server_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BENCH_TEST_KEY", KEY)
    acts = in_turn(
        error(401, f"bad key {KEY}"), says(f"your key is {KEY}"), Act(302, "", {"Location": "http://127.0.0.1:9/"})
    )
    path = tmp_path / "replies.sqlite"
    with FaultServer(acts) as server:
        client = Client(endpoint(server.url, api_key_env="BENCH_TEST_KEY", retries=0), ReplyCache(path))
        replies = [client.ask([asks(text)])[0] for text in "abc"]
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert [reply.state for reply in replies] == ["failed", "ok", "failed"]
    assert "302" in replies[2].reason
    client.cache.close()
    shown = repr(replies) + repr(client.endpoint) + repr(vars(client))
    assert KEY not in shown
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


@pytest.mark.parametrize("url", ["ftp://host/v1", "file:///etc/passwd", "host/v1", "http://user:secret@host/v1"])
def test_only_plain_http_urls_are_endpoints(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        endpoint(url)
    assert "secret" not in str(caught.value)


def test_it_can_be_called_inside_an_event_loop() -> None:
    async def main() -> str:
        with FaultServer(in_turn(says("ok"))) as server:
            return Client(endpoint(server.url)).ask([asks()])[0].text

    assert asyncio.run(main()) == "ok"


def test_concurrency_is_used_and_bounded() -> None:
    running: list[int] = []
    busy = 0

    def behave(body: dict[str, Any], n: int) -> Act:
        nonlocal busy
        busy += 1
        running.append(busy)
        time.sleep(0.05)
        busy -= 1
        return says("ok")

    with FaultServer(behave) as server:
        Client(endpoint(server.url, max_concurrency=6)).ask([asks(str(n)) for n in range(48)])
    assert max(running) == 6


ASK_200 = """
import sys
from pathlib import Path
from bench.llm import Client, ReplyCache
from bench.replies import Endpoint, Request
client = Client(Endpoint(model="m", base_url=sys.argv[1], max_concurrency=4), ReplyCache(Path(sys.argv[2])))
replies = client.ask([Request((("user", f"question {n}"),)) for n in range(200)])
print(sum(reply.text == f"answer {n}" for n, reply in enumerate(replies)))
"""


def test_killed_in_the_middle_of_200_calls_only_the_missing_ones_are_sent(tmp_path: Path) -> None:
    def behave(body: dict[str, Any], n: int) -> Act:
        return Act(body=completion(body["messages"][0]["content"].replace("question", "answer")), delay_s=0.02)

    path = tmp_path / "replies.sqlite"
    with FaultServer(behave) as server:
        command = [sys.executable, "-c", ASK_200, server.url, str(path)]
        first = subprocess.Popen(command, stdout=subprocess.PIPE)
        while server.answered < 80:
            assert first.poll() is None
            time.sleep(0.005)
        os.kill(first.pid, signal.SIGKILL)
        first.communicate()
        kept, before = len(ReplyCache(path)), server.calls
        assert 70 <= kept <= before < 200
        again = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        asked = [body["messages"][0]["content"] for body in server.bodies]
    assert again.stdout.strip() == "200"
    assert len(asked) - before == 200 - kept
    assert len(set(asked)) == 200
    assert len(asked) - 200 <= 4


@pytest.mark.parametrize(
    ("group", "name"),
    [
        ("generator", "openai"),
        ("judge", "openai"),
        ("chunker", "propositions"),
        ("chunker", "blurb"),
        ("chunker", "lumber"),
    ],
)
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("model", '" "', "has no value"),
        ("base_url", "ftp://here", "got 'ftp://here'; allowed: an http or https URL"),
        ("base_url", "https://me:secret@here", "holds a user name or password"),
        ("max_tokens", "0", "got 0; allowed: at least 1"),
        ("temperature", "-1", "got -1.0; allowed: at least 0"),
        ("read_timeout_s", "1", "got 1.0; allowed: at least 120"),
        ("max_cost_usd", "3", "needs prices; set prompt_usd_per_mtok"),
        ("prompts", "/no/such/folder", "/no/such/folder"),
    ],
)
def test_errors_name_the_key_that_the_user_sets(group: str, name: str, field: str, value: str, message: str) -> None:
    extra = ["chunker.tokenizer=minilm"] if group == "chunker" else []
    with pytest.raises(ConfigError, match=rf"^{group}\.{field}: .*{re.escape(message)}") as caught:
        choose(group, [f"{group}.model=m", *extra, f"{group}.{field}={value}"], name)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("pragma", ["max_page_count=4", "query_only=1"])
def test_a_reply_that_cannot_be_kept_is_one_error_of_the_store(tmp_path: Path, pragma: str) -> None:
    """A full disk, a file that turned read-only: no point may be called failed for it, however many calls were out."""
    cache = ReplyCache(tmp_path / "replies.sqlite")
    cache._db.execute(f"PRAGMA {pragma}")
    with FaultServer(in_turn(says("x" * 20_000))) as server:
        client = Client(endpoint(server.url, max_concurrency=4), cache)
        with pytest.raises(
            StoreError, match=r"replies\.sqlite: the reply cache fails \(.*\); .*, then run again"
        ) as caught:
            client.ask([asks(str(n)) for n in range(8)])
    assert "\n" not in str(caught.value)


def test_a_damaged_reply_is_one_error_of_the_store(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "replies.sqlite")
    client = Client(endpoint("http://127.0.0.1:9/v1"), cache)
    cache._db.execute("INSERT INTO replies VALUES (?, 'm', '{')", (client.key(asks()),))
    with pytest.raises(StoreError, match="delete the file"):
        client.ask([asks()])
