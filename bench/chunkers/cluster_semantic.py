"""The segmentation into clusters of like meaning that is best of all, found by dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.chunkers.atoms import Atoms, embedded, refuse_overlap
from bench.chunkers.base import Sized, Tools
from bench.chunkers.recursive import Recursive
from bench.errors import ConfigError, near
from bench.types import Chunk, Document, Floats, Ints

Rewards = NDArray[np.float64]

LIMITS = ("size", "atoms")


@dataclass(frozen=True)
class ClusterSemantic(Sized):
    """Small recursive chunks (atoms) are joined so that the similarity within chunks is the greatest possible.

    The reward of a chunk is the sum of the cosine similarities of its pairs of atoms, each less the mean over all pairs
    of the document (Smith & Troynikov 2024, ``ClusterSemanticChunker``). Time is atoms times the most atoms in a
    chunk: neither the matrix of all pairs nor its square is ever made.

    Attributes:
        atom: maximum size of an atom, in ``unit``.
        limit: "size", or "atoms": a chunk has, as published, no more than ``size // atom`` atoms either.
        separators: of the atoms; see ``Recursive``.
        keep: of the atoms; see ``Recursive``.
    """

    atom: int = 50
    limit: str = "size"
    separators: list[str] | None = None
    keep: str = "end"

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_overlap(self, "cluster_semantic")
        if self.limit not in LIMITS:
            raise ConfigError(f"chunker.limit: got {self.limit!r}; {near(str(self.limit), LIMITS)}")
        if not 1 <= self.atom <= self.size:
            raise ConfigError(f"chunker.atom: got {self.atom}; allowed: from 1 to chunker.size ({self.size})")
        self._atomiser()

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``.

        Raises:
            ConfigError: there is no embedder.
        """
        small = [chunk.span for chunk in self._atomiser().cut(document, tools) if chunk.span]
        atoms = Atoms.of(self, document, ((span.start, span.end) for span in small), tools)
        if len(atoms) < 2:
            return atoms.chunks(range(len(atoms) + 1)) if len(atoms) else []
        vectors = embedded([atoms.text(i, i + 1) for i in range(len(atoms))], tools, "cluster_semantic")
        return atoms.chunks(best_borders(vectors, self._most(atoms)))

    def _atomiser(self) -> Recursive:
        return Recursive(self.atom, 0, self.unit, self.tokenizer, separators=self.separators, keep=self.keep)

    def _most(self, atoms: Atoms) -> Ints:
        """Return how many atoms may stand in a chunk that ends with each atom, at least 1, shape (atoms,)."""
        first = np.searchsorted(atoms.begins, atoms.finishes - self.size)
        fitting: Ints = np.maximum(np.arange(1, len(atoms) + 1) - first, 1)
        return np.minimum(fitting, self.size // self.atom) if self.limit == "atoms" else fitting


def best_borders(vectors: Floats, most: Ints) -> list[int]:
    """Return the borders of the segmentation with the greatest reward, from 0 to ``len(vectors)``.

    Of equal rewards the one whose last chunk has fewer atoms is taken.

    Args:
        vectors: unit vectors of the atoms, at least two.
        most: see ``ClusterSemantic._most``.
    """
    count = len(vectors)
    rewards = _rewards(vectors, int(most.max()))
    best, back = np.zeros(count + 1), np.zeros(count + 1, dtype=np.int64)
    for end in range(1, count + 1):
        sizes = int(most[end - 1])
        totals = best[end - sizes : end][::-1] + rewards[end - 1, :sizes]
        back[end] = taken = int(totals.argmax()) + 1
        best[end] = totals[taken - 1]
    borders = [count]
    while borders[-1]:
        borders.append(borders[-1] - int(back[borders[-1]]))
    return borders[::-1]


def _rewards(vectors: Floats, most: int) -> Rewards:
    """Return the reward of ``s + 1`` atoms that end with atom e at ``[e, s]``, shape (atoms, most); 0 where too few."""
    count = len(vectors)
    exact = vectors.astype(np.float64)
    mean = (np.square(exact.sum(axis=0)).sum() - np.square(exact).sum()) / (count * (count - 1))
    rewards = np.zeros((count, most))
    with_earlier = np.zeros(count)
    for apart in range(1, most):
        with_earlier[apart:] += np.einsum("ij,ij->i", exact[apart:], exact[:-apart]) - mean
        rewards[apart:, apart] = rewards[apart - 1 : -1, apart - 1] + 2 * with_earlier[apart:]
    return rewards
