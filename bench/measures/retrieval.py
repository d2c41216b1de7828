"""Scores of every question of a point on what was retrieved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bench.errors import ConfigError
from bench.layout import Layout
from bench.measures.chunking import CHUNKING_MEASURES, Holding
from bench.measures.compat import TEXT_MEASURES, K
from bench.measures.cuts import CUTS, Pieces, sizes_of
from bench.measures.gold import Gold, Rules, rules_of
from bench.measures.published import first_occurrences
from bench.measures.rank import RANK_MEASURES, RANK_MEASURES_AT, Judged
from bench.measures.registry import Measure, full_name, register
from bench.measures.sources import SOURCE_MEASURES, Sources
from bench.measures.span import NO_GOLD, SPAN_MEASURES, Column, Cut, recall
from bench.types import Chunk, Cuts, GoldenQuestion, Ranking, Score, Span

OCTAVES = (128, 256, 512, 1024, 2048, 4096)
NO_SPANS = "the strategy rewrote its text and gives no source spans"
NO_RANKING = "no ranking was made for the question"

RECALL_AUC = Measure(
    "recall_auc",
    undefined=f"{NO_GOLD}, or no budget of {OCTAVES[-1]} tokens or more was retrieved for",
    source="area under span_recall against log2(tokens), trapezoids between 128, 256, ... 4096 tokens",
)
register(RECALL_AUC)

Columns = Iterator[tuple[str, list[Score]]]


@dataclass(frozen=True, slots=True)
class _Point:
    """All that the measures of one sweep point look at. ``rankings`` has one entry a question."""

    questions: Sequence[GoldenQuestion]
    chunks: Sequence[Chunk]
    rankings: Sequence[Ranking | None]
    layout: Layout
    texts: Mapping[str, str]
    cuts: Cuts
    rules: Rules
    relevance: float

    def delivered(self) -> bool:
        """True if everything that could be handed over has a source span."""
        return all(chunk.delivered is not None for chunk in self.chunks) and all(
            hit.delivered is not None for ranking in self.rankings if ranking for hit in ranking.hits
        )


def score_retrieval(
    questions: Sequence[GoldenQuestion],
    chunks: Sequence[Chunk],
    rankings: Sequence[Ranking],
    layout: Layout,
    texts: Mapping[str, str],
    cuts: Cuts,
    *,
    rules: str = "standard",
    relevance: float = 0.0,
) -> dict[str, dict[str, Score]]:
    """Return question id to full measure name to score: the same measures for every question.

    Args:
        questions: the golden set.
        chunks: the whole chunking, as indexed.
        rankings: one per question, deep enough for the largest cut (and 4096 tokens, for ``recall_auc``).
        layout: counts of the documents.
        texts: text of each document.
        cuts: where to cut.
        rules: ``standard``, or ``chroma`` for the published table of Smith & Troynikov 2024.
        relevance: least gold in a relevant chunk: 0 for one character; up to 1 a share of an evidence item; above 1
            characters.

    Raises:
        ConfigError: unknown rules, or a negative relevance.
        CorpusError: a span names an unknown document or leaves its text.
    """
    if not relevance >= 0:
        raise ConfigError(
            f"relevance is {relevance}: give 0 (one character), a share up to 1, or a number of characters"
        )
    wanted = rules_of(rules)
    if wanted.first_only:
        chunks, rankings = first_occurrences(chunks, rankings, texts)
    by_id = {ranking.question_id: ranking for ranking in rankings}
    ordered = [by_id.get(question.question_id) for question in questions]
    point = _Point(questions, chunks, ordered, layout, texts, cuts, wanted, relevance)
    scores: dict[str, dict[str, Score]] = {question.question_id: {} for question in questions}
    for name, column in _columns(point):
        for question, ranking, score in zip(questions, ordered, column, strict=True):
            lost = ranking is None and name.partition("@")[0] not in _NEEDS_NO_RANKING
            scores[question.question_id][name] = Score(None, "failed", NO_RANKING) if lost else score
    return scores


_NEEDS_NO_RANKING = frozenset(measure.name for measure in CHUNKING_MEASURES)


def _columns(point: _Point) -> Columns:
    """Yield the scores of every measure, one a question."""
    gold = Gold.of(point.questions, point.layout, point.rules)
    if point.delivered():
        yield from _span_columns(point, gold)
        yield from _text_columns(point, gold)
    else:
        yield from _undefined(point, (*CHUNKING_MEASURES, *SPAN_MEASURES, *SOURCE_MEASURES, RECALL_AUC, *TEXT_MEASURES))
    if all(chunk.span is not None for chunk in point.chunks):
        yield from _rank_columns(point, gold)
    else:
        yield from _undefined(point, (*RANK_MEASURES, *RANK_MEASURES_AT))


def _undefined(point: _Point, measures: Sequence[Measure]) -> Columns:
    score = Score(None, "undefined", NO_SPANS)
    for measure in measures:
        for name in measure.names(point.cuts):
            yield name, [score] * len(point.questions)


def _span_columns(point: _Point, gold: Gold) -> Columns:
    holding = Holding.of(
        gold, point.layout.place([chunk.delivered for chunk in point.chunks if chunk.delivered is not None])
    )
    for measure, of_chunking in CHUNKING_MEASURES.items():
        yield measure.name, of_chunking(holding).scores()
    pieces = Pieces.of(point.rankings, point.layout)
    sources = Sources.of(point.questions, gold, point.layout)
    for kind, size in sizes_of(point.cuts):
        cut = Cut.of(gold, CUTS[kind](pieces, size, point.layout))
        for measure, of_cut in SPAN_MEASURES.items():
            if kind in measure.cuts:
                yield full_name(measure.name, kind, size), of_cut(cut).scores()
        for measure, of_sources in SOURCE_MEASURES.items():
            if kind in measure.cuts:
                yield full_name(measure.name, kind, size), of_sources(cut, sources).scores()
    yield RECALL_AUC.name, _recall_auc(point, gold, pieces).scores()


def _recall_auc(point: _Point, gold: Gold, pieces: Pieces) -> Column:
    """Area under the recall curve over the octaves of the budget, divided by their number."""
    if max(point.cuts.tokens, default=0) < OCTAVES[-1]:
        nothing = np.zeros(gold.questions)
        return Column(nothing, nothing > 0, RECALL_AUC.undefined)
    curve = np.stack([recall(Cut.of(gold, pieces.filled(size, point.layout)).chars).values for size in OCTAVES])
    area = (curve[:-1] + curve[1:]).sum(axis=0) / 2 / (len(OCTAVES) - 1)
    return Column(area, gold.defined, NO_GOLD)


def _rank_columns(point: _Point, gold: Gold) -> Columns:
    judged = _judged(point, gold)
    undefined = Score(None, "undefined", NO_GOLD)
    for measure, value in RANK_MEASURES.items():
        yield measure.name, [Score(value(one)) if one.items else undefined for one in judged]
    for measure, value_at in RANK_MEASURES_AT.items():
        for k in point.cuts.ks:
            column = [Score(value_at(one, k)) if one.items else undefined for one in judged]
            yield full_name(measure.name, "k", k), column


def _judged(point: _Point, gold: Gold) -> list[Judged]:
    """Return every ranking with the relevant units of the index and the evidence items they hold."""
    units, unit = ranked_units(point.chunks)
    holding = Holding.of(gold, point.layout.place(units))
    wanted = point.relevance * gold.sizes if point.relevance <= 1 else np.minimum(point.relevance, gold.sizes)
    enough = holding.shared >= np.maximum(wanted, 1)[holding.row]
    item = gold.item[holding.row[enough]]
    relevant: list[dict[int, set[int]]] = [{} for _ in point.questions]
    rows = np.stack((gold.lane[item], item, holding.chunk[enough]), axis=1)
    for lane, number, chunk in rows.tolist():
        relevant[lane].setdefault(chunk, set()).add(number)
    items = np.bincount(gold.lane, minlength=gold.questions).tolist()
    ids = [[unit[hit.chunk] for hit in ranking.hits] if ranking else [] for ranking in point.rankings]
    return [Judged.of(*row) for row in zip(ids, relevant, items, strict=True)]


def ranked_units(chunks: Sequence[Chunk]) -> tuple[list[Span], list[int]]:
    """Return the spans that rank measures count, and which of them each chunk stands for.

    They are what is indexed, or what is handed over where that is other text and never overlaps: parents, or the
    passages of one of several scales. Counted otherwise, one passage would be many relevant chunks that no ranking
    can hold.
    """
    spans = [chunk.span for chunk in chunks if chunk.span is not None]
    handed = [chunk.delivered for chunk in chunks if chunk.delivered is not None]
    own = spans, list(range(len(spans)))
    if handed == spans or len(handed) < len(spans):
        return own
    distinct = sorted(set(handed))
    if any(a.doc_id == b.doc_id and a.end > b.start for a, b in pairwise(distinct)):
        return own
    place = {span: number for number, span in enumerate(distinct)}
    return distinct, [place[span] for span in handed]


def _text_columns(point: _Point, gold: Gold) -> Columns:
    """Compare the text handed over for the first hits with the quotes of the evidence."""
    quotes: list[list[str]] = [[] for _ in point.questions]
    for lane, row in zip(gold.lane.tolist(), gold.first.tolist(), strict=True):
        span = gold.spans[row]
        quotes[lane].append(point.texts[span.doc_id][span.start : span.end])
    handed = [_passages(ranking, point.texts) if ranking else [] for ranking in point.rankings]
    undefined = Score(None, "undefined", NO_GOLD)
    for measure, value in TEXT_MEASURES.items():
        column = [
            Score(value(given, wanted)) if wanted else undefined for given, wanted in zip(handed, quotes, strict=True)
        ]
        yield full_name(measure.name, "k", K), column


def _passages(ranking: Ranking, texts: Mapping[str, str]) -> list[str]:
    """Return the text handed over for the first hits."""
    found = [hit.delivered for hit in ranking.hits[:K] if hit.delivered is not None]
    return [texts[span.doc_id][span.start : span.end] for span in found]
