"""Cuts where the meaning of neighbouring sentences changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.chunkers.atoms import Atoms, embedded, refuse_overlap, sentence_atoms
from bench.chunkers.base import Sized, Tools
from bench.errors import ConfigError, near
from bench.types import Chunk, Document, Floats

Distances = NDArray[np.float64]

AMOUNTS = {"percentile": 95.0, "standard_deviation": 3.0, "interquartile": 1.5, "gradient": 95.0}
"""Ways to find breaks, with the amounts that LangChain takes for them."""


@dataclass(frozen=True)
class Semantic(Sized):
    """Sentences are embedded with their neighbours; a chunk ends where the distance to the next one is large.

    The breaks are those of ``langchain_experimental.text_splitter.SemanticChunker`` (after G. Kamradt) on the same
    sentences; sentences are those of ``bench.chunkers.sentence.Sentence``. Unlike there, the size is a hard maximum:
    a group over it is cut where the distance is largest between half the size and the size.

    Attributes:
        breakpoint: breaks are distances above their ``amount``-th "percentile"; above the mean plus ``amount`` times
            their "standard_deviation" or "interquartile" range; or where the "gradient" of distances is above its
            ``amount``-th percentile.
        amount: see ``breakpoint``; None: 95, 3, 1.5, 95.
        buffer: neighbours on each side that are embedded with every sentence.
        min_size: a break that would leave a smaller chunk before it is not made, in ``unit``.
        language: ISO 639-1 code: which abbreviations end no sentence.
    """

    breakpoint: str = "percentile"
    amount: float | None = None
    buffer: int = 1
    min_size: int = 0
    language: str = "en"

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_overlap(self, "semantic")
        if self.breakpoint not in AMOUNTS:
            raise ConfigError(f"chunker.breakpoint: got {self.breakpoint!r}; {near(str(self.breakpoint), AMOUNTS)}")
        if self.breakpoint in ("percentile", "gradient") and not 0 <= self.threshold <= 100:
            raise ConfigError(f"chunker.amount: got {self.amount}; allowed: a percentile from 0 to 100")
        if self.buffer < 0:
            raise ConfigError(f"chunker.buffer: got {self.buffer}; allowed: a whole number of sentences from 0")
        if not 0 <= self.min_size <= self.size:
            raise ConfigError(f"chunker.min_size: got {self.min_size}; allowed: from 0 to chunker.size ({self.size})")

    @property
    def threshold(self) -> float:
        """The amount, or the default of the way."""
        return AMOUNTS[self.breakpoint] if self.amount is None else self.amount

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``.

        Raises:
            ConfigError: there is no embedder.
        """
        atoms = sentence_atoms(self, document, self.language, tools)
        if not len(atoms):
            return []
        jumps = np.zeros(0)
        if len(atoms) > 1:
            count, buffer = len(atoms), self.buffer
            windows = [atoms.text(max(0, i - buffer), min(count, i + buffer + 1)) for i in range(count)]
            jumps = distances(embedded(windows, tools, "semantic"))
        breaks = np.flatnonzero(above(jumps, self.breakpoint, self.threshold)) + 1
        borders = [0]
        for at in breaks.tolist():
            if atoms.size(borders[-1], at) >= self.min_size:
                borders.append(at)
        return atoms.chunks([*_limited([*borders, len(atoms)], atoms, jumps, self.size)])


def distances(vectors: Floats) -> Distances:
    """Return the cosine distance of each unit vector to the next, shape (len(vectors) - 1,)."""
    return np.asarray(1.0 - np.einsum("ij,ij->i", vectors[:-1], vectors[1:], dtype=np.float64))


def above(jumps: Distances, way: str, amount: float) -> NDArray[np.bool_]:
    """Return which of the distances are breaks; see ``Semantic.breakpoint``."""
    if len(jumps) < (2 if way == "gradient" else 1):
        return np.zeros(len(jumps), dtype=bool)
    if way == "gradient":
        slopes = np.gradient(jumps)
        return np.asarray(slopes > np.percentile(slopes, amount))
    if way == "percentile":
        return np.asarray(jumps > np.percentile(jumps, amount))
    low, high = np.percentile(jumps, [25, 75])
    spread = jumps.std() if way == "standard_deviation" else high - low
    return np.asarray(jumps > jumps.mean() + amount * spread)


def _limited(borders: Sequence[int], atoms: Atoms, jumps: Distances, size: int) -> Iterator[int]:
    """Yield the borders with more between them, so that no chunk of several atoms is over the size."""
    low = borders[0]
    yield low
    for border in borders[1:]:
        while atoms.size(low, border) > size and border - low > 1:
            reach = min(atoms.reach(low, size), border - 1)
            first = min(atoms.reach(low, size // 2), reach)
            window = jumps[first - 1 : reach][::-1]
            low = reach - int(window.argmax())
            yield low
        yield border
        low = border
