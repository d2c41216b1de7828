"""Chunks of several sizes in one index; the rankings of all sizes vote for what is handed over."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bench.chunkers.atoms import refuse_overlap
from bench.chunkers.base import Sized, Tools
from bench.chunkers.bases import base_of, check_base
from bench.errors import ConfigError
from bench.types import Chunk, Document, Hit, Ranking, Span


@dataclass(frozen=True, slots=True)
class Scaled(Chunk):
    """A chunk that knows its scales (several where they cut alike) and the passages that it votes for.

    Attributes:
        scales: positions in ``MultiScale.shares``.
        passages: chunks of the scale that is handed over, with which it shares a character.
    """

    scales: tuple[int, ...]
    passages: tuple[Span, ...]


@dataclass(frozen=True)
class MultiScale(Sized):
    """A document is cut to several sizes; a passage's score is the sum over sizes of 1 / (constant + rank).

    The rank is that of the best chunk of the size that shares a character with the passage (reciprocal rank fusion,
    Cormack et al. 2009; the idea of several sizes in one index is AI21's, 2025). The index holds all sizes, which is
    its cost. Rank measures count chunks of all sizes as relevant, of which only one size is handed over.

    Attributes:
        size: of the largest chunks, in ``unit``.
        shares: sizes as shares of ``size``, descending from 1.
        handed: which of the shares is handed over.
        constant: damps the first ranks.
        base: strategy that cuts; see ``bench.chunkers.bases``.
    """

    size: int = 512
    shares: list[float] = field(default_factory=lambda: [1.0, 0.5, 0.25])
    handed: float = 0.5
    constant: int = 60
    base: str = "recursive"

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_overlap(self, "multi_scale")
        check_base(self.base)
        sizes = [int(self.size * share) for share in self.shares]
        if not self.shares or self.shares[0] != 1 or sizes != sorted(set(sizes), reverse=True) or sizes[-1] < 1:
            raise ConfigError(
                f"chunker.shares: got {list(self.shares)}; allowed: shares of chunker.size ({self.size}) that descend "
                "from 1 and give different sizes of at least 1"
            )
        if self.handed not in self.shares:
            raise ConfigError(f"chunker.handed: got {self.handed}; allowed: one of chunker.shares {list(self.shares)}")
        if self.constant < 0:
            raise ConfigError(f"chunker.constant: got {self.constant}; allowed: a whole number from 0")

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document, those of all sizes; see ``Chunker``."""
        scales: dict[Span, list[int]] = defaultdict(list)
        passages: list[Span] = []
        for scale, share in enumerate(self.shares):
            sized = Sized(int(self.size * share), 0, self.unit, self.tokenizer)
            cut = base_of(self.base, sized, document).cut(document, tools)
            spans = [chunk.span for chunk in cut if chunk.span and chunk.indexed_text.strip()]
            passages = spans if share == self.handed else passages
            for span in spans:
                scales[span].append(scale)
        starts, ends = [span.start for span in passages], [span.end for span in passages]
        chunks = []
        for span, levels in scales.items():
            near = tuple(passages[bisect_right(ends, span.start) : bisect_left(starts, span.end)])
            most = max(near, key=lambda passage: min(passage.end, span.end) - max(passage.start, span.start))
            chunks.append(Scaled(span, document.text[span.start : span.end], most, tuple(levels), near))
        return chunks

    def deliver(self, rankings: Sequence[Ranking], chunks: Sequence[Chunk], texts: Mapping[str, str]) -> list[Ranking]:
        """Hand over passages by the sum of their votes; of equal sums the first in the corpus."""
        places = {chunk.span: at for at, chunk in enumerate(chunks) if chunk.span}
        return [self._fused(ranking, chunks, places) for ranking in rankings]

    def fold(self, chunks: Sequence[Chunk]) -> int:
        """Most chunks that vote for one passage."""
        return max(
            Counter(passage for chunk in chunks if isinstance(chunk, Scaled) for passage in chunk.passages).values()
        )

    def _fused(self, ranking: Ranking, chunks: Sequence[Chunk], places: Mapping[Span, int]) -> Ranking:
        ranks, votes = Counter[int](), defaultdict[Span, float](float)
        voted: set[tuple[int, Span]] = set()
        for hit in ranking.hits:
            chunk = chunks[hit.chunk]
            if not isinstance(chunk, Scaled):
                continue
            for scale in chunk.scales:
                ranks[scale] += 1
                for passage in chunk.passages:
                    if (scale, passage) not in voted:
                        voted.add((scale, passage))
                        votes[passage] += 1 / (self.constant + ranks[scale])
        best = sorted(votes, key=lambda passage: (-votes[passage], passage))
        return Ranking(ranking.question_id, tuple(Hit(places[passage], votes[passage], passage) for passage in best))
