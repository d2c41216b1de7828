"""What a point keeps of every question: where its hits stand, and every score with its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.types import Chunk, GoldenQuestion, Hit, Ranking, Score

Row = dict[str, Any]


def question_rows(
    questions: Sequence[GoldenQuestion],
    chunks: Sequence[Chunk],
    rankings: Sequence[Ranking],
    scores: Mapping[str, Mapping[str, Score]],
) -> list[Row]:
    """Return one row a question, in the golden set's order.

    A hit is ``[doc_id, start, end, score, delivered start, delivered end]``; None where the strategy shows no source.
    The header that was handed over with it and its tokens follow where there is one.
    A score is a plain number, or ``{"status", "reason"}`` where there is none.
    """
    ranked = {ranking.question_id: ranking.hits for ranking in rankings}
    return [
        {
            "question_id": question.question_id,
            "category": question.category,
            "cluster": question.cluster,
            "answerable": question.answerable,
            "hits": [hit_row(hit, chunks[hit.chunk]) for hit in ranked.get(question.question_id, ())],
            "scores": {name: score_value(score) for name, score in scores[question.question_id].items()},
        }
        for question in questions
    ]


def hit_row(hit: Hit, chunk: Chunk) -> list[Any]:
    """One hit as the record keeps it."""
    span, delivered = chunk.span, hit.delivered
    source = [span.doc_id, span.start, span.end] if span else [None, None, None]
    handed = [delivered.start, delivered.end] if delivered else [None, None]
    header = [hit.header, hit.header_tokens] if hit.header else []
    return [*source, round(float(hit.score), 6), *handed, *header]


def score_value(score: Score) -> Any:
    """A plain number for what was scored, the state and its reason for what was not."""
    if score.status == "scored" and score.value is not None:
        return round(score.value, 9)
    return {"status": score.status, "reason": score.reason}
