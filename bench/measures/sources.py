"""Measures on the documents that a cut draws from: required sources of a multi-hop question, superseded revisions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.layout import Layout
from bench.measures.gold import Gold
from bench.measures.lanes import Flags
from bench.measures.registry import Measure, register
from bench.measures.span import Column, Cut, ratio
from bench.spans import Intervals
from bench.types import GoldenQuestion, Ints, Span

FEW_SOURCES = "fewer than 2 required sources, or one of them holds no gold evidence"
NO_REVISIONS = "no superseded revision of the gold's documents is in the corpus"


@dataclass(frozen=True, slots=True)
class Sources:
    """Documents that matter to each question.

    Attributes:
        pair: required (question, document) pair of each row of the gold, -1 for none, shape (rows,).
        pair_lane: question of each pair, shape (pairs,).
        required: number of required sources, 0 where the measure has no meaning, shape (questions,).
        stale: superseded revisions of the gold's documents, whole, as keys.
        has_stale: whether a question has any, shape (questions,).
    """

    pair: Ints
    pair_lane: Ints
    required: Ints
    stale: Intervals
    has_stale: Flags

    @classmethod
    def of(cls, questions: Sequence[GoldenQuestion], gold: Gold, layout: Layout) -> Sources:
        """Find them."""
        held: list[set[str]] = [set() for _ in questions]
        lanes = gold.row_lane.tolist()
        for lane, span in zip(lanes, gold.spans, strict=True):
            held[lane].add(span.doc_id)
        wanted = [_required(question, held[lane]) for lane, question in enumerate(questions)]
        pairs = [(lane, source) for lane, sources in enumerate(wanted) for source in sources]
        number = {pair: index for index, pair in enumerate(pairs)}
        old = [(lane, doc_id) for lane, documents in enumerate(held) for doc_id in _stale(documents, layout)]
        stale_lane = np.array([lane for lane, _ in old], dtype=np.int64)
        whole = layout.place([Span(doc_id, 0, len(layout.ink[doc_id]) - 1) for _, doc_id in old])
        rows = zip(lanes, gold.spans, strict=True)
        return cls(
            pair=np.array([number.get((lane, span.doc_id), -1) for lane, span in rows], dtype=np.int64),
            pair_lane=np.array([lane for lane, _ in pairs], dtype=np.int64),
            required=np.array([len(sources) for sources in wanted], dtype=np.int64),
            stale=gold.axis.keys(stale_lane, whole),
            has_stale=np.bincount(stale_lane, minlength=len(questions)) > 0,
        )


def required_sources(cut: Cut, sources: Sources) -> Column:
    """Share of the required documents from which a gold-bearing piece was retrieved."""
    met = sources.pair[(cut.covered > 0) & (sources.pair >= 0)]
    found = np.bincount(sources.pair_lane[np.unique(met)], minlength=cut.gold.questions)
    return Column(ratio(found, sources.required), sources.required >= 2, FEW_SOURCES)


def stale_retrieved(cut: Cut, sources: Sources) -> Column:
    """1 if anything was retrieved from a superseded revision of a document that holds the gold."""
    axis = cut.gold.axis
    met = axis.lane(sources.stale[cut.gold.cover(cut.keys).inside(sources.stale) > 0])
    found = np.bincount(met, minlength=cut.gold.questions) > 0
    return Column(found.astype(np.float64), sources.has_stale, NO_REVISIONS)


def _required(question: GoldenQuestion, held: set[str]) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(question.required_sources))
    return wanted if len(wanted) >= 2 and held.issuperset(wanted) else ()


def _stale(documents: set[str], layout: Layout) -> list[str]:
    """Return what the gold's documents supersede. Gold that is itself superseded was asked for."""
    older = [layout.supersedes.get(doc_id, frozenset()) for doc_id in documents]
    return sorted(frozenset().union(*older) - documents)


SOURCE_MEASURES: dict[Measure, Callable[[Cut, Sources], Column]] = {
    Measure("required_sources", undefined=FEW_SOURCES, source="multi-hop recall of documents", cuts=("k", "tokens")): (
        required_sources
    ),
    Measure(
        "stale_retrieved",
        better="lower",
        undefined=NO_REVISIONS,
        source="retrieved part of stale_rate",
        cuts=("k", "tokens"),
    ): stale_retrieved,
}
register(*SOURCE_MEASURES)
