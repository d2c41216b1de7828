"""The promises of all strategies, kept by those that ask a language model, whatever text they get and reply they hear.

Over the wire: a server on loopback answers by rule, obediently or in every odd way.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from bench.chunkers.asking import Asking, CountedChat
from bench.chunkers.base import Tools
from bench.chunkers.blurb import Blurb
from bench.chunkers.lumber import Lumber
from bench.chunkers.propositions import Propositions, place
from bench.chunkers.run import chunk_corpus
from bench.errors import ChunkingError
from bench.llm import Client
from bench.models import find_model, require_model
from bench.serve import LocalServer
from bench.tokenize import get_tokenizer
from bench.types import Document, Span
from tests.ruleserver import BROKEN, ODD, RuleServer, mixed, obedient
from tests.test_chunkers import HOSTILE, TEXTS
from tests.test_strategies import promises

TOKENS = {"unit": "tokens", "tokenizer": "cl100k", "size": 24}
CHARACTERS = {"unit": "characters", "size": 60}
KINDS: dict[str, tuple[type[Asking], dict[str, Any]]] = {
    "blurb": (Blurb, {**TOKENS, "overlap": 5}),
    "blurb_characters": (Blurb, {**CHARACTERS, "base": "sentence", "around_chars": 90}),
    "lumber": (Lumber, {**TOKENS, "paragraph": 8}),
    "lumber_characters": (Lumber, {**CHARACTERS, "paragraph": 20, "language": "ja"}),
    "propositions": (Propositions, TOKENS),
    "propositions_characters": (Propositions, {**CHARACTERS, "base": "paragraph", "handed": "passage"}),
    "propositions_dropped": (Propositions, {**CHARACTERS, "base": "recursive", "unplaced": "drop"}),
    "propositions_passage": (Propositions, {**CHARACTERS, "overlap": 15, "unplaced": "passage"}),
}
LENGTH = 1500


@pytest.fixture(scope="module")
def server() -> Iterator[RuleServer]:
    with RuleServer() as running:
        yield running


def made(name: str, server: RuleServer, **more: Any) -> tuple[Asking, CountedChat, Tools]:
    """A strategy, and tools with a client of its own, whose cache is empty."""
    kind, parameters = KINDS[name]
    chunker = kind(**{"model": "m", "base_url": server.url, "retries": 0, **parameters, **more})
    chat = CountedChat(Client(chunker.endpoint()))
    return chunker, chat, Tools(get_tokenizer, chat=chat)


@pytest.mark.parametrize("rule", [obedient, mixed])
@pytest.mark.parametrize("name", KINDS)
def test_hostile(name: str, rule: Any, server: RuleServer) -> None:
    server.rule = rule
    chunker, chat, tools = made(name, server)
    for text in HOSTILE.values():
        promises(chunker, tools, text[:LENGTH], "html" if text[:1] == "<" else "md")
    if rule is obedient:
        assert set(chat.states) == {"ok"}


def test_a_long_line_and_a_long_table_take_a_bounded_number_of_calls(server: RuleServer) -> None:
    """5 MB in one line, 10,000 rows: one call a chunk, or one a paragraph at most."""
    server.rule = obedient
    line = "".join(f"Dr. No paid {n}.14 to A. B. Cee, e.g. in cash; then he left. " for n in range(80_000))
    table = "| id | name |\n|---|---|\n" + "".join(f"| {row} | Ada Lovelace |\n" for row in range(10_000))
    for text, size in ((line, 250_000), (table, 12_000)):
        for name in ("blurb", "lumber", "propositions"):
            sizes = {"unit": "characters", "size": size, "max_tokens": 4096}
            more = {"paragraph": size // 4} if name == "lumber" else {}
            chunker, chat, tools = made(name, server, **sizes, **more)
            result = chunk_corpus(chunker, [Document("d", text, "md")], tools)
            assert result.over_limit == 0
            assert result.uncovered_chars == 0 or name == "propositions"
            assert 20 <= chat.usage.sent <= 110
            assert chat.usage.sent == chat.usage.replies


@pytest.mark.parametrize("name", KINDS)
def test_any_text(name: str, server: RuleServer) -> None:
    server.rule = mixed
    chunker, _, tools = made(name, server)

    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
    @given(text=TEXTS)
    def check(text: str) -> None:
        promises(chunker, tools, text)

    check()


TEXT = (
    "The ferry le\u0301aves at six. It carries bicycles.\n\n"
    "Bees build cells. They dance.\n\nLava  is\nmagma. It glows. 👍🏽 9."
)


@pytest.mark.parametrize("rule", ODD)
@pytest.mark.parametrize("name", ["blurb", "lumber", "propositions", "propositions_dropped"])
def test_an_odd_reply_is_never_lost_in_silence(name: str, rule: str, server: RuleServer) -> None:
    """The strategy goes on without it in its documented way, and the record counts how often."""
    server.rule = ODD[rule]
    more = {"paragraph": 4, "size": 12} if name == "lumber" else {"size": 12}
    chunker, chat, tools = made(name, server, **TOKENS | more)
    result = promises(chunker, tools, TEXT)
    lost = chat.spent()["cutting_lost"]
    calls = chat.usage.replies
    assert calls > 1
    assert sum(chat.states.values()) == calls
    if name == "lumber":
        cuts = 0 if rule in ("number_2", "numbers_repeated") else calls
        assert lost == ({"chunks cut at the size": cuts} if cuts else {})
        return
    placed = [chunk for chunk in result.chunks if chunk.span]
    plain = sum(chunk.indexed_text == TEXT[chunk.span.start : chunk.span.end] for chunk in placed if chunk.span)
    if name == "blurb":
        assert lost.get("chunks without a blurb", 0) == plain
        mute = {"nothing", "blank", "refused", "refused_in_words", "cut_off_thinking", "thinking"}
        assert plain == (calls if rule in mute else 0)
        return
    assert lost.get("passages without propositions", 0) == plain
    unplaced = lost.get("propositions without a source", 0)
    kept = sum(chunk.span is None for chunk in result.chunks)
    assert kept == (0 if name == "propositions_dropped" else unplaced)
    if rule.startswith("facts_quote"):
        found = {"spaced", "bare", "inner", "letter", "decomposed"}
        assert (unplaced == 0) == (rule.removeprefix("facts_quote_") in found)
    elif not rule.startswith("facts_half"):
        assert plain == calls


@pytest.mark.parametrize("name", ["blurb", "lumber", "propositions"])
def test_a_call_without_a_reply_is_a_failure_that_says_how_many(name: str, server: RuleServer) -> None:
    for broken in BROKEN.values():
        server.rule = lambda asked, act=broken: act()  # type: ignore[misc]
        chunker, _, tools = made(name, server)
        with pytest.raises(ChunkingError, match=r"[0-9]+ of [0-9]+ calls of m failed \(.+\); run the same"):
            chunk_corpus(chunker, [Document("d", TEXT * 2)], tools)


@pytest.mark.parametrize("name", KINDS)
def test_same_again(name: str, server: RuleServer) -> None:
    """With a cache of its own each time: the server is asked again."""
    server.rule = mixed
    documents = [Document(str(at), text[:300], "md") for at, text in enumerate(HOSTILE.values())]
    results = []
    for order in (documents, documents[::-1]):
        chunker, chat, tools = made(name, server)
        results.append((chunk_corpus(chunker, order, tools), chat.spent()))
    assert results[0] == results[1]


REAL: dict[type[Asking], dict[str, Any]] = {
    Blurb: {"max_tokens": 12},
    Lumber: {"paragraph": 20},
    Propositions: {"max_tokens": 48},
}


@pytest.mark.skipif(
    find_model("smollm2") is None or importlib.util.find_spec("xllamacpp") is None,
    reason="no local model (make models)",
)
def test_a_real_small_model_keeps_the_promises_on_hostile_texts() -> None:
    with LocalServer(require_model("smollm2"), context_tokens=2048, threads=1) as server:
        shared = {"model": "smollm2", "base_url": server.url, "max_concurrency": 1, **CHARACTERS}
        for kind, more in REAL.items():
            chunker = kind(**{**shared, **more})
            chat = CountedChat(Client(chunker.endpoint()))
            for name in ("emoji", "broken_html"):
                promises(chunker, Tools(get_tokenizer, chat=chat), HOSTILE[name][:66])
            assert chat.usage.completion_tokens > 0
            assert sum(chat.states.values()) == chat.usage.replies


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        ("Delete means gone at once.", "Delete” means gone, at once"),
        ('"Delete" means gone', "Delete” means gone"),
        ("Wagons, 18 months", "Wagons | 18 months"),
        ("18. month", None),
        ("means at once", None),
        ("की", None),
        ("!?", None),
    ],
)
def test_quotes_are_found_by_their_words(quote: str, source: str | None) -> None:
    """Punctuation aside, and nothing else: part of a word, a word left out or another vowel sign is another quote."""
    text = "“Delete” means gone, at once. | Wagons | 18 months | कि"
    found = place(Document("d", text), Span("d", 0, len(text)), quote)
    assert (text[found.start : found.end] if found else None) == source
