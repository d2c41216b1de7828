"""The matrix that every statistic starts from: questions x points, what was scored, and each question's cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one measure, higher is better (a cost is negated by the caller).

    ``values`` and ``scored`` have shape (questions, points); ``values`` is 0 where nothing was scored.
    ``clusters`` gives each question its document, numbered 0…C-1: questions on one document are not independent.
    """

    values: Array
    scored: Mask
    clusters: Index

    @classmethod
    def of(cls, values: Array, clusters: Sequence[object] | Index) -> Scores:
        """Build from an array in which NaN marks what was not scored, and one cluster label a question."""
        values = np.asarray(values, dtype=np.float64)
        scored = ~np.isnan(values)
        labels = np.unique(np.asarray([str(c) for c in clusters]), return_inverse=True)[1]
        return cls(np.where(scored, values, 0.0), scored, labels.astype(np.int64).reshape(-1))

    @property
    def n_questions(self) -> int:
        """Questions (rows)."""
        return len(self.values)

    @property
    def n_points(self) -> int:
        """Points (columns)."""
        return int(self.values.shape[1])

    @property
    def n_clusters(self) -> int:
        """Different documents."""
        return int(self.clusters.max()) + 1 if len(self.clusters) else 0

    def rows(self, mask: Mask) -> Scores:
        """The questions of ``mask`` alone, clusters numbered anew."""
        clusters = np.unique(self.clusters[mask], return_inverse=True)[1].astype(np.int64).reshape(-1)
        return Scores(self.values[mask], self.scored[mask], clusters)

    def columns(self, index: Sequence[int] | Index) -> Scores:
        """The points of ``index`` alone, in that order."""
        return Scores(self.values[:, index], self.scored[:, index], self.clusters)

    def means(self) -> Array:
        """Mean of each point over its scored questions, shape (points,); NaN for a point with none."""
        count = self.scored.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.values.sum(axis=0) / count)

    def minus(self, reference: int) -> Scores:
        """Paired differences of every point from one, on the questions scored in both."""
        both = self.scored & self.scored[:, [reference]]
        difference = np.where(both, self.values - self.values[:, [reference]], 0.0)
        return Scores(difference, both, self.clusters)

    def sums(self) -> tuple[Array, Array]:
        """Sum of scores and number of scored questions of each cluster, both of shape (clusters, points)."""
        return cluster_sums(self.values, self.clusters), cluster_sums(self.scored.astype(np.float64), self.clusters)


def cluster_sums(values: Array, clusters: Index) -> Array:
    """Sum the rows of ``values`` (questions, n) by cluster: shape (clusters, n)."""
    count = int(clusters.max()) + 1 if len(clusters) else 0
    sums = np.zeros((count, values.shape[1]))
    order = np.argsort(clusters, kind="stable")
    if count:
        starts = np.searchsorted(clusters[order], np.arange(count))
        np.add.reduceat(values[order], starts, axis=0, out=sums)
    return sums


def all_pairs(points: int) -> Index:
    """Every pair of columns, shape (points * (points - 1) / 2, 2)."""
    return np.stack(np.triu_indices(points, 1), axis=1).astype(np.int64)


def against(points: int, reference: int) -> Index:
    """Every other column paired with ``reference``, shape (points - 1, 2)."""
    others = np.delete(np.arange(points, dtype=np.int64), reference)
    return np.stack((others, np.full_like(others, reference)), axis=1)
