"""Semantic and cluster-semantic chunks: against the packages they come from, and against brute force."""

from __future__ import annotations

import importlib.util
import itertools
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.chunkers.base import Tools
from bench.chunkers.cluster_semantic import ClusterSemantic, best_borders
from bench.chunkers.run import chunk_corpus
from bench.chunkers.semantic import AMOUNTS, Semantic, above
from bench.embedders.base import unit
from bench.tokenize import get_tokenizer
from bench.types import Document, Floats
from tests.hashing import HashEmbedder

TOPICS = (
    "The ferry leaves at six. The ferry carries bicycles. The ferry crew eats early. Tickets for the ferry are cheap. "
    "Volcanoes hide magma deep below. Magma rises in volcanoes. Lava is magma that has left volcanoes. "
    "Bees build wax cells. Honey fills the cells of bees. Bees dance for honey. A queen leads the bees. "
)


def hashed(texts: Sequence[str]) -> Floats:
    return HashEmbedder().encode(texts, "passage")


TOOLS = Tools(get_tokenizer, hashed)


def parts(chunker: Semantic | ClusterSemantic, text: str, tools: Tools = TOOLS) -> list[str]:
    return [chunk.indexed_text for chunk in chunker.cut(Document("d", text), tools)]


class Embeddings:
    """What LangChain wants of an embedder."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return hashed(texts).astype(np.float64).tolist()


@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("langchain_experimental", "langchain_community")),
    reason="langchain-experimental is not installed",
)
@pytest.mark.parametrize("buffer", [0, 1, 3])
@pytest.mark.parametrize("amount", [None, 60.0, 1.0, 0.5])
@pytest.mark.parametrize("way", AMOUNTS)
def test_breaks_are_those_of_langchain(way: str, amount: float | None, buffer: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from langchain_experimental.text_splitter import SemanticChunker
    text = (TOPICS * 3).strip()
    theirs = SemanticChunker(
        Embeddings(), buffer_size=buffer, breakpoint_threshold_type=way, breakpoint_threshold_amount=amount
    ).split_text(text)
    assert parts(Semantic(size=10_000, breakpoint=way, amount=amount, buffer=buffer), text) == theirs


def test_topics_are_told_apart() -> None:
    found = parts(Semantic(buffer=0, amount=80.0), TOPICS)
    assert [part.split()[0] for part in found] == ["The", "Volcanoes", "Bees"]


def test_breaks_of_known_distances() -> None:
    jumps = np.array([0.1, 0.1, 0.9, 0.1, 0.2, 0.1, 0.1, 0.8, 0.1])
    assert np.flatnonzero(above(jumps, "percentile", 80)).tolist() == [2, 7]
    assert np.flatnonzero(above(jumps, "standard_deviation", 1.0)).tolist() == [2, 7]
    assert np.flatnonzero(above(jumps, "interquartile", 1.5)).tolist() == [2, 7]
    assert np.flatnonzero(above(jumps, "gradient", 75)).tolist() == [1, 6]
    assert not above(np.array([0.5]), "gradient", 0).any()
    assert not above(np.zeros(0), "percentile", 95).any()
    assert not above(np.full(9, 0.5), "percentile", 0).any()


def test_no_empty_chunk_after_trailing_space(shared: Path) -> None:
    text = (shared / "cases/17-semantic-empty-chunk/input.txt").read_text(encoding="utf-8")
    for blank in ("", "\n\n", " \u00a0\u3000", "\r\n\t"):
        result = chunk_corpus(Semantic(amount=0.0), [Document("d", text + blank)], TOOLS)
        assert " ".join(chunk.indexed_text for chunk in result.chunks) == text.strip()
        assert result.uncovered_chars == 0


def test_a_full_stop_of_any_script_ends_a_sentence(shared: Path) -> None:
    chinese = (shared / "cases/19-semantic-cjk/input.txt").read_text(encoding="utf-8").strip()
    hindi, english = "बिल्ली सो रही है। कुत्ता दौड़ता है। ", "Dr. Smith saw 3.5 cats at 9 a.m. today. They slept. "
    for text, language, wanted in ((chinese, "zh", 30), (hindi * 5, "hi", 10), (english * 5, "en", 10)):
        seen: list[str] = []
        tools = Tools(get_tokenizer, lambda texts, seen=seen: (seen.extend(texts), hashed(texts))[1])  # type: ignore[misc]
        Semantic(buffer=0, language=language).cut(Document("d", text), tools)
        assert len(seen) == wanted


def along(distances: Sequence[float]) -> Tools:
    """Tools that embed the i-th text so that its distance to the next is the i-th one."""

    def embed(texts: Sequence[str]) -> Floats:
        turns = np.concatenate(([0.0], np.cumsum(np.arccos(1 - np.array(distances)))))[: len(texts)]
        return np.stack((np.cos(turns), np.sin(turns)), axis=1).astype(np.float32)

    return Tools(get_tokenizer, embed)


def test_the_size_is_a_hard_maximum_cut_at_the_largest_distance() -> None:
    text = " ".join(f"Sentence {word}." for word in ["aa", "bb", "cc", "dd", "ee", "ff"])
    flat = Semantic(size=48, unit="characters", amount=100.0)
    assert parts(flat, text, along([0.1, 0.1, 0.3, 0.2, 0.1])) == [text[:38], text[39:]]
    assert parts(flat, text, along([0.1, 0.3, 0.1, 0.2, 0.1])) == [text[:25], text[26:51], text[52:]]
    assert all(len(part) <= 48 for part in parts(flat, text * 40, Tools(get_tokenizer, hashed)))


def test_small_chunks_wait_for_the_next_break() -> None:
    text = " ".join(f"Sentence {word}." for word in ["aa", "bb", "cc", "dd", "ee", "ff"])
    jumps = along([0.5, 0.1, 0.1, 0.5, 0.1])
    assert len(parts(Semantic(unit="characters", amount=60.0), text, jumps)) == 3
    longer = Semantic(unit="characters", amount=60.0, min_size=20)
    assert parts(longer, text, jumps) == [text[:51], text[52:]]


VECTORS = st.lists(st.lists(st.integers(-4, 4), min_size=3, max_size=3).filter(any), min_size=2, max_size=8)


@settings(max_examples=60, deadline=None)
@given(rows=VECTORS, most=st.integers(1, 5))
def test_no_segmentation_is_better(rows: list[list[int]], most: int) -> None:
    vectors = unit(np.array(rows, dtype=np.float32), len(rows), "v")
    count = len(vectors)
    table = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    table -= table[np.triu_indices(count, k=1)].mean()
    np.fill_diagonal(table, 0)

    def reward(borders: Sequence[int]) -> float:
        return sum(float(table[a:b, a:b].sum()) for a, b in itertools.pairwise(borders))

    every = (
        [0, *inner, count]
        for size in range(count)
        for inner in itertools.combinations(range(1, count), size)
        if max(np.diff([0, *inner, count])) <= most
    )
    found = best_borders(vectors, np.minimum(np.arange(count) + 1, most))
    assert max(np.diff(found)) <= most
    assert reward(found) == pytest.approx(max(map(reward, every)), abs=1e-6)


def published(vectors: Floats, most: int) -> list[int]:
    """Borders by the published algorithm: the whole matrix of similarities, its blocks summed one by one."""
    count = len(vectors)
    table = (vectors @ vectors.T).astype(np.float64)
    table -= table[np.triu_indices(count, k=1)].mean()
    np.fill_diagonal(table, 0)
    best, start = np.zeros(count), np.zeros(count, dtype=int)
    for end in range(count):
        for size in range(1, min(most, end + 1) + 1):
            low = end - size + 1
            total = table[low : end + 1, low : end + 1].sum() + (best[low - 1] if low else 0)
            if total > best[end] or size == 1:
                best[end], start[end] = total, low
    borders = [count]
    while borders[-1]:
        borders.append(int(start[borders[-1] - 1]))
    return borders[::-1]


def test_the_published_clusters() -> None:
    rng = np.random.default_rng(7)
    vectors = unit(rng.normal(size=(400, 24)).cumsum(axis=0).astype(np.float32), 400, "v")
    for most in (1, 2, 4, 8):
        assert best_borders(vectors, np.minimum(np.arange(400) + 1, most)) == published(vectors, most)


def test_clusters_follow_topics() -> None:
    words = re.findall(r"[^.]+\. ?", TOPICS)
    chunker = ClusterSemantic(size=130, unit="characters", atom=max(map(len, words)))
    found = parts(chunker, TOPICS)
    assert all(len(part) <= 130 for part in found)
    assert sum("ferry" in part and "agma" in part for part in found) == 0
    by_count = ClusterSemantic(size=130, unit="characters", atom=43, limit="atoms")
    assert max(part.count(".") for part in parts(by_count, TOPICS)) <= 3
