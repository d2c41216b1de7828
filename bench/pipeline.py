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

from bench.answer import merged_record, merged_rows, sampled
from bench.answer_forecast import forecast_answers, placeholder
from bench.answering import Answering
from bench.borders import write_chunking
from bench.chunkers.asking import CountedChat
from bench.chunkers.base import Tools
from bench.chunkers.deliver import delivered, folded, identity, tokens_to_fill
from bench.chunkers.run import Chunking, chunk_corpus
from bench.config import PointConfig, as_plain
from bench.context import build_context, cut_to, cut_tokens
from bench.corpus.config import Corpus
from bench.corpus.row import as_row
from bench.embedders.cache import CachedEmbedder, Usage, VectorCache
from bench.embedders.counted import CountedPassages
from bench.embedders.passages import cached, passage_vectors, read_tokens
from bench.errors import BenchError, StoreError
from bench.index import build_index
from bench.indexes.recall import index_facts
from bench.layout import Layout
from bench.measures.estimate import estimates
from bench.measures.realised import realised
from bench.measures.retrieval import score_retrieval
from bench.paths import corpora_dir
from bench.points import axes, label, plain_config, point_id
from bench.provenance import provenance
from bench.replies import Endpoint, Forecast, LimitReached
from bench.retrieve import Retrieval, needed_depth, retrieve
from bench.rows import Row, question_rows
from bench.serve import open_chat
from bench.settings import choose
from bench.stats.select import can_split, split
from bench.store import PointRecord, Sweep, to_json, trec_run
from bench.tokenize import get_tokenizer
from bench.types import Cuts, GoldenQuestion, Ranking

MEASURES_VERSION = "1"
"""Raised whenever a measure's definition changes: records of another version are not taken for this one's."""

ENOUGH_TO_TIME = 20_000
"""Tokens that a process must have embedded before its speed says anything about a whole corpus."""


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
    answerings: dict[str, Answering] = field(default_factory=dict)

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
        return self._loaded(point.embedder)

    def _loaded(self, config: Any) -> CachedEmbedder:
        key = to_json(as_plain(config))
        if key not in self.embedders:
            self.embedders[key] = cached(config.load(), self.cache)
        return self.embedders[key]

    def answering(self, point: PointConfig) -> Answering:
        """The point's generator and judge, with what they have already said."""
        key = to_json([as_plain(point.generator), as_plain(point.judge)])
        if key not in self.answerings:
            likeness = self.named_embedder(point.answers.embedder)
            self.answerings[key] = Answering(
                point.generator,
                point.judge,
                {document.doc_id: document for document in self.corpus.documents},
                self.layout.supersedes,
                lambda texts: likeness.encode(texts, "passage"),
                Path(point.sweep.cache).with_name("replies.sqlite"),
            )
        return self.answerings[key]

    def forecast(self, point: PointConfig) -> dict[str, Forecast]:
        """What generator and judge of a point would send at most, its contexts taken as full."""
        questions = sampled(self.corpus.questions, point.answers.questions, point.seed)
        contexts = [placeholder(point.scoring.headline_tokens)] * len(questions)
        count = get_tokenizer(point.tokenizer).count
        return forecast_answers(questions, contexts, point.generator, point.judge, count)

    def named_embedder(self, name: str) -> CachedEmbedder:
        """The embedder of ``conf/embedder/<name>.yaml``, behind the cache."""
        return self._loaded(choose("embedder", (), name))

    def point_id(self, point: PointConfig) -> str:
        """Identity of a point: its configuration and the bytes that it runs on."""
        inputs = {"retriever": point.retriever.fingerprint} if point.retriever.fingerprint else {}
        inputs |= {
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
        return [as_row(question, self.texts) for question in self.corpus.questions]


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
        LimitReached: a limit on calls or price is used up.
    """
    name = session.point_id(point)
    if sweep.has(name):
        return
    try:
        run_point(point, session, sweep)
    except (StoreError, LimitReached):
        raise
    except BenchError as error:
        sweep.write_point(_failed(point, name, " ".join(str(error).split()), ""))
    except Exception as error:  # whatever a chunker of the user's own raises
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        sweep.write_point(_failed(point, name, reason, traceback.format_exc()))


def run_point(point: PointConfig, session: Session, sweep: Sweep) -> None:
    """Chunk, embed, index, retrieve, score, record.

    A chunking that another point already has, under the same embedder and retriever, is not computed again.

    Raises:
        BenchError: a step refuses its input; nothing is written then.
    """
    clock, corpus, scoring = Stopwatch(), session.corpus, point.scoring
    embedder = session.embedder(point)
    before, passages = embedder.usage(), CountedPassages(embedder)
    with clock("chunk"):
        chat = _chat(point)
        chunking = chunk_corpus(point.chunker, corpus.documents, Tools(get_tokenizer, passages, chat))
        spent = {"cutting_tokens": passages.tokens} | (chat.spent() if chat else {})
        record = _started(point, session, chunking, spent)
    write_chunking(sweep.folder, chunking.fingerprint, chunking.chunks)
    if _write_twin(record, session, sweep):
        return
    embeds: bool = point.retriever.needs_vectors
    with clock("embed"):
        vectors = passage_vectors(embedder, chunking.chunks, session.texts) if embeds else None
        queries = embedder.encode([question.text for question in corpus.questions], "query") if embeds else None
    cuts = Cuts(tuple(scoring.ks), tuple(scoring.budgets_tokens))
    depth = _depth(point.chunker, chunking, session.layout, cuts)
    with clock("index"):
        index = None if vectors is None else build_index(vectors, point.index, point.seed)
        parts = Retrieval(corpus.questions, queries, chunking.chunks, index, depth, vectors)
        given = point.retriever.prepare(parts)
    with clock("retrieve"):
        found = retrieve(point.retriever, given, point.seed)
        handed = delivered(point.chunker, found.rankings, chunking.chunks, session.texts)
        rankings = [cut_to(ranking, cuts, session.layout) for ranking in handed]
    with clock("score"):
        scores = score_retrieval(
            corpus.questions, chunking.chunks, rankings, session.layout, session.texts, cuts,
            rules=scoring.rules, relevance=scoring.relevance,
        )  # fmt: skip
        means = {name: asdict(estimate) for name, estimate in estimates(scores).items()}
    rows = question_rows(corpus.questions, chunking.chunks, rankings, scores)
    cost = _cost(given.index_bytes, embedder.usage(), before, record.realised) | {
        **index_facts(index, vectors, queries, depth),
        "retrieval_p50_ms": found.p50_ms,
        "retrieval_p99_ms": found.p99_ms,
        "context_tokens": means[f"context_tokens@tokens={scoring.headline_tokens}"]["mean"],
    }
    complete = replace(record, status="complete", timings_s=clock.seconds, cost=cost, estimates=means)
    if point.names["generator"] != "none":
        with clock("answer"):
            complete, rows = _answered(point, session, rankings, complete, rows)
    sweep.write_point(complete, rows, trec_run(rows, complete.point_id))
    session.done[record.identity] = record.point_id


def _chat(point: PointConfig) -> CountedChat | None:
    """The language model of a strategy that asks one, its replies kept beside the vectors."""
    if not isinstance(point.chunker, Endpoint):
        return None
    replies = Path(point.sweep.cache).with_name("replies.sqlite")
    return CountedChat(open_chat(point.chunker.endpoint(), replies))


def _started(point: PointConfig, session: Session, chunking: Chunking, spent: Mapping[str, Any]) -> PointRecord:
    """The record as far as it is known once the corpus is cut, with what was spent on that."""
    embedder, embeds = session.embedder(point), point.retriever.needs_vectors
    tokens = embedder.count_tokens([chunk.indexed_text for chunk in chunking.chunks]) if embeds else None
    found = realised(
        chunking.chunks,
        session.layout,
        embedder_tokens=tokens,
        usable_tokens=embedder.usable_tokens,
        fingerprint=chunking.fingerprint,
        over_limit=chunking.over_limit,
        empties_dropped=chunking.empties_dropped,
        uncovered_chars=chunking.uncovered_chars,
    )
    read = 0 if tokens is None else read_tokens(embedder, tokens, session.texts)
    found |= {"embedder_tokens": read, **spent}
    config = plain_config(point)
    depends = [
        chunking.fingerprint,
        identity(point.chunker),
        embedder.fingerprint if embeds else "",
        point.retriever.fingerprint,
        to_json([config[k] for k in ("retriever", "scoring", "seed", "generator", "judge", "answers")]),
        to_json(config["index"]) if embeds else "",
    ]
    return PointRecord(
        point_id=session.point_id(point),
        label=label(point),
        status="failed",
        axes=axes(point),
        config=config,
        provenance=provenance() | {"embedder": embedder.fingerprint, "usable_tokens": embedder.usable_tokens},
        realised=found,
        timings_s={},
        cost={},
        estimates={},
        identity=hashlib.sha256("\n".join(depends).encode()).hexdigest(),
    )


def _answered(
    point: PointConfig, session: Session, rankings: Sequence[Ranking], record: PointRecord, rows: list[Row]
) -> tuple[PointRecord, list[Row]]:
    """Answer the questions from the contexts at the headline budget, judge the answers, add both to the record."""
    chosen = {
        question.question_id for question in sampled(session.corpus.questions, point.answers.questions, point.seed)
    }
    pairs = [pair for pair in zip(session.corpus.questions, rankings, strict=True) if pair[0].question_id in chosen]
    contexts = [
        build_context(
            cut_tokens(ranking.hits, point.scoring.headline_tokens, session.layout),
            session.texts,
            session.layout,
            point.answers.order,
        )
        for _, ranking in pairs
    ]
    questions = [question for question, _ in pairs]
    outcome = session.answering(point).run(questions, contexts, selection_ids(questions, point.seed))
    return merged_record(record, outcome), merged_rows(rows, outcome)


def selection_ids(questions: Sequence[GoldenQuestion], seed: int) -> set[str]:
    """Ids of the selection part of the questions; all of them where they are too few to be split by document."""
    labels = [question.cluster for question in questions]
    clusters = np.unique(labels, return_inverse=True)[1].astype(np.int64).reshape(-1)
    if not can_split(len(questions), len(set(labels))):
        return {question.question_id for question in questions}
    chosen = split(clusters, [question.category for question in questions], seed=seed)
    return {question.question_id for question, selected in zip(questions, chosen, strict=True) if selected}


def _depth(chunker: Any, chunking: Chunking, layout: Layout, cuts: Cuts) -> int:
    """How many hits each question needs, so that what is handed over for them fills every cut."""
    tokens = tokens_to_fill(chunker, chunking.chunks, layout.count_tokens)
    passages = max(cuts.ks) * folded(chunker, chunking.chunks)
    return max(needed_depth(tokens, cuts), min(passages, len(chunking.chunks)))


def _write_twin(record: PointRecord, session: Session, sweep: Sweep) -> bool:
    """Write ``record`` as a duplicate if a complete point of the sweep rests on the same chunks and vectors."""
    if not session.done and (sweep.folder / "sweep.json").is_file():
        session.done.update(
            (r.identity, r.point_id) for r in sweep.records() if r.status == "complete" and not r.duplicate_of
        )
    twin = session.done.get(record.identity)
    if twin is None or twin == record.point_id or not sweep.has(twin):
        return False
    first = sweep.record(twin)
    sweep.write_point(replace(record, status="complete", duplicate_of=twin, estimates=first.estimates, cost=first.cost))
    return True


def _cost(index_bytes: int, now: Usage, before: Usage, found: Mapping[str, Any]) -> dict[str, Any]:
    """What the point costs: ``embedding_*`` of a first run, ``embedded_now_*`` of what was not in the cache."""
    step = now.since(before)
    rate = now.embedded_tokens / now.forward_s if now.embedded_tokens >= ENOUGH_TO_TIME else None
    tokens = found["embedder_tokens"] + found["cutting_tokens"]
    return {
        "index_bytes": index_bytes,
        "embedding_tokens": tokens,
        "embedding_s": round(tokens / rate, 3) if rate else None,
        "embedded_now_tokens": step.embedded_tokens,
        "embedded_now_s": round(step.forward_s, 4),
        "embedded_now_cpu_s": round(step.forward_cpu_s, 4),
    }


def _failed(point: PointConfig, name: str, reason: str, trace: str) -> PointRecord:
    made = provenance() | ({"traceback": trace} if trace else {})
    return PointRecord(
        name, label(point), "failed", axes(point), plain_config(point), made, {}, {}, {}, {}, reason=reason
    )
