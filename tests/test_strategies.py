"""What holds for every strategy on any text, those that index or hand over other text than that of their span, too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from omegaconf import OmegaConf

from bench.chunkers.base import Chunker, Sized, Tools
from bench.chunkers.blurb import Blurb
from bench.chunkers.cluster_semantic import ClusterSemantic
from bench.chunkers.contextual import Contextual
from bench.chunkers.deliver import Delivering, delivered, folded, tokens_to_fill
from bench.chunkers.elements import Elements
from bench.chunkers.multi_scale import MultiScale
from bench.chunkers.page import Page
from bench.chunkers.propositions import Propositions
from bench.chunkers.run import Chunking, chunk_corpus
from bench.chunkers.semantic import Semantic
from bench.chunkers.small_to_big import AutoMerge, ParentChild, SentenceWindow
from bench.chunkers.syntax import Syntax
from bench.config import build
from bench.embedders.base import unit
from bench.errors import ConfigError
from bench.spans import intervals, length, union
from bench.tokenize import get_tokenizer
from bench.types import Document, Floats, Hit, Ranking
from tests.test_chunkers import HOSTILE, TEXTS, cluster_borders, lengths

TOKENS = {"unit": "tokens", "tokenizer": "cl100k", "size": 24}
CHARACTERS = {"unit": "characters", "size": 60}
STRATEGIES: dict[str, Chunker] = {
    "semantic": Semantic(**TOKENS),
    "semantic_gradient": Semantic(**CHARACTERS, breakpoint="gradient", min_size=20, buffer=0),
    "semantic_interquartile": Semantic(**TOKENS, breakpoint="interquartile", buffer=2),
    "semantic_deviation": Semantic(**CHARACTERS, breakpoint="standard_deviation", amount=0.5, language="ja"),
    "cluster": ClusterSemantic(**TOKENS, atom=6),
    "cluster_atoms": ClusterSemantic(**CHARACTERS, atom=15, limit="atoms"),
    "parent_child": ParentChild(**TOKENS),
    "parent_child_markdown": ParentChild(**CHARACTERS, parent_size=200, base="markdown"),
    "sentence_window": SentenceWindow(**TOKENS, window=1),
    "auto_merge": AutoMerge(**TOKENS),
    "auto_merge_characters": AutoMerge(**CHARACTERS, levels=[100, 150, 400], ratio=0.3, base="html"),
    "contextual": Contextual(**TOKENS, overlap=0.25),
    "contextual_html": Contextual(**CHARACTERS, base="html", levels=1),
    "elements": Elements(**TOKENS),
    "elements_packed": Elements(**CHARACTERS, overlap=15, isolate=False, merge=True),
    "page": Page(**TOKENS, overlap=5),
    "syntax": Syntax(**TOKENS, language="python"),
    "syntax_characters": Syntax(**CHARACTERS, overlap=10, language="javascript"),
    "multi_scale": MultiScale(**CHARACTERS),
    "multi_scale_sentences": MultiScale(**TOKENS, shares=[1, 0.4], handed=0.4, base="sentence"),
}
COUNTED = (Contextual, MultiScale, ClusterSemantic, Blurb, Propositions)
"""Strategies whose base counts tokens of each piece on its own, as LangChain does."""


def by_letters(texts: Sequence[str]) -> Floats:
    """Unit vectors of character counts: quick, and any text has one."""
    rows = [np.bincount(np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32) % 31, minlength=31) for text in texts]
    return unit(np.stack(rows).astype(np.float32), len(texts), "letters")


TOOLS = Tools(get_tokenizer, by_letters)


def check(name: str, text: str, kind: str = "md") -> Chunking:
    """Check every promise of a strategy of ``STRATEGIES`` on one text."""
    return promises(STRATEGIES[name], TOOLS, text, kind)


def promises(chunker: Chunker, tools: Tools, text: str, kind: str = "md") -> Chunking:
    """Check every promise of a strategy on one text; one that asks a language model, whatever that says."""
    document = Document("d", text, kind, {"title": "On ferries", "language": "python"})  # type: ignore[arg-type]
    result = chunk_corpus(chunker, [document], tools)
    borders, covered = cluster_borders(text), np.zeros(len(text), dtype=bool)
    facts = isinstance(chunker, Propositions)
    for chunk in result.chunks:
        assert chunk.indexed_text.strip()
        assert (chunk.span is None) == (chunk.delivered is None)
        if chunk.span is None or chunk.delivered is None:
            assert facts
            continue
        start, end = chunk.span.start, chunk.span.end
        assert facts or chunk.indexed_text.endswith(text[start:end])
        assert text[start:end].strip()
        assert {start, end, chunk.delivered.start, chunk.delivered.end} <= borders
        covered[start:end] = True
    left = [at for at in np.flatnonzero(~covered).tolist() if not text[at].isspace()]
    assert result.uncovered_chars == len(left)
    assert facts or not left
    assert isinstance(chunker, Sized)
    spans = [chunk.span for chunk in result.chunks if chunk.span]
    over = [span for span, size in zip(spans, lengths(chunker, spans, text), strict=True) if size > chunker.size]
    assert len(over) == result.over_limit
    assert all(excusable(chunker, text[span.start : span.end]) for span in over)
    return result


def excusable(chunker: Sized, part: str) -> bool:
    """True if a chunk may be over its limit: one cluster or tag cannot be cut, pieces may have been counted apart."""
    if isinstance(chunker, COUNTED) and chunker.unit == "tokens":
        return int(get_tokenizer(chunker.tokenizer).count([part])[0]) <= chunker.size or len(cluster_borders(part)) == 2
    tags = getattr(chunker, "base", "") == "html" or isinstance(chunker, Elements)
    return len(cluster_borders(part)) == 2 or (tags and "<" in part)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("name", STRATEGIES)
def test_hostile(name: str, text: str) -> None:
    check(name, text[:60_000], "html" if text[:1] == "<" else "md")


@pytest.mark.parametrize("kind", ["md", "html"])
@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS)
def test_any_text(name: str, kind: str, text: str) -> None:
    check(name, text, kind)


@pytest.mark.parametrize("name", STRATEGIES)
def test_same_again(name: str) -> None:
    documents = [Document(str(i), text[:2000], "md") for i, text in enumerate(HOSTILE.values())]
    first = chunk_corpus(STRATEGIES[name], documents, TOOLS)
    assert first == chunk_corpus(STRATEGIES[name], documents[::-1], TOOLS)


DELIVERING = [name for name, chunker in STRATEGIES.items() if isinstance(chunker, Delivering)]


@pytest.mark.parametrize("kind", ["japanese", "table", "long_line", "crlf"])
@pytest.mark.parametrize("name", DELIVERING)
def test_what_is_handed_over(name: str, kind: str) -> None:
    chunker, text = STRATEGIES[name], HOSTILE[kind][:6000]
    chunks = chunk_corpus(chunker, [Document("d", text, "md")], TOOLS).chunks
    weight = tokens_to_fill(chunker, chunks, len)
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(chunks)).tolist()
        for depth in (1, 3, len(chunks) // 2 + 1):
            hits = tuple(Hit(at, 1.0 - rank / 1e4, chunks[at].delivered) for rank, at in enumerate(order[:depth]))
            (handed,) = delivered(chunker, [Ranking("q", hits)], chunks, {"d": text})
            spans = intervals((hit.delivered.start, hit.delivered.end) for hit in handed.hits if hit.delivered)
            assert length(spans) == length(union(spans)), "a character is handed over twice"
            assert all(text[start:end].strip() for start, end in spans.tolist())
            found = intervals((s.start, s.end) for at in order[:depth] if (s := chunks[at].span))
            assert length(union(np.concatenate((spans, found)))) - length(spans) <= text.count(" ") + text.count("\n")
            assert len(handed.hits) * folded(chunker, chunks) >= depth
            assert length(spans) >= weight[order[:depth]].sum()
            scores = [hit.score for hit in handed.hits]
            assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("target", "parameters", "message"),
    [
        (Semantic, {"overlap": 0.1}, "chunker.overlap: got 0.1"),
        (Semantic, {"breakpoint": "percentil"}, "did you mean 'percentile'"),
        (Semantic, {"amount": 101.0}, "chunker.amount: got 101"),
        (Semantic, {"min_size": 300}, "chunker.min_size: got 300"),
        (Semantic, {"buffer": -1}, "chunker.buffer"),
        (ClusterSemantic, {"limit": "sizes"}, "did you mean 'size'"),
        (ClusterSemantic, {"atom": 0}, "chunker.atom: got 0"),
        (ParentChild, {"parent_size": 256}, "chunker.parent_size: got 256"),
        (ParentChild, {"base": "recursiv"}, "did you mean 'recursive'"),
        (SentenceWindow, {"window": -1}, "chunker.window"),
        (AutoMerge, {"levels": [512, 100]}, "chunker.levels"),
        (AutoMerge, {"ratio": 1.0}, "chunker.ratio: got 1.0"),
        (Contextual, {"levels": 7}, "chunker.levels: got 7"),
        (Syntax, {"language": "klingon"}, "chunker.language: got 'klingon'"),
        (MultiScale, {"shares": [0.5, 1.0]}, "chunker.shares"),
        (MultiScale, {"handed": 0.3}, "chunker.handed: got 0.3"),
        (MultiScale, {"constant": -1}, "chunker.constant"),
    ],
)
def test_refused(target: type, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        target(**parameters)


CONF = Path(__file__).parents[1] / "conf" / "chunker"
NAMES = (
    "semantic cluster_semantic cluster_chroma parent_child sentence_window auto_merge contextual elements page syntax"
)


@pytest.mark.parametrize("name", [*NAMES.split(), "multi_scale"])
def test_configuration_states_the_defaults(name: str) -> None:
    node = OmegaConf.merge({"tokenizer": "minilm"}, {"chunker": OmegaConf.load(CONF / f"{name}.yaml")}).chunker
    made = build(node, "chunker")
    if name != "cluster_chroma":
        sizes = {"size": made.size}
        assert made == type(made)(**sizes)


@pytest.mark.parametrize("chunker", [Semantic(), ClusterSemantic(size=60, atom=6)])
def test_meaning_needs_an_embedder(chunker: Chunker) -> None:
    with pytest.raises(ConfigError, match="has no embedder"):
        chunker.cut(Document("d", "One is here. Two is there. " * 9), Tools(get_tokenizer))
