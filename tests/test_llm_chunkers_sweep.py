"""Sweeps of strategies that ask a language model: what they would send, limits, resumption, counted at the server."""

from __future__ import annotations

import json
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.answer_forecast import Cutting
from bench.chunkers.asking import Asking, CountedChat
from bench.chunkers.base import Tools
from bench.chunkers.blurb import Blurb
from bench.chunkers.fixed import Fixed
from bench.chunkers.lumber import Lumber
from bench.chunkers.propositions import Propositions
from bench.chunkers.run import chunk_corpus
from bench.llm import Client
from bench.report.data import SweepData
from bench.serve import open_chat
from bench.tokenize import get_tokenizer
from bench.types import Document
from tests.faultserver import error
from tests.ruleserver import Asked, RuleServer, beyond, mixed, number, obedient
from tests.small import DOCUMENTS, write_corpus
from tests.test_sweep import start

CORPUS = [Document(name, text, name.rpartition(".")[2]) for name, text in DOCUMENTS.items()]  # type: ignore[arg-type]
COUNT = get_tokenizer("minilm").count


@pytest.fixture
def server() -> Iterator[RuleServer]:
    with RuleServer() as running:
        yield running


def sizes(kind: type[Asking]) -> dict[str, int]:
    return {"size": 40, "paragraph": 8} if kind is Lumber else {"size": 20}


def sent(kind: type[Asking], server: RuleServer) -> tuple[Cutting, str, CountedChat]:
    """The forecast of a strategy, its words, and what it then took."""
    chunker = kind(model="m", base_url=server.url, retries=0, **sizes(kind))  # type: ignore[arg-type]
    cutting = Cutting(CORPUS, COUNT)
    words = cutting.add(chunker)
    assert server.calls == 0
    chat = CountedChat(Client(chunker.endpoint()))
    chunk_corpus(chunker, CORPUS, Tools(get_tokenizer, chat=chat))  # type: ignore[arg-type]
    return cutting, words, chat


def prompt_tokens(server: RuleServer) -> int:
    """What a forecast counts of the prompts that arrived."""
    texts = [message["content"] for body in server.bodies for message in body["messages"]]
    return int(COUNT(texts).sum()) + 4 * len(texts)


@pytest.mark.parametrize("kind", [Blurb, Propositions])
def test_a_forecast_is_what_is_sent(kind: type[Asking], server: RuleServer) -> None:
    cutting, words, chat = sent(kind, server)
    assert server.calls > 10
    assert words == f"{server.calls} calls to cut"
    assert (cutting.total.calls, cutting.bound) == (server.calls, False)
    assert cutting.total.prompt_tokens == prompt_tokens(server)
    assert cutting.total.completion_tokens >= chat.usage.completion_tokens


@pytest.mark.parametrize("rule", [obedient, number(2), beyond, number(3)])
def test_where_calls_depend_on_replies_the_forecast_is_a_bound(
    rule: Callable[[Asked], object], server: RuleServer
) -> None:
    server.rule = rule  # type: ignore[assignment]
    cutting, words, chat = sent(Lumber, server)
    match = re.fullmatch(r"(\d+) to (\d+) calls to cut", words)
    assert match
    least, most = map(int, match.groups())
    assert least < most == cutting.total.calls
    assert cutting.bound
    assert least <= server.calls <= most
    assert prompt_tokens(server) <= cutting.total.prompt_tokens
    assert chat.usage.completion_tokens <= cutting.total.completion_tokens
    if rule is beyond:
        assert server.calls == least


def test_the_nearest_break_each_time_takes_the_most(server: RuleServer) -> None:
    server.rule = number(2)
    cutting, _, _ = sent(Lumber, server)
    assert server.calls == cutting.total.calls
    assert prompt_tokens(server) == cutting.total.prompt_tokens


def test_equal_calls_of_several_points_are_counted_once() -> None:
    cutting = Cutting(CORPUS, COUNT)
    prices = {"prompt_usd_per_mtok": 1.0, "completion_usd_per_mtok": 2.0}
    chunker = Propositions(model="m", size=20, **prices)
    words = cutting.add(chunker)
    once = cutting.total
    assert cutting.add(Propositions(model="m", size=20, unplaced="drop", **prices)) == words
    assert cutting.total == once
    assert once.price_usd == pytest.approx((once.prompt_tokens + 2 * once.completion_tokens) / 1e6)
    assert cutting.add(Fixed()) == ""
    cutting.add(Blurb(model="m", size=20))
    assert cutting.total.calls > once.calls
    assert cutting.total.price_usd is None


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: RuleServer) -> list[str]:
    """Command of a sweep over the small corpus whose strategies ask the server."""
    documents, golden = write_corpus(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    corpus = ["corpus=folder", f"corpus.documents={documents}", f"corpus.golden={golden}"]
    model = [f"chunker.base_url={server.url}", "chunker.model=m"]
    return ["sweep", *corpus, "embedder=static", "generator=none", "sweep.name=t", *model]


SIZED = {
    "blurb": ["chunker=blurb", "chunker.size=20"],
    "lumber": ["chunker=lumber", "chunker.size=40", "chunker.paragraph=8"],
    "propositions": ["chunker=propositions", "chunker.size=20"],
}


@pytest.mark.parametrize("name", ["blurb", "propositions"])
def test_the_verb_forecasts_and_then_sends_so_much(
    name: str, base: list[str], server: RuleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*base, *SIZED[name]]
    assert main([*command, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert server.calls == 0
    assert "nothing was sent" in shown
    assert main(command) == 0
    assert f": {server.calls} calls to cut" in shown
    assert f"chunker: {server.calls} calls, {prompt_tokens(server)} prompt tokens, at most " in shown
    record = SweepData.read(Path("results/t")).points[0]
    assert record.realised["cutting_calls"] == record.realised["cutting_calls_sent"] == server.calls
    assert record.realised["cutting_replies"] == {"ok": server.calls}
    assert record.realised["cutting_lost"] == {}


def test_the_record_says_what_replies_were_no_good_for(base: list[str], server: RuleServer) -> None:
    server.rule = mixed
    assert main([*base, *SIZED["propositions"]]) == 0
    found = SweepData.read(Path("results/t")).points[0].realised
    assert found["cutting_lost"]["passages without propositions"] > 0
    assert sum(found["cutting_replies"].values()) == found["cutting_calls"] <= server.calls


@pytest.mark.parametrize("name", SIZED)
def test_the_chosen_chunks_are_cut_outside_of_the_sweep_and_paid_once(
    name: str, base: list[str], server: RuleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*base, *SIZED[name]]) == 0
    record = SweepData.read(Path("results/t")).points[0]
    Path("production.yaml").write_text(json.dumps(record.config), encoding="utf-8")
    sent = server.calls
    cut = ["cut", "mine/documents", "--config", "production.yaml", "-o", "chunks.jsonl"]
    assert main(cut) == 0
    rows = [json.loads(line) for line in Path("chunks.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == record.realised["chunks"]
    assert server.calls == sent
    shutil.rmtree(".cache")
    open_chat.cache_clear()
    assert main(cut) == 0
    assert server.calls == 2 * sent


def test_inspecting_asks_nothing_and_keeps_to_the_cache_it_is_given(base: list[str], server: RuleServer) -> None:
    assert main([*base, *SIZED["blurb"]]) == 0
    sent = server.calls
    Path(".cache").rename("elsewhere")
    open_chat.cache_clear()
    assert main(["inspect", "ferry.md", "--sweep", "results/t", "--cache", "elsewhere"]) == 0
    assert server.calls == sent
    assert not Path(".cache").exists()


def restarted(command: list[str]) -> int:
    """Run the command as a new process would: limits count from nought, replies come from the file."""
    open_chat.cache_clear()
    return main(command)


@pytest.mark.parametrize(("name", "limit"), [("blurb", 9), ("lumber", 3), ("propositions", 9)])
def test_max_calls_stops_and_the_same_command_goes_on(
    name: str, limit: int, base: list[str], server: RuleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*base, *SIZED[name], f"chunker.max_calls={limit}"]
    for run in range(1, 9):
        code = restarted(command)
        asked = [str(body["messages"]) for body in server.bodies]
        assert len(set(asked)) == len(asked), "a call was repeated"
        error = capsys.readouterr().err
        if code == 0:
            break
        assert code == 3
        assert server.calls == limit * run
        assert f"max_calls: reached after {limit} calls" in error
        assert "1 points have no record: run the same command to go on" in error
    else:
        pytest.fail("it never came to its end")
    assert server.calls > limit
    record = SweepData.read(Path("results/t")).points[0]
    assert record.realised["cutting_calls"] == server.calls
    assert record.realised["cutting_calls_sent"] <= limit


@pytest.mark.filterwarnings("ignore:constrained_layout not applied")  # figures of a point with so long a label
def test_max_cost_stops_before_it_is_passed(
    base: list[str], server: RuleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    prices = ["chunker.prompt_usd_per_mtok=1", "chunker.completion_usd_per_mtok=1", "chunker.max_cost_usd=0.002"]
    assert restarted([*base, *SIZED["blurb"], *prices]) == 3
    error = capsys.readouterr().err
    spent = re.search(r"max_cost_usd: reached after (\d+) calls, ([\d.]+) USD", error)
    assert spent
    assert 0 < float(spent[2]) <= 0.002
    assert int(spent[1]) == server.calls > 0
    before = server.calls
    assert restarted([*base, *SIZED["blurb"], *prices[:2], "chunker.max_cost_usd=1"]) == 0
    asked = [str(body["messages"]) for body in server.bodies]
    assert len(asked) == len(set(asked)) > before


@pytest.mark.parametrize("name", ["blurb", "lumber"])
def test_a_killed_sweep_sends_only_what_is_missing(
    name: str, base: list[str], server: RuleServer, tmp_path: Path
) -> None:
    def slowly(asked: Asked) -> object:
        time.sleep(0.05)
        return obedient(asked)

    server.rule = slowly  # type: ignore[assignment]
    command = [*base, *SIZED[name]]
    with start(command, tmp_path) as running:
        deadline = time.monotonic() + 120
        while server.calls < 6 and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        running.send_signal(signal.SIGKILL)
    before = server.calls
    assert before >= 6
    server.rule = obedient
    assert restarted(command) == 0
    asked = [str(body["messages"]) for body in server.bodies]
    assert server.calls > before
    assert len(asked) - len(set(asked)) <= 1, "more was sent again than the call that was under way"
    assert SweepData.read(Path("results/t")).points[0].realised["cutting_calls"] == len(set(asked))


def test_a_setting_that_only_the_swept_strategies_have(base: list[str], server: RuleServer) -> None:
    """``chunker.model`` is none of the default strategy's: it must reach the points all the same."""
    assert main([*base, "chunker=blurb,propositions", "chunker.size=20"]) == 0
    data = SweepData.read(Path("results/t"))
    assert sorted(record.config["chunker"]["model"] for record in data.points) == ["m", "m"]
    assert server.calls > 10


def test_a_call_that_fails_is_a_recorded_failure_and_the_rest_is_kept(base: list[str], server: RuleServer) -> None:
    def sometimes(asked: Asked) -> object:
        return error(400, "no") if "pilot" in asked.passages[-1] else obedient(asked)

    server.rule = sometimes  # type: ignore[assignment]
    assert main([*base, *SIZED["blurb"]]) == 3
    (failed,) = SweepData.read(Path("results/t")).failed
    assert re.search(r"1 of \d+ calls of m failed \(HTTP 400: .*no.*\); run the same command again", failed.reason)
    before, server.rule = server.calls, obedient
    assert main([*base, *SIZED["blurb"]]) == 0
    found = SweepData.read(Path("results/t")).points[0].realised
    assert found["cutting_calls_sent"] == server.calls - before < found["cutting_calls"]
