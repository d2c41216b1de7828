"""A language model chooses where the subject changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import BaseModel

from bench.chunkers.asking import Asking
from bench.chunkers.atoms import Atoms, refuse_overlap
from bench.chunkers.base import Tools
from bench.chunkers.pieces import Cuts, Level, Splitter
from bench.chunkers.recursive import MULTILINGUAL, document_meter, separator_levels
from bench.chunkers.sentence import sentence_starts
from bench.errors import ConfigError
from bench.replies import Reply, Request
from bench.types import Chunk, Document


class First(BaseModel):
    """Number of the paragraph, from 1, with which something new begins."""

    first: int


@dataclass(frozen=True)
class Lumber(Asking):
    """As many paragraphs as fit the size are shown to the model; the chunk ends before the one that it names.

    The scheme of LumberChunker (Duarte et al. 2024, arXiv 2406.17526), whose groups have some 550 tokens. A number
    that is none of those shown ends the chunk where the size does, which the record counts (``cutting_lost``). Calls
    follow each other, one a chunk.

    Attributes:
        paragraph: maximum size of a paragraph, in ``unit``; longer ones are cut at sentences.
        language: ISO 639-1 code of the sentences.
    """

    follows: ClassVar[bool] = True

    size: int = 512
    prompt: str = "breaks"
    paragraph: int = 128
    language: str = "en"

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_overlap(self, "lumber")
        if not 1 <= self.paragraph <= self.size:
            raise ConfigError(f"chunker.paragraph: got {self.paragraph}; allowed: from 1 to chunker.size ({self.size})")

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        atoms = self._paragraphs(document, tools)
        borders = [0]
        while borders[-1] < len(atoms):
            low = borders[-1]
            high = min(atoms.reach(low, self.size), len(atoms))
            borders.append(self._next(atoms, low, high, tools) if high < len(atoms) and high - low > 1 else high)
        return atoms.chunks(borders) if len(atoms) else []

    def _paragraphs(self, document: Document, tools: Tools) -> Atoms:
        text = document.text
        blank, *finer = separator_levels(text, MULTILINGUAL, True, "end")
        sentences = sentence_starts(text, self.language) if text.strip() else np.zeros(0, dtype=np.int64)
        levels: list[Level] = [blank, Cuts(sentences), *finer]
        splitter = Splitter(levels, document_meter(self, text, tools), self.paragraph, 0, apart=1)
        return Atoms.of(self, document, splitter.split(0, len(text)), tools)

    def _next(self, atoms: Atoms, low: int, high: int, tools: Tools) -> int:
        shown = [atoms.text(at, at + 1) for at in range(low, high)]
        (reply,) = self.ask([Request(self.messages(paragraphs=shown), First, max_tokens=32)], tools)
        chosen = _chosen(reply, len(shown))
        self.lost(tools, "chunks cut at the size", int(chosen is None))
        return high if chosen is None else low + chosen


def _chosen(reply: Reply, shown: int) -> int | None:
    """Return how many paragraphs the chunk has; None where the reply names none of those shown, or the first."""
    number = reply.data.first if reply.state == "ok" and isinstance(reply.data, First) else 0
    return number - 1 if 2 <= number <= shown else None
