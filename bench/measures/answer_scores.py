"""Scores all answers of a sweep point, and the row that keeps what they were made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from bench.measures.answer import ANSWER_MEASURES
from bench.measures.answer_sources import SOURCE_MEASURES
from bench.measures.answered import Answered
from bench.replies import Judgement, Verdict
from bench.types import Score

_ALL = {**ANSWER_MEASURES, **SOURCE_MEASURES}
_VOTED = ("claims", "attributed", "correct", "covered")


def score_answers(items: Sequence[Answered]) -> dict[str, dict[str, Score]]:
    """Return question id to measure name to score: the same measures for every question."""
    return {item.question.question_id: {measure.name: value(item) for measure, value in _ALL.items()} for item in items}


def vote_scores(item: Answered) -> dict[str, list[float]]:
    """Return what each vote of the judge alone would have given, for the measures that the votes do not agree on.

    A vote that was lost counts as the verdict that was settled on.
    """
    voted = [one for part in _VOTED for one in getattr(item.judgement, part) or ()]
    count = max((len(verdict.ballot) for verdict in voted), default=0)
    rounds = [replace(item, judgement=_by_vote(item.judgement, vote)) for vote in range(count)]
    found = {measure.name: [value(one).value for one in rounds] for measure, value in _ALL.items()} if rounds else {}
    return {
        name: known
        for name, values in found.items()
        if len(known := [v for v in values if v is not None]) == count and len(set(known)) > 1
    }


def _by_vote(judgement: Judgement, vote: int) -> Judgement:
    return replace(
        judgement,
        claims=_voted(judgement.claims, vote),
        attributed=_voted(judgement.attributed, vote),
        correct=_voted(judgement.correct, vote),
        covered=_voted(judgement.covered, vote),
    )


def _voted(verdicts: Sequence[Verdict] | None, vote: int) -> tuple[Verdict, ...] | None:
    if verdicts is None:
        return None
    named = ((one, one.ballot[vote] if vote < len(one.ballot) else None) for one in verdicts)
    return tuple(replace(one, verdict=name or one.verdict) for one, name in named)


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
    for part in _VOTED:
        verdicts = getattr(judgement, part)
        if verdicts is not None:
            row[part] = [_verdict_row(verdict) for verdict in verdicts]
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


def _verdict_row(verdict: Verdict) -> dict[str, Any]:
    row = {**asdict(verdict), "passages": list(verdict.passages), "ballot": list(verdict.ballot)}
    return row if verdict.ballot else {name: value for name, value in row.items() if name != "ballot"}
