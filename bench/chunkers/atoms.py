"""Atoms: the small pieces that strategies by meaning put together, with their sizes and their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.chunkers.base import Sized, Tools
from bench.chunkers.clusters import clusters
from bench.chunkers.pieces import Cuts, Level, Splitter, trim
from bench.chunkers.recursive import MULTILINGUAL, document_meter, separator_levels
from bench.chunkers.sentence import sentence_starts
from bench.errors import ConfigError
from bench.types import Chunk, Document, Floats, Ints


@dataclass(frozen=True, slots=True)
class Atoms:
    """Pieces of a document in order, none of them blank.

    Attributes:
        starts: first offsets, shape (atoms,).
        ends: offsets after the last character, shape (atoms,).
        begins: atoms i to j together have the size ``finishes[j] - begins[i]``; shape (atoms,).
        finishes: see ``begins``.
    """

    document: Document
    starts: Ints
    ends: Ints
    begins: Ints
    finishes: Ints

    @classmethod
    def of(cls, sized: Sized, document: Document, spans: Iterable[tuple[int, int]], tools: Tools) -> Atoms:
        """Trim spans that stand in order, leave out blank ones, and measure the rest in the unit of a strategy."""
        text, known = document.text, clusters(document.text)
        trimmed = (trim(text, start, end, known) for start, end in spans)
        pairs = np.array([span for span in trimmed if span[0] < span[1]], dtype=np.int64).reshape(-1, 2)
        starts, ends = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        return cls(document, starts, ends, *document_meter(sized, text, tools)((starts, ends)))

    def __len__(self) -> int:
        return len(self.starts)

    def size(self, low: int, high: int) -> int:
        """Return the size of atoms ``[low, high)`` together, low < high."""
        return int(self.finishes[high - 1] - self.begins[low])

    def reach(self, low: int, limit: int) -> int:
        """Return the largest ``high`` with atoms ``[low, high)`` within ``limit``; at least ``low + 1``."""
        return max(low + 1, int(np.searchsorted(self.finishes, self.begins[low] + limit, side="right")))

    def text(self, low: int, high: int) -> str:
        """Return the text from atom ``low`` to the end of atom ``high - 1``."""
        return self.document.text[int(self.starts[low]) : int(self.ends[high - 1])]

    def chunks(self, borders: Sequence[int]) -> list[Chunk]:
        """Return the chunks between neighbouring ``borders``, which are indices of atoms from 0 to ``len(self)``."""
        first, last = self.starts[list(borders[:-1])], self.ends[[border - 1 for border in borders[1:]]]
        return [Chunk.of(self.document, *span) for span in zip(first.tolist(), last.tolist(), strict=True)]


def sentence_atoms(sized: Sized, document: Document, language: str, tools: Tools) -> Atoms:
    """Return the sentences of a document; one over the size is cut at lines, clauses, words."""
    text = document.text
    levels: list[Level] = [
        Cuts(sentence_starts(text, language)),
        *separator_levels(text, MULTILINGUAL[1:], True, "end"),
    ]
    splitter = Splitter(levels, document_meter(sized, text, tools), sized.size, 0, apart=1)
    return Atoms.of(sized, document, splitter.split(0, len(text)), tools)


def embedded(texts: Sequence[str], tools: Tools, strategy: str) -> Floats:
    """Return the vectors of ``texts``, shape (len(texts), dim).

    Raises:
        ConfigError: there is no embedder.
    """
    if tools.embed is None:
        raise ConfigError(f"chunker {strategy}: cuts by meaning and has no embedder; choose one with embedder=minilm")
    return tools.embed(texts)


def refuse_overlap(sized: Sized, strategy: str) -> None:
    """Raise where a strategy whose chunks share nothing is given an overlap.

    Raises:
        ConfigError: the overlap is not 0.
    """
    if sized.overlap != 0:
        raise ConfigError(
            f"chunker.overlap: got {sized.overlap:g}; allowed: 0, chunks of {strategy} do not overlap; leave it out"
        )
