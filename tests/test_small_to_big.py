"""Small to big and multi-scale: what is indexed, what is handed over, at which rank."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.chunkers.base import Tools
from bench.chunkers.deliver import Delivering, delivered, folded, identity, tokens_to_fill
from bench.chunkers.multi_scale import MultiScale
from bench.chunkers.recursive import Recursive
from bench.chunkers.run import chunk_corpus
from bench.chunkers.small_to_big import AutoMerge, ParentChild, SentenceWindow
from bench.pipeline import execute
from bench.plan import plan_sweep
from bench.session import Session
from bench.store import Sweep
from bench.tokenize import get_tokenizer
from bench.types import Chunk, Document, Hit, Ranking
from tests.small import write_corpus

TOOLS = Tools(get_tokenizer)
WORDS = "alfa beta gama delt epsi zeta etaa thet iota kapp lamb muuu"
TEXT = "\n\n".join(f"{word.capitalize()} one. {word.capitalize()} two." for word in WORDS.split())
"""Twelve paragraphs of two sentences: 19 characters each, 2 between them."""


def chunks_of(chunker: Delivering, text: str = TEXT) -> tuple[Chunk, ...]:
    return chunk_corpus(chunker, [Document("d", text)], TOOLS).chunks  # type: ignore[arg-type]


def handed(chunker: Delivering, chunks: Sequence[Chunk], order: Sequence[int], text: str = TEXT) -> list[str]:
    hits = tuple(Hit(at, 1 - rank / 100, chunks[at].delivered) for rank, at in enumerate(order))
    (found,) = delivered(chunker, [Ranking("q", hits)], chunks, {"d": text})
    return [text[hit.delivered.start : hit.delivered.end] for hit in found.hits if hit.delivered]


def test_a_parent_is_handed_over_once_at_its_first_child() -> None:
    chunker = ParentChild(size=20, parent_size=64, unit="characters")
    chunks = chunks_of(chunker)
    assert len(chunks) == 12
    assert [chunk.indexed_text.split()[0] for chunk in chunks[:3]] == ["Alfa", "Beta", "Gama"]
    assert handed(chunker, chunks, [4, 5, 0, 3, 1]) == [TEXT[63:124], TEXT[:61]]
    assert folded(chunker, chunks) == 3


def test_parents_of_any_base() -> None:
    text = "# One\n\nFirst body here.\n\nMore of it.\n\n# Two\n\nSecond body.\n"
    chunker = ParentChild(size=20, parent_size=60, unit="characters", base="markdown")
    chunks = chunks_of(chunker, text)
    assert {text[c.delivered.start : c.delivered.end] for c in chunks if c.delivered} == {text[:36], text[38:-1]}


def test_windows_hand_over_only_what_is_new() -> None:
    chunker = SentenceWindow(window=1)
    chunks = chunks_of(chunker)
    assert len(chunks) == 24
    assert chunks[3].indexed_text == "Beta two."
    assert handed(chunker, chunks, [3, 4, 3, 0]) == [
        "Beta one. Beta two.\n\nGama one.",
        " Gama two.",
        "Alfa one. Alfa two.",
    ]


def test_parents_are_merged_once_more_than_the_share_was_hit() -> None:
    chunker = AutoMerge(size=10, levels=[20, 64], unit="characters")
    chunks = chunks_of(chunker)
    assert len(chunks) == 24
    first, second, third, fourth = (chunks[at].indexed_text for at in range(4))
    assert (first, second) == ("Alfa one.", "Alfa two.")
    assert handed(chunker, chunks, [0, 2]) == [first, third]
    assert handed(chunker, chunks, [0, 1]) == [first, " Alfa two."]
    merged = handed(chunker, chunks, [0, 1, 2, 3])
    assert merged == [first, " Alfa two.", third, f" {fourth}\n\n{TEXT[42:61]}"]
    assert handed(AutoMerge(size=10, levels=[20, 64], unit="characters", ratio=0.0), chunks, [0, 2, 9]) == [
        TEXT[:61],
        TEXT[63:124],
    ]
    assert folded(chunker, chunks) == 6


def test_a_child_alone_is_its_parent() -> None:
    chunker = AutoMerge(size=100, levels=[200], unit="characters")
    text = "Short. Text."
    assert handed(chunker, chunks_of(chunker, text), [0], text) == [text]


def test_default_levels() -> None:
    assert AutoMerge(size=128).parents == [512, 2048]


def test_scales_vote_for_passages() -> None:
    chunker = MultiScale(size=84, shares=[1, 0.5, 0.25], handed=0.5, unit="characters")
    chunks = chunks_of(chunker)
    sizes = sorted({len(chunk.indexed_text) for chunk in chunks})
    assert sizes == [19, 40, 82]
    place = {chunk.indexed_text: at for at, chunk in enumerate(chunks)}
    large, middle, small = TEXT[84:166], TEXT[84:124], TEXT[126:145]
    order = [place[small], place[TEXT[:40]], place[large], place[middle]]
    assert handed(chunker, chunks, order) == [TEXT[126:166], middle, TEXT[:40]]
    votes = delivered(chunker, [Ranking("q", tuple(Hit(at, 0.5, None) for at in order))], chunks, {"d": TEXT})[0].hits
    assert [hit.score for hit in votes] == [1 / 61 + 1 / 61, 1 / 61 + 1 / 62, 1 / 61]
    assert folded(chunker, chunks) == 4


def test_scales_that_cut_alike_are_indexed_once() -> None:
    (chunk,) = chunks_of(MultiScale(unit="characters"), "One short text.")
    assert chunk.indexed_text == "One short text."


def test_other_strategies_hand_over_what_they_found() -> None:
    plain, rankings = Recursive(), [Ranking("q", (Hit(0, 1.0, None),))]
    chunks = chunk_corpus(plain, [Document("d", TEXT)], TOOLS).chunks
    assert delivered(plain, rankings, chunks, {}) == rankings
    assert folded(plain, chunks) == 1
    assert identity(plain) == ""
    assert identity(AutoMerge(ratio=0.3)) != identity(AutoMerge(ratio=0.5))
    assert tokens_to_fill(plain, chunks, len).tolist() == [len(chunk.indexed_text) for chunk in chunks]


CHUNKERS = "semantic,parent_child,sentence_window,auto_merge,multi_scale,contextual,elements,page,syntax"


def test_a_sweep_is_charged_for_what_is_handed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents, golden = write_corpus(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    corpus = ["corpus=folder", f"corpus.documents={documents}", f"corpus.golden={golden}", "generator=none"]
    cuts = ["scoring.ks=[1,3]", "scoring.budgets_tokens=[16,64]", "scoring.headline_tokens=64", "chunker.size=24"]
    plan = plan_sweep([*corpus, *cuts, f"chunker={CHUNKERS}", "embedder=static", "sweep.name=s"])
    session, sweep = Session.of(plan.points[0]), Sweep(Path("results/s"))
    for point in plan.points:
        execute(point, session, sweep)
    records = [sweep.record(session.point_id(point)) for point in plan.points]
    points = {record.axes["strategy"]: record for record in records}
    assert {record.status for record in points.values()} == {"complete"}
    assert ",".join(points).count(",") == CHUNKERS.count(",")
    assert points["semantic"].realised["cutting_tokens"] > points["semantic"].realised["embedder_tokens"]
    assert points["semantic"].cost["embedding_tokens"] > points["semantic"].realised["cutting_tokens"]
    assert points["page"].realised["cutting_tokens"] == 0
    for name in ("parent_child", "sentence_window", "auto_merge", "multi_scale"):
        rows = Path("results/s/points") / points[name].point_id / "questions.jsonl"
        for row in map(json.loads, rows.read_text(encoding="utf-8").splitlines()):
            characters = [(hit[0], at) for hit in row["hits"] for at in range(hit[4], hit[5])]
            assert len(set(characters)) == len(characters), name
            assert row["scores"]["context_tokens@tokens=64"] == 64, name
