"""Strategies that ask a language model, over the wire: what becomes of good, odd and failed replies."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from bench.chunkers.asking import Asking, CountedChat
from bench.chunkers.base import Tools
from bench.chunkers.blurb import Blurb
from bench.chunkers.deliver import delivered
from bench.chunkers.lumber import Lumber
from bench.chunkers.propositions import Propositions, place
from bench.chunkers.run import Chunking, chunk_corpus
from bench.errors import ChunkingError, ConfigError
from bench.llm import Client
from bench.models import find_model, require_model
from bench.replies import LimitReached
from bench.serve import LocalServer
from bench.tokenize import get_tokenizer
from bench.types import Document, Hit, Ranking, Span
from tests.faultserver import Act, FaultServer, error, says

TEXT = (
    "The ferry leaves at six.\nIt carries bicycles.\n\nBees build cells.\nThey dance.\n\n"
    "Lava is magma.\nIt glows.\n\nA pilot costs 90 crowns a day."
)
PARAGRAPHS = TEXT.split("\n\n")
DOCUMENT = Document("d", TEXT, "txt", {"title": "Facts"})
Say = Callable[[str], Act]


def run(make: Callable[[str], Asking], say: Say, document: Document = DOCUMENT) -> tuple[Chunking, CountedChat]:
    """Cut a document; ``say`` answers to the text of the user's message."""
    with FaultServer(lambda body, _: say(body["messages"][-1]["content"])) as server:
        chunker = make(server.url)
        chat = CountedChat(Client(chunker.endpoint()))
        return chunk_corpus(chunker, [document], Tools(get_tokenizer, chat=chat)), chat  # type: ignore[arg-type]


def blurb(url: str, **more: Any) -> Blurb:
    return Blurb(model="m", base_url=url, size=50, unit="characters", base="paragraph", retries=0, **more)


def sources(result: Chunking) -> list[str | None]:
    return [TEXT[c.span.start : c.span.end] if c.span else None for c in result.chunks]


def test_a_blurb_stands_before_the_chunk_and_not_in_its_span() -> None:
    def say(shown: str) -> Act:
        chunk = shown.rpartition("<passage>")[2]
        if "Lava" in chunk:
            return says("")
        if "pilot" in chunk:
            return says("Cut off in the", "length")
        return says(f"About  {'ferries' if 'ferry' in chunk else 'bees'}.\n")

    result, chat = run(blurb, say)
    assert sources(result) == PARAGRAPHS
    assert [chunk.indexed_text for chunk in result.chunks] == [
        f"About ferries.\n\n{PARAGRAPHS[0]}",
        f"About bees.\n\n{PARAGRAPHS[1]}",
        PARAGRAPHS[2],
        f"Cut off in the\n\n{PARAGRAPHS[3]}",
    ]
    assert chat.spent()["cutting_replies"] == {"ok": 2, "empty": 1, "truncated": 1}
    assert chat.spent()["cutting_prompt_tokens"] == 4000


def test_the_model_sees_the_surroundings_and_the_title() -> None:
    seen: list[str] = []
    run(lambda url: blurb(url, around_chars=70), lambda shown: (seen.append(shown), says("x"))[1])
    shown = next(one for one in seen if one.rpartition("<passage>")[2].strip().startswith("Bees"))
    assert 'title="Facts"' in shown
    assert "carries bicycles" in shown
    assert "A pilot costs" not in shown


def test_a_call_that_fails_fails_the_point() -> None:
    with pytest.raises(ChunkingError, match="1 of 4 calls of m failed"):
        run(blurb, lambda shown: error(400, "no") if "Lava" in shown.rpartition("<passage>")[2] else says("x"))
    with pytest.raises(LimitReached, match="max_calls"):
        run(lambda url: blurb(url, max_calls=2), lambda shown: says("x"))


def test_prices_are_added_up() -> None:
    _, chat = run(lambda url: blurb(url, prompt_usd_per_mtok=1.0, completion_usd_per_mtok=2.0), lambda shown: says("x"))
    assert chat.usage.price_usd == pytest.approx(4 * (1000 + 20) / 1e6)
    assert (chat.usage.replies, chat.usage.sent) == (4, 4)


def lumber(url: str) -> Lumber:
    return Lumber(model="m", base_url=url, size=104, paragraph=50, unit="characters", retries=0)


def first(number: object) -> Act:
    return says(json.dumps({"first": number}))


def test_the_model_names_the_paragraph_that_begins_a_chunk() -> None:
    shown: list[int] = []

    def say(text: str) -> Act:
        shown.append(len(re.findall("<passage", text)))
        return first(3 if "ferry" in text else 2)

    result, chat = run(lumber, say)
    assert sources(result) == [TEXT[: TEXT.index("\n\nLava")], TEXT[TEXT.index("Lava") :]]
    assert shown == [3]
    assert chat.usage.replies == 1


@pytest.mark.parametrize("reply", [first(1), first(99), first(-2), first("two"), says("no idea"), says("", "length")])
def test_a_number_that_was_not_shown_ends_the_chunk_at_the_size(reply: Act) -> None:
    result, _ = run(lumber, lambda text: reply)
    assert sources(result) == [TEXT[: TEXT.index("\n\nA pilot")], "A pilot costs 90 crowns a day."]
    assert result.over_limit == 0


def test_a_document_that_fits_needs_no_call() -> None:
    result, chat = run(lumber, lambda text: error(500, "not asked"), Document("d", "One.\n\nTwo."))
    assert [chunk.indexed_text for chunk in result.chunks] == ["One.\n\nTwo."]
    assert chat.usage.replies == 0
    assert run(lumber, lambda text: error(500, "not asked"), Document("d", " \n"))[0].chunks == ()


def propositions(**more: Any) -> Callable[[str], Propositions]:
    shared = {"size": 50, "unit": "characters", "base": "paragraph", "retries": 0}
    return lambda url: Propositions(model="m", base_url=url, **{**shared, **more})


def facts(shown: str) -> Act:
    if "ferry" in shown:
        parts = [
            {"text": "The ferry leaves at six.", "quote": "leaves at six"},
            {"text": "The ferry carries bicycles.", "quote": "six. It  carries bicycles."},
        ]
    elif "Bees" in shown:
        parts = [{"text": "Bees dance.", "quote": "Bees dance."}, {"text": " ", "quote": "x"}]
    elif "Lava" in shown:
        parts = []
    else:
        return says("I will not.")
    return says(json.dumps({"propositions": parts}))


def test_propositions_have_the_place_of_their_quote() -> None:
    result, _ = run(propositions(unplaced="drop"), facts)
    assert [(chunk.indexed_text, source) for chunk, source in zip(result.chunks, sources(result), strict=True)] == [
        ("The ferry leaves at six.", "leaves at six"),
        ("The ferry carries bicycles.", "six.\nIt carries bicycles."),
        (PARAGRAPHS[2], PARAGRAPHS[2]),
        (PARAGRAPHS[3], PARAGRAPHS[3]),
    ]
    assert result.uncovered_chars == len("Theferry" + "Beesbuildcells.Theydance.")


def test_a_quote_that_is_not_in_the_passage() -> None:
    undefined, _ = run(propositions(), facts)
    assert [chunk.indexed_text for chunk in undefined.chunks if chunk.span is None] == ["Bees dance."]
    passage, _ = run(propositions(unplaced="passage"), facts)
    assert PARAGRAPHS[1] in sources(passage)


@pytest.mark.parametrize(
    ("handed", "wanted"), [("quote", ["six.\nIt carries bicycles.", "leaves at "]), ("passage", [PARAGRAPHS[0]])]
)
def test_what_is_handed_over_stands_once(handed: str, wanted: list[str]) -> None:
    make = propositions(unplaced="drop", handed=handed)
    chunks = run(make, facts)[0].chunks
    hits = tuple(Hit(at, 1.0, chunks[at].delivered) for at in (1, 0))
    (found,) = delivered(make("http://x"), [Ranking("q", hits)], chunks, {"d": TEXT})
    assert [TEXT[hit.delivered.start : hit.delivered.end] for hit in found.hits if hit.delivered] == wanted
    lost = Ranking("q", (Hit(0, 1.0, None), Hit(1, 0.5, None)))
    assert delivered(make("http://x"), [lost], chunks, {"d": TEXT}) == [lost]


def test_quotes_are_found_letter_by_letter() -> None:
    document = Document("d", "a e\u0301 b. Fee: 9.\u00a0(net) Fee: 9. (net)")
    whole = Span("d", 0, len(document.text))
    assert place(document, whole, "Fee: 9. (net)") == Span("d", 8, 21)
    assert place(document, Span("d", 10, len(document.text)), "Fee: 9. (net)") == Span("d", 22, 35)
    assert place(document, whole, "a e") == Span("d", 0, 4)
    assert place(document, whole, "fee: 9.") is None
    assert place(document, whole, " ") is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Blurb(), "^chunker.model: has no value"),
        (lambda: Blurb(model="m", size=0), "chunker.size"),
        (lambda: Blurb(model="m", around_chars=-1), "chunker.around_chars"),
        (lambda: Blurb(model="m", prompt="blurp"), "did you mean 'blurb'"),
        (lambda: Blurb(model="m", prompts="/no/such"), "chunker.prompts"),
        (lambda: Lumber(model="m", overlap=0.1), "chunker.overlap"),
        (lambda: Lumber(model="m", paragraph=600), "chunker.paragraph"),
        (lambda: Propositions(model="m", unplaced="dropp"), "did you mean 'drop'"),
        (lambda: Propositions(model="m", handed="all"), "chunker.handed"),
        (lambda: Propositions(model="m").cut(DOCUMENT, Tools(get_tokenizer)), "none was handed over"),
    ],
)
def test_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.skipif(
    find_model("smollm2") is None or importlib.util.find_spec("xllamacpp") is None,
    reason="no local model (make models)",
)
def test_a_real_model_writes_blurbs_and_chooses_breaks() -> None:
    with LocalServer(require_model("smollm2"), context_tokens=2048, threads=1) as server:
        shared = {"model": "smollm2", "base_url": server.url, "max_concurrency": 1, "unit": "characters"}
        for chunker in (
            Blurb(**shared, size=60, base="paragraph", max_tokens=24),
            Lumber(**shared, size=104, paragraph=50),
        ):
            chat = CountedChat(Client(chunker.endpoint()))
            result = chunk_corpus(chunker, [DOCUMENT], Tools(get_tokenizer, chat=chat))
            assert result.uncovered_chars == 0
            assert result.over_limit == 0
            assert chat.usage.completion_tokens > 0
            assert set(chat.states) <= {"ok", "truncated"}
