"""Character sets of many questions at once: every question has a lane of its own, as wide as the corpus.

Position p of question q is the key ``q * width + p``; intervals of keys have shape (n, 2), dtype int64. One union and
one search then count all questions of a cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench import spans
from bench.layout import Weights
from bench.spans import Intervals
from bench.types import Ints

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Axis:
    """What counts on the axis of a corpus: prefix counts, shape (width,)."""

    weight: Weights

    @property
    def width(self) -> int:
        """Positions of one lane."""
        return len(self.weight)

    def keys(self, lane: Ints, placed: Intervals) -> Intervals:
        """Return axis intervals as keys of their lanes."""
        return placed + (lane * self.width)[:, None]

    def lane(self, keys: Intervals) -> Ints:
        """Return the lane of each interval."""
        lanes: Ints = keys[:, 0] // self.width
        return lanes

    def sizes(self, keys: Intervals) -> Ints:
        """Return what counts in each interval."""
        at = self.weight[keys % self.width]
        return (at[:, 1] - at[:, 0]).astype(np.int64)

    def totals(self, keys: Intervals, lanes: int) -> Ints:
        """Return what counts in each lane, with repetition, shape (lanes,)."""
        return per_group(self.lane(keys), self.sizes(keys), lanes)


@dataclass(frozen=True, slots=True)
class Cover:
    """A normal set of key intervals that answers how much of an interval lies in it."""

    axis: Axis
    keys: Intervals
    before: Ints

    @classmethod
    def of(cls, axis: Axis, keys: Intervals) -> Cover:
        """Return the union of ``keys``."""
        normal = spans.union(keys)
        return cls(axis, normal, np.concatenate(([0], np.cumsum(axis.sizes(normal)))).astype(np.int64))

    def inside(self, keys: Intervals) -> Ints:
        """Return what counts of each interval lies in the set."""
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.int64)
        at = self._until(keys)
        inside: Ints = at[:, 1] - at[:, 0]
        return inside

    def _until(self, keys: Intervals) -> Ints:
        """Return what counts in the set before each key."""
        row = np.searchsorted(self.keys[:, 0], keys, side="right") - 1
        first = self.keys[row]
        reached = np.stack((first[..., 0], np.minimum(keys, first[..., 1])), axis=-1)
        at = self.axis.weight[reached % self.axis.width]
        counted: Ints = np.where(row < 0, 0, self.before[row] + at[..., 1] - at[..., 0])
        return counted


def per_group(group: Ints, amount: Ints, groups: int) -> Ints:
    """Return the sum of ``amount`` in each group, shape (groups,)."""
    return np.bincount(group, weights=amount, minlength=groups).astype(np.int64)


def overlapping(a: Intervals, b: Intervals, *, touching: bool = False) -> tuple[Ints, Ints]:
    """Return the pairs (row of ``a``, row of ``b``) of intervals that share a position.

    Args:
        a: intervals, shape (n, 2).
        b: intervals, shape (m, 2).
        touching: count intervals that only touch, too.
    """
    order = np.argsort(b[:, 0], kind="stable")
    starts, ends = b[order, 0], b[order, 1]
    reach = np.maximum.accumulate(ends) if len(ends) else ends
    first = np.searchsorted(reach, a[:, 0], side="left" if touching else "right")
    last = np.searchsorted(starts, a[:, 1], side="right" if touching else "left")
    counts = np.maximum(last - first, 0)
    rows = np.repeat(np.arange(len(a)), counts)
    columns = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + first[rows]
    met = ends[columns] >= a[rows, 0] if touching else ends[columns] > a[rows, 0]
    return rows[met], order[columns[met]]
