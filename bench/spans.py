"""Algebra of half-open intervals on one document, as arrays of shape (n, 2), dtype int64.

A set of characters is kept *normal*: sorted, disjoint, not touching, not empty. Every function takes any list of
intervals and returns a normal one. ``[0, 100)`` and ``[100, 150)`` share nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from bench.types import Ints

Intervals = NDArray[np.int64]


def intervals(pairs: Iterable[tuple[int, int]]) -> Intervals:
    """Return ``pairs`` as an (n, 2) array; (0, 2) when there are none."""
    return np.array(list(pairs), dtype=np.int64).reshape(-1, 2)


def union(spans: Intervals) -> Intervals:
    """Return the normal form of ``spans``: their union."""
    spans = spans[spans[:, 0] < spans[:, 1]]
    if len(spans) < 2:
        return spans
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    reach = np.maximum.accumulate(spans[:, 1])
    first = np.concatenate(([True], spans[1:, 0] > reach[:-1]))
    last = np.concatenate((first[1:], [True]))
    return np.stack((spans[first, 0], reach[last]), axis=1)


def intersect(a: Intervals, b: Intervals) -> Intervals:
    """Return the characters that are in both ``a`` and ``b``."""
    a, b = union(a), union(b)
    if not len(a) or not len(b):
        return intervals(())
    first = np.searchsorted(b[:, 1], a[:, 0], side="right")
    last = np.searchsorted(b[:, 0], a[:, 1], side="left")
    counts = last - first
    rows = np.repeat(np.arange(len(a)), counts)
    columns = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + first[rows]
    return np.stack((np.maximum(a[rows, 0], b[columns, 0]), np.minimum(a[rows, 1], b[columns, 1])), axis=1)


def subtract(a: Intervals, b: Intervals) -> Intervals:
    """Return the characters of ``a`` that are not in ``b``."""
    a, b = union(a), union(b)
    if not len(a) or not len(b):
        return a
    low, high = min(a[0, 0], b[0, 0]), max(a[-1, 1], b[-1, 1])
    gaps = np.stack((np.concatenate(([low], b[:, 1])), np.concatenate((b[:, 0], [high]))), axis=1)
    return intersect(a, gaps)


def length(spans: Intervals, weight: Ints | None = None) -> int:
    """Return the size of ``spans`` counted with repetition.

    Args:
        spans: (n, 2) intervals.
        weight: prefix counts of the document, shape (len(text) + 1,): ``weight[i]`` characters (or tokens) that
            count stand before offset i. None counts every code point.
    """
    if weight is None:
        return int((spans[:, 1] - spans[:, 0]).sum())
    return int((weight[spans[:, 1]] - weight[spans[:, 0]]).sum())


def ink(text: str) -> Ints:
    """Return prefix counts of non-whitespace code points, shape (len(text) + 1,): white space is not evidence."""
    counts = np.zeros(len(text) + 1, dtype=np.int64)
    np.cumsum(np.fromiter((not c.isspace() for c in text), dtype=np.int64, count=len(text)), out=counts[1:])
    return counts


def covers(outer: Sequence[tuple[int, int]] | Intervals, start: int, end: int, weight: Ints) -> bool:
    """True if every counted character of ``[start, end)`` lies in ``outer``."""
    wanted = intervals([(start, end)])
    return length(intersect(np.asarray(outer, dtype=np.int64).reshape(-1, 2), wanted), weight) == length(wanted, weight)
