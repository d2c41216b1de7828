"""From scores of questions to the mean of a point, its states, and what the failed ones could do to it."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.measures.registry import Measure, find
from bench.types import GoldenQuestion, Score

Scores = Mapping[str, Mapping[str, Score]]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Mean of one measure over the questions of a point. None where there is no such number; never NaN.

    Attributes:
        mean: over the scored questions.
        n_scored: questions with a value.
        n_undefined: questions for which the measure has no meaning.
        n_failed: questions whose value was lost.
        n_declined: questions that were refused an answer.
        low: the mean if every failed question had the worst value of the measure's range (None: no bound).
        high: the mean if every failed question had the best one.
        sd: standard deviation over the scored questions (n - 1).
    """

    mean: float | None
    n_scored: int
    n_undefined: int
    n_failed: int
    n_declined: int
    low: float | None
    high: float | None
    sd: float | None


def aggregate(scores: Iterable[Score], measure: Measure) -> Estimate:
    """Return the estimate of ``scores``. A value that is not a finite number counts as failed."""
    states: Counter[str] = Counter()
    values: list[float] = []
    for score in scores:
        lost = score.status == "scored" and (score.value is None or not math.isfinite(score.value))
        states["failed" if lost else score.status] += 1
        if score.status == "scored" and score.value is not None and not lost:
            values.append(score.value)
    total, failed = math.fsum(values), states["failed"]
    return Estimate(
        mean=total / len(values) if values else None,
        n_scored=len(values),
        n_undefined=states["undefined"],
        n_failed=failed,
        n_declined=states["declined"],
        low=_bound(total, len(values), failed, measure.low),
        high=_bound(total, len(values), failed, measure.high),
        sd=statistics.stdev(values) if len(values) > 1 else None,
    )


def estimates(scores: Scores) -> dict[str, Estimate]:
    """Return the estimate of every measure.

    Args:
        scores: question id to full measure name to score.
    """
    columns: dict[str, list[Score]] = defaultdict(list)
    for row in scores.values():
        for name, score in row.items():
            columns[name].append(score)
    return {name: aggregate(column, find(name)) for name, column in columns.items()}


def estimates_by_category(scores: Scores, questions: Sequence[GoldenQuestion]) -> dict[str, dict[str, Estimate]]:
    """Return the estimates of every category of questions, by category."""
    groups: dict[str, dict[str, Mapping[str, Score]]] = defaultdict(dict)
    for question in questions:
        if question.question_id in scores:
            groups[question.category][question.question_id] = scores[question.question_id]
    return {category: estimates(groups[category]) for category in sorted(groups)}


def _bound(total: float, scored: int, failed: int, extreme: float | None) -> float | None:
    """Return the mean if every failed question had the value ``extreme``."""
    if not failed:
        return total / scored if scored else None
    return None if extreme is None else (total + failed * extreme) / (scored + failed)
