"""Borders of grapheme clusters: no chunk begins or ends inside what a reader sees as one character."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bench.types import Ints


@dataclass(frozen=True, slots=True)
class Ranges:
    """Disjoint ranges of a text in order, ``[starts[i], ends[i])``, inside which nothing is to be cut."""

    starts: Ints
    ends: Ints

    def floor(self, offsets: Ints) -> Ints:
        """Move each offset that lies strictly inside a range back to its start."""
        return self._move(offsets, self.starts)

    def ceil(self, offsets: Ints) -> Ints:
        """Move each offset that lies strictly inside a range on to its end."""
        return self._move(offsets, self.ends)

    def inside(self, offsets: Ints) -> NDArray[np.bool_]:
        """Return which offsets lie strictly inside a range."""
        return np.asarray(self.floor(offsets) != offsets)

    def borders(self, start: int, end: int) -> Ints:
        """Return every offset of ``[start, end]`` that is not strictly inside a range."""
        keep = np.ones(end - start + 1, dtype=bool)
        low, high = np.searchsorted(self.ends, start, side="right"), np.searchsorted(self.starts, end)
        sizes = self.ends[low:high] - self.starts[low:high] - 1
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        hidden = np.repeat(self.starts[low:high] + 1, sizes) + within - start
        keep[hidden[(hidden > 0) & (hidden < end - start)]] = False
        return np.flatnonzero(keep) + start

    def _move(self, offsets: Ints, to: Ints) -> Ints:
        if not len(self.starts):
            return offsets
        index = np.searchsorted(self.starts, offsets, side="left") - 1
        within = (index >= 0) & (offsets < self.ends[index])
        return np.where(within, to[index], offsets)


NONE = Ranges(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


@lru_cache(maxsize=4096)
def clusters(text: str) -> Ranges:
    """Return the clusters of ``text`` (Unicode extended grapheme clusters, by the ``regex`` package)."""
    if text.isascii() and "\r\n" not in text:
        return NONE
    found = [(start, end) for low, high in _regions(text) for start, end in _within(text, low, high)]
    if not found:
        return NONE
    starts, ends = np.array(found, dtype=np.int64).T
    return Ranges(np.ascontiguousarray(starts), np.ascontiguousarray(ends))


def _within(text: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    """Yield the clusters of more than one code point in ``[low, high)``, which begins and ends at a border."""
    import regex

    for match in regex.finditer(r"\X", text, pos=low, endpos=high):
        start, end = match.span()
        if end - start > 1:
            yield start, end


def _regions(text: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of ``text`` that hold a code point which can join its neighbours, one more on each side."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    joins = np.flatnonzero(_joining()[codes])
    if not len(joins):
        return
    apart = np.flatnonzero(np.diff(joins) > 2)
    firsts = joins[np.concatenate(([0], apart + 1))]
    lasts = joins[np.concatenate((apart, [len(joins) - 1]))]
    yield from zip(np.maximum(firsts - 1, 0).tolist(), np.minimum(lasts + 2, len(text)).tolist(), strict=True)


@lru_cache(maxsize=1)
def _joining() -> NDArray[np.bool_]:
    """Return which code points take part in a cluster with a neighbour, shape (0x110000,).

    A cluster needs at least one of them; letters and controls on their own never join.
    """
    import regex

    table = np.zeros(0x110000, dtype=bool)
    everything = "".join(map(chr, range(0x110000)))
    for match in regex.finditer(r"[^\p{GCB=Other}\p{GCB=Control}\p{GCB=LF}]+", everything):
        table[match.start() : match.end()] = True
    return table
