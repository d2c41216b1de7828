"""One point of a sweep, from documents to its record: read ``run_point`` from top to bottom."""

from __future__ import annotations

import hashlib
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bench.chunkers.base import Tools
from bench.chunkers.run import Chunking, chunk_corpus
from bench.config import PointConfig, as_plain
from bench.corpus.config import Corpus
from bench.embedders.cache import CachedEmbedder, VectorCache
from bench.errors import BenchError, StoreError
from bench.index import build_index
from bench.layout import Layout
from bench.measures.retrieval import score_retrieval
from bench.paths import corpora_dir
from bench.points import axes, label, plain_config, point_id
from bench.provenance import provenance
from bench.store import PointRecord, Sweep, golden_row, to_json, trec_run
from bench.tokenize import get_tokenizer
from bench.types import Chunk, Cuts, Floats, Ranking, Score


@dataclass
class Session:
    """What the points of one process share: the corpus, its layout, loaded models, the vector cache.

    ``done`` maps what a result depends on (chunks, vectors, retrieval, scoring) to the point that has it.
    """

    corpus: Corpus
    layout: Layout
    cache: VectorCache
    embedders: dict[str, CachedEmbedder] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, point: PointConfig) -> Session:
        """Load what all points of the sweep of ``point`` share."""
        corpus = point.corpus.load(corpora_dir())
        layout = Layout.of(corpus.documents, get_tokenizer(point.tokenizer))
        return cls(corpus, layout, VectorCache(Path(point.sweep.cache)))

    @cached_property
    def texts(self) -> dict[str, str]:
        """Text of each document."""
        return {document.doc_id: document.text for document in self.corpus.documents}

    def embedder(self, point: PointConfig) -> CachedEmbedder:
        """The point's embedder behind the cache; its weights are read when a vector is missing.

        Raises:
            ModelError: the model is not there.
        """
        key = to_json(as_plain(point.embedder))
        if key not in self.embedders:
            self.embedders[key] = CachedEmbedder(point.embedder.load(), self.cache)
        return self.embedders[key]

    def point_id(self, point: PointConfig) -> str:
        """Identity of a point: its configuration and the bytes that it runs on."""
        inputs = {
            "documents": self.corpus.sha256,
            "golden": self.corpus.golden_sha256,
            "embedder": self.embedder(point).fingerprint,
            "tokenizer": get_tokenizer(point.tokenizer).fingerprint,
            "measures": MEASURES_VERSION,
        }
        return point_id(point, inputs)

    def corpus_summary(self) -> dict[str, Any]:
        """What the sweep's header says of the corpus."""
        return {
            "name": self.corpus.name,
            "sha256": self.corpus.sha256,
            "golden_sha256": self.corpus.golden_sha256,
            "documents": len(self.corpus.documents),
            "characters": sum(len(text) for text in self.texts.values()),
            "questions": len(self.corpus.questions),
        }

    def golden_rows(self) -> list[dict[str, Any]]:
        """The golden questions as rows of our own format."""
        return [golden_row(question, self.texts) for question in self.corpus.questions]


class Stopwatch:
    """Seconds of each named step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[step] = round(time.perf_counter() - start, 4)


def execute(point: PointConfig, session: Session, sweep: Sweep) -> None:
    """Run one point unless its record is there; a fault becomes a failed record with its reason.

    Raises:
        StoreError: the results cannot be written.
    """
    name = session.point_id(point)
    if sweep.has(name):
        return
    try:
        run_point(point, session, sweep)
    except StoreError:
        raise
    except BenchError as error:
        sweep.write_point(_failed(point, name, str(error), ""))
    except Exception as error:  # whatever a chunker of the user's own raises
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        sweep.write_point(_failed(point, name, reason, traceback.format_exc()))


def run_point(point: PointConfig, session: Session, sweep: Sweep) -> None:
    """Chunk, embed, index, retrieve, score, record."""
    clock, corpus = Stopwatch(), session.corpus
    embedder = session.embedder(point)
    with clock("chunk"):
        tools = Tools(tokenizer=get_tokenizer, embed=lambda texts: embedder.encode(texts, "passage"))
        chunking = chunk_corpus(point.chunker, corpus.documents, tools)
    record = _record(point, session, chunking, clock)
    twin = session.done.get(record.identity)
    if twin is not None and sweep.has(twin):
        original = sweep.record(twin)
        sweep.write_point(replace(record, duplicate_of=twin, estimates=original.estimates, cost=original.cost))
        return
    cuts = Cuts(tuple(point.scoring.ks), tuple(point.scoring.budgets_tokens))
    with clock("embed"):
        vectors = embedder.encode([chunk.indexed_text for chunk in chunking.chunks], "passage")
        queries = embedder.encode([question.text for question in corpus.questions], "query")
    with clock("index"):
        index = build_index(vectors)
    with clock("retrieve"):
        rankings = point.retriever.rank(corpus.questions, queries, chunking.chunks, index)
    with clock("score"):
        scores = score_retrieval(
            corpus.questions, chunking.chunks, rankings, session.layout, session.texts, cuts,
            rules=point.scoring.rules, relevance=point.scoring.relevance,
        )  # fmt: skip
    estimates = {name: asdict(estimate) for name, estimate in aggregate_all(scores).items()}
    rows = question_rows(corpus.questions, chunking.chunks, rankings, scores)
    complete = replace(record, status="complete", timings_s=clock.seconds, estimates=estimates)
    sweep.write_point(complete, rows, trec_run(rows, complete.point_id))
    session.done[record.identity] = record.point_id
