"""Measures of a chunking before any retrieval: what an oracle could do with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.measures.gold import Gold
from bench.measures.lanes import overlapping
from bench.measures.registry import Measure, register
from bench.measures.span import NO_GOLD, NO_TOKEN, SMITH, Column, Overlap, item_mean, ratio
from bench.spans import Intervals
from bench.types import Ints


@dataclass(frozen=True, slots=True)
class Holding:
    """Which chunk holds how much of which row of the gold: one entry a pair that shares a counted character.

    Attributes:
        gold: the evidence.
        chunks: axis intervals of the chunks, shape (chunks, 2).
        row: row of the gold, shape (pairs,).
        chunk: index of the chunk, shape (pairs,).
        shared: counted characters shared, shape (pairs,).
    """

    gold: Gold
    chunks: Intervals
    row: Ints
    chunk: Ints
    shared: Ints

    @classmethod
    def of(cls, gold: Gold, chunks: Intervals) -> Holding:
        """Find the pairs. Where the rules say so, a chunk that only touches gold is one, too."""
        axis, touching = gold.axis, gold.rules.touching
        placed = gold.keys - (gold.row_lane * axis.width)[:, None]
        row, chunk = overlapping(placed, chunks, touching=touching)
        low = np.maximum(placed[row, 0], chunks[chunk, 0])
        high = np.minimum(placed[row, 1], chunks[chunk, 1])
        shared = axis.sizes(np.stack((low, high), axis=1))
        kept = shared >= (0 if touching else 1)
        return cls(gold, chunks, row[kept], chunk[kept], shared[kept])

    def covered(self) -> Ints:
        """Return what all chunks together cover of each row, shape (rows,)."""
        gold = self.gold
        keys = gold.axis.keys(gold.row_lane[self.row], self.chunks[self.chunk])
        return gold.cover(keys).inside(gold.keys)


def precision_omega(holding: Holding, *, tokens: bool = False) -> Column:
    """Precision of an oracle that retrieves exactly the chunks that overlap the gold, each character once.

    Where the rules are the published ones, gold that no chunk holds counts among what was retrieved.
    """
    gold = holding.gold
    rows, _ = gold.best(holding.covered())
    taken = np.isin(holding.row, rows)
    keys = gold.axis.keys(gold.row_lane[holding.row[taken]], holding.chunks[holding.chunk[taken]])
    overlap = Overlap.of(gold, rows, keys, tokens=tokens)
    total = overlap.unique
    if gold.rules.gold_repeats:
        axis = gold.axis_tokens if tokens else gold.axis
        total = total + axis.totals(gold.set_of(rows), gold.questions) - overlap.shared
    return Column(ratio(overlap.shared, total), overlap.defined, overlap.reason)


def evidence_intact(holding: Holding) -> Column:
    """Share of the evidence items wholly inside one chunk."""
    gold = holding.gold
    most = np.zeros(len(gold.sizes), dtype=np.int64)
    np.maximum.at(most, holding.row, holding.shared)
    _, share = gold.best(most)
    return Column(item_mean(gold, (share >= 1.0).astype(np.float64)), gold.defined, NO_GOLD)


def reachable(holding: Holding) -> Column:
    """1 if every evidence item lies inside the chunks taken together: retrieval could bring all of it."""
    gold = holding.gold
    _, share = gold.best(holding.covered())
    whole = item_mean(gold, (share >= 1.0).astype(np.float64)) >= 1.0
    return Column(whole.astype(np.float64), gold.defined, NO_GOLD)


CHUNKING_MEASURES: dict[Measure, Callable[[Holding], Column]] = {
    Measure("precision_omega", undefined=NO_GOLD, source=SMITH): precision_omega,
    Measure("precision_omega_in_tokens", undefined=NO_TOKEN, source=SMITH): (
        lambda holding: precision_omega(holding, tokens=True)
    ),
    Measure("evidence_intact", undefined=NO_GOLD, source="items wholly inside one chunk"): evidence_intact,
    Measure("reachable", undefined=NO_GOLD, source="items wholly inside all chunks together"): reachable,
}
register(*CHUNKING_MEASURES)
