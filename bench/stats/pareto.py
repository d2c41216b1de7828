"""Trade-offs: the Pareto front over several measures, and how sure each point's place on it is."""

from __future__ import annotations

import numpy as np

from bench.stats.scores import Array, Mask

WORK = 400_000_000


def dominates(values: Array) -> Mask:
    """Who dominates whom, shape (points, points): row beats column on one measure and is worse on none.

    Args:
        values: shape (points, measures), higher is better on each.
    """
    no_worse = np.all(values[:, None, :] >= values[None, :, :], axis=2)
    better = np.any(values[:, None, :] > values[None, :, :], axis=2)
    return np.asarray(no_worse & better)


def front(values: Array) -> Mask:
    """Points that none dominates, shape (points,)."""
    return np.asarray(~dominates(values).any(axis=0))


def front_probability(boots: list[Array]) -> tuple[Array, int]:
    """Share of resamples in which each point is on the front, shape (points,), and how many resamples were used.

    Args:
        boots: one array (resamples, points) a measure, higher is better, resampled together; a cost that does
            not vary has one row.
    """
    points = boots[0].shape[1]
    rows = max(len(boot) for boot in boots)
    rows = max(1, min(rows, WORK // (points * points * len(boots))))
    hits = np.zeros(points)
    for row in range(rows):
        hits += front(np.stack([boot[row % len(boot)] for boot in boots], axis=1))
    return hits / rows, rows


def dominators(values: Array) -> list[int | None]:
    """For each point, the point of the front that dominates it by the most on the first measure; None on the front."""
    beaten, on_front = dominates(values), front(values)
    result: list[int | None] = []
    for point in range(len(values)):
        over = np.flatnonzero(beaten[:, point] & on_front)
        result.append(int(over[np.argmax(values[over, 0])]) if len(over) else None)
    return result
