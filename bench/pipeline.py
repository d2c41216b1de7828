"""One point of a sweep, from documents to its record: read ``run_point`` from top to bottom."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from bench.answer import merged_record, merged_rows, sampled
from bench.borders import write_chunking
from bench.chunkers.base import Tools
from bench.chunkers.deliver import delivered, folded, tokens_to_fill
from bench.chunkers.run import Chunking, chunk_corpus
from bench.config import PointConfig
from bench.context import build_context, cut_to, cut_tokens, headed
from bench.embedders.counted import CountedPassages
from bench.embedders.passages import passage_vectors
from bench.errors import BenchError, StoreError
from bench.index import build_index
from bench.indexes.recall import index_facts
from bench.layout import Layout
from bench.measures.estimate import estimates
from bench.measures.retrieval import score_retrieval
from bench.recording import cost_of, failed, started, write_twin
from bench.replies import LimitReached
from bench.retrieve import Retrieval, needed_depth, retrieve
from bench.rows import Row, question_rows
from bench.session import Session, Stopwatch
from bench.stats.select import can_split, split
from bench.store import PointRecord, Sweep, trec_run
from bench.tokenize import get_tokenizer
from bench.types import Cuts, GoldenQuestion, Ranking


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
        sweep.write_point(failed(point, name, " ".join(str(error).split()), ""))
    except (Exception, SystemExit) as error:  # whatever a chunker of the user's own raises
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        sweep.write_point(failed(point, name, reason, traceback.format_exc()))


def run_point(point: PointConfig, session: Session, sweep: Sweep) -> None:
    """Chunk, embed, index, retrieve, score, answer, record; raises BenchError where a step refuses its input.

    A chunking that another point already has, under the same embedder and retriever, is not computed again.
    """
    clock, corpus, scoring = Stopwatch(), session.corpus, point.scoring
    embedder = session.embedder(point)
    before, passages = embedder.usage(), CountedPassages(embedder)
    with clock("chunk"):
        chat = session.chat(point)
        chunking = chunk_corpus(point.chunker, corpus.documents, Tools(get_tokenizer, passages, chat))
        spent = {"cutting_tokens": passages.tokens} | (chat.spent() if chat else {})
        record = started(point, session, chunking, spent)
    write_chunking(sweep.folder, chunking.fingerprint, chunking.chunks)
    if write_twin(record, session, sweep):
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
        given_hits = headed(handed, chunking.chunks, get_tokenizer(point.tokenizer))
        rankings = [cut_to(ranking, cuts, session.layout) for ranking in given_hits]
    with clock("score"):
        scores = score_retrieval(
            corpus.questions, chunking.chunks, rankings, session.layout, session.texts, cuts,
            rules=scoring.rules, relevance=scoring.relevance,
        )  # fmt: skip
        means = {name: asdict(estimate) for name, estimate in estimates(scores).items()}
    rows = question_rows(corpus.questions, chunking.chunks, rankings, scores)
    cost = cost_of(given.index_bytes, embedder.usage(), before, record.realised) | {
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


def _answered(
    point: PointConfig, session: Session, rankings: Sequence[Ranking], record: PointRecord, rows: list[Row]
) -> tuple[PointRecord, list[Row]]:
    """Answer the questions from the contexts at the headline budget, judge the answers, add both to the record.

    A strategy that cannot show its source gives no context of so many tokens: they are left out, and that is said.
    """
    if any(hit.delivered is None for ranking in rankings for hit in ranking.hits):
        why = {"skipped": "the strategy shows no source spans, so its context cannot be filled to the budget"}
        return replace(record, provenance={**record.provenance, "answers": why}), rows
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
