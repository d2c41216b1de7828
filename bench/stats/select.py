"""Choosing the best of many overstates it: splits by document, repeated splits, and how often each point wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.stats.scores import Array, Index, Mask, Scores

MIN_SPLIT_CLUSTERS = 20
MIN_SPLIT_QUESTIONS = 60


def can_split(questions: int, clusters: int) -> bool:
    """True if both halves of a split by document are large enough to say something."""
    return clusters >= MIN_SPLIT_CLUSTERS and questions >= MIN_SPLIT_QUESTIONS


def split(clusters: Index, categories: Sequence[str], *, confirm: float = 0.5, seed: int = 0) -> Mask:
    """Questions of the selection part, shape (questions,); the rest confirm. No document is in both.

    Documents are dealt in seeded order, the large ones first, each to the part that is further below its share of
    that document's categories.

    Args:
        clusters: document number of each question.
        categories: category of each question, balanced between the parts.
        confirm: share of the questions that is kept for confirmation.
        seed: of the order.
    """
    labels = np.unique(np.asarray(categories, dtype=str), return_inverse=True)[1].reshape(-1)
    counts = np.zeros((int(clusters.max()) + 1, int(labels.max()) + 1))
    np.add.at(counts, (clusters, labels), 1.0)
    order = np.random.default_rng(seed).permutation(len(counts))
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    wanted = np.stack((counts.sum(axis=0) * (1 - confirm), counts.sum(axis=0) * confirm))
    selected = np.zeros(len(counts), dtype=bool)
    for cluster in order:
        lack = (wanted * counts[cluster]).sum(axis=1)
        side = int(lack[1] > lack[0])
        selected[cluster] = side == 0
        wanted[side] -= counts[cluster]
    return np.asarray(selected[clusters], dtype=np.bool_)


def selection_frequency(boot: Array) -> Array:
    """Share of the resamples ``boot`` (resamples, points) in which each point is the best, shape (points,)."""
    best = boot >= boot.max(axis=1, keepdims=True) - 1e-12
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


@dataclass(frozen=True, slots=True)
class Nested:
    """Repeated splits: what the best of the selection parts scored there, and on the parts that it had not seen.

    ``chosen`` has the share of the splits in which each point was the best. ``low`` and ``high`` are the 2.5 % and
    97.5 % points of the confirmed score over the splits: its spread, not a confidence interval.
    """

    selected: float
    confirmed: float
    low: float
    high: float
    rounds: int
    chosen: Array

    @property
    def optimism(self) -> float:
        """How much the selection score is too high."""
        return self.selected - self.confirmed


def nested(scores: Scores, *, rounds: int = 200, seed: int = 0) -> Nested:
    """Choose the best point on a random half of the documents and score it on the other, many times.

    Takes at least two clusters. A point that a half has no score for cannot be the best of it.
    """
    total, count = scores.sums()
    rng = np.random.default_rng(seed)
    half = max(1, len(total) // 2)
    inside = np.argsort(rng.random((rounds, len(total))), axis=1) < half
    first, second = (_means(mask.astype(np.float64), total, count) for mask in (inside, ~inside))
    best = np.argmax(np.where(np.isnan(first), -np.inf, first), axis=1)
    each = np.arange(rounds)
    seen, unseen = first[each, best], second[each, best]
    known = ~np.isnan(unseen)
    low, high = np.quantile(unseen[known], (0.025, 0.975))
    chosen = np.bincount(best, minlength=scores.n_points) / rounds
    return Nested(float(seen[known].mean()), float(unseen[known].mean()), float(low), float(high), rounds, chosen)


def _means(weights: Array, total: Array, count: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((weights @ total) / (weights @ count))
