"""What every question retrieved in one cut, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bench.layout import Layout, advance, fill, fit
from bench.spans import Intervals
from bench.types import Cuts, Ints, Ranking


@dataclass(frozen=True, slots=True)
class Pieces:
    """Retrieved spans of all questions, grouped by question, best first.

    Attributes:
        lane: question of each piece, shape (n,).
        placed: axis intervals, shape (n, 2).
        tokens: budget tokens of each and of its header, shape (n,).
        headers: non-white-space characters and budget tokens of its header, shape (n, 2).
        bounds: first piece of each question, and the end, shape (questions + 1,).
    """

    lane: Ints
    placed: Intervals
    tokens: Ints
    headers: Ints
    bounds: Ints

    @classmethod
    def of(cls, rankings: Sequence[Ranking | None], layout: Layout) -> Pieces:
        """Lay out whole rankings, one per question (None: nothing was retrieved). Every hit has a delivered span."""
        sizes = np.array([len(ranking.hits) if ranking else 0 for ranking in rankings], dtype=np.int64)
        hits = [hit for ranking in rankings if ranking for hit in ranking.hits]
        placed = layout.place([hit.delivered for hit in hits if hit.delivered is not None])
        headers = np.array([_sizes(hit.header, hit.header_tokens) for hit in hits], dtype=np.int64).reshape(-1, 2)
        tokens = layout.axis_tokens[placed[:, 1]] - layout.axis_tokens[placed[:, 0]]
        return cls(
            lane=np.repeat(np.arange(len(rankings)), sizes),
            placed=placed,
            tokens=tokens.astype(np.int64) + headers[:, 1],
            headers=headers,
            bounds=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        )

    def first_k(self, k: int, layout: Layout) -> Pieces:
        """Return the first ``k`` pieces of every question."""
        return self._take(np.minimum(np.diff(self.bounds), k))

    def whole(self, budget: int, layout: Layout) -> Pieces:
        """Return the pieces of every question before the first that would overflow ``budget`` tokens."""
        return self._take(np.array([fit(tokens, budget) for tokens in self._per_question()], dtype=np.int64))

    def filled(self, budget: int, layout: Layout) -> Pieces:
        """Return the pieces that fill exactly ``budget`` tokens of every question; the last one is cut.

        Where its header alone would overflow the rest, nothing of it is left.
        """
        found = [fill(tokens, budget) for tokens in self._per_question()]
        whole = np.array([count for count, _ in found], dtype=np.int64).reshape(-1)
        cut = whole < np.diff(self.bounds)
        taken = self._take(whole + cut)
        for lane in np.flatnonzero(cut):
            last = taken.bounds[lane + 1] - 1
            start, end = taken.placed[last]
            rest = found[lane][1] - int(taken.headers[last, 1])
            if rest <= 0:
                taken.placed[last, 1], taken.tokens[last], taken.headers[last] = start, 0, 0
                continue
            taken.placed[last, 1] = advance(layout.axis_tokens, int(start), int(end), rest)
            taken.tokens[last] = min(taken.tokens[last], found[lane][1])
        return taken

    def _per_question(self) -> Iterator[Ints]:
        for low, high in zip(self.bounds[:-1], self.bounds[1:], strict=True):
            yield self.tokens[low:high]

    def _take(self, counts: Ints) -> Pieces:
        """Return copies of the first ``counts[q]`` pieces of each question q."""
        bounds = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        rows = np.arange(bounds[-1]) - np.repeat(bounds[:-1] - self.bounds[:-1], counts)
        return Pieces(self.lane[rows], self.placed[rows], self.tokens[rows], self.headers[rows], bounds)


@lru_cache(maxsize=65536)
def _sizes(header: str, tokens: int) -> tuple[int, int]:
    return len("".join(header.split())), tokens


CUTS: Mapping[str, Callable[[Pieces, int, Layout], Pieces]] = {
    "k": Pieces.first_k,
    "tokens": Pieces.filled,
    "whole": Pieces.whole,
}


def sizes_of(cuts: Cuts) -> Iterator[tuple[str, int]]:
    """Yield every cut as (kind, size)."""
    yield from (("k", k) for k in cuts.ks)
    yield from (("tokens", budget) for budget in cuts.tokens)
    yield from (("whole", budget) for budget in cuts.tokens)
