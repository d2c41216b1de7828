"""Scores all answers of a sweep point, and the row that keeps what they were made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bench.measures.answer import ANSWER_MEASURES
from bench.measures.answer_sources import SOURCE_MEASURES
from bench.measures.answered import Answered
from bench.types import Score

_ALL = {**ANSWER_MEASURES, **SOURCE_MEASURES}


def score_answers(items: Sequence[Answered]) -> dict[str, dict[str, Score]]:
    """Return question id to measure name to score: the same measures for every question."""
    return {item.question.question_id: {measure.name: value(item) for measure, value in _ALL.items()} for item in items}


def answer_row(item: Answered) -> dict[str, Any]:
    """Return what is kept of one question: answer, verdicts with quotes, citations, grades and faults.

    A claim names the documents of its passages, so that the row can be read without the context.
    """
    judgement = item.judgement
    row: dict[str, Any] = {
        "answer": {
            "text": item.answer.text,
            "status": item.answer.status,
            "citations": list(item.answer.citations),
            "reason": item.answer.reason,
        },
        "passages": [None if s is None else [s.doc_id, s.start, s.end] for s in item.context.spans],
    }
    for part in ("claims", "attributed", "correct", "covered"):
        verdicts = getattr(judgement, part)
        if verdicts is not None:
            row[part] = [{**asdict(verdict), "passages": list(verdict.passages)} for verdict in verdicts]
    for part in ("grades", "citations"):
        if getattr(judgement, part) is not None:
            row[part] = [asdict(one) for one in getattr(judgement, part)]
    if judgement.helpful is not None:
        row["helpful"] = list(judgement.helpful)
    for part in ("relevance", "echo", "similarity"):
        if getattr(judgement, part) is not None:
            row[part] = getattr(judgement, part)
    if judgement.faults:
        row["faults"] = dict(judgement.faults)
    claims = judgement.claims or ()
    row["unsupported_claims"] = [c.claim for c in claims if c.verdict in ("unsupported", "contradicted")]
    return row
