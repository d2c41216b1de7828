"""PrecisionOmega of the published table (Smith & Troynikov 2024, Chroma): it needs no model, so it must be exact."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from bench.chunkers.base import Chunker, Tools
from bench.chunkers.fixed import Fixed
from bench.chunkers.recursive import Recursive
from bench.chunkers.run import chunk_corpus
from bench.errors import ModelError
from bench.layout import Layout
from bench.measures import estimates, score_retrieval
from bench.tokenize import get_tokenizer
from bench.types import Cuts, Document, Evidence, GoldenQuestion, Span

SEPARATORS = ["\n\n", "\n", ".", "?", "!", " ", ""]


@dataclass(frozen=True)
class Published:
    documents: list[Document]
    questions: list[GoldenQuestion]
    layout: Layout

    def precision_omega(self, chunker: Chunker, rules: str) -> float:
        chunks = chunk_corpus(chunker, self.documents, Tools(get_tokenizer)).chunks
        texts = {document.doc_id: document.text for document in self.documents}
        cuts = Cuts(ks=(5,), tokens=(2000,))
        scores = score_retrieval(self.questions, chunks, [], self.layout, texts, cuts, rules=rules)
        mean = estimates(scores)["precision_omega"].mean
        return np.nan if mean is None else 100 * mean


@pytest.fixture(scope="module")
def published(shared: Path) -> Published:
    try:
        tokenizer = get_tokenizer("cl100k")
    except ModelError as error:
        pytest.skip(str(error))
    folder = shared / "data" / "chroma"
    paths = sorted((folder / "corpus").iterdir())
    documents = [Document(path.name, path.read_bytes().decode("utf-8")) for path in paths]
    rows = [json.loads(line) for line in (folder / "golden.jsonl").read_text(encoding="utf-8").splitlines()]
    questions = [
        GoldenQuestion(
            row["id"],
            row["question"],
            evidence=tuple(Evidence((Span(e["doc"], e["start"], e["end"]),)) for e in row["evidence"]),
        )
        for row in rows
    ]
    assert len(questions) == 472
    return Published(documents, questions, Layout.of(documents, tokenizer))


def recursive(size: int, overlap: int) -> Recursive:
    return Recursive(size=size, overlap=overlap, tokenizer="cl100k", separators=SEPARATORS, keep="start")


def tokens(size: int, overlap: int) -> Fixed:
    return Fixed(size=size, overlap=overlap, tokenizer="cl100k")


@pytest.mark.parametrize(
    ("chunker", "value"),
    [
        (recursive(800, 400), 6.7),
        (recursive(400, 200), 13.9),
        (recursive(400, 0), 17.7),
        (recursive(200, 0), 29.9),
        (tokens(800, 400), 4.7),
        (tokens(400, 200), 8.4),
        (tokens(400, 0), 12.5),
        (tokens(200, 0), 21.0),
    ],
    ids=lambda given: f"{type(given).__name__} {given.size}/{given.overlap}" if hasattr(given, "size") else str(given),
)
def test_precision_omega_is_the_published_one(published: Published, chunker: Chunker, value: float) -> None:
    assert published.precision_omega(chunker, "chroma") == pytest.approx(value, abs=0.05)


def test_our_own_rules_are_not_far_and_not_the_same(published: Published) -> None:
    ours, theirs = (published.precision_omega(tokens(200, 0), rules) for rules in ("standard", "chroma"))
    assert 0.3 < ours - theirs < 1.0
