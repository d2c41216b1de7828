"""Sentences, and paragraphs, packed up to a size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bench.chunkers.base import Sized, Tools
from bench.chunkers.clusters import clusters
from bench.chunkers.pieces import Cuts, Level, Splitter, distinct, trim
from bench.chunkers.recursive import MULTILINGUAL, document_meter, separator_levels
from bench.types import Chunk, Document, Ints

_WINDOW_CHARS, _GUARD_CHARS = 1000, 80


@dataclass(frozen=True)
class Sentence(Sized):
    """Whole sentences, as many to a chunk as fit. A sentence over the size is cut at lines, clauses, words.

    Sentences are those of the ``sentencex`` package (Wikimedia), which knows abbreviations and the full stops of
    some 240 languages. Neighbours share whole sentences, as many as fit the overlap.

    Attributes:
        language: ISO 639-1 code: which abbreviations end no sentence.
    """

    language: str = "en"

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        text = document.text
        levels: list[Level] = [
            Cuts(sentence_starts(text, self.language)),
            *separator_levels(text, MULTILINGUAL[1:], True, "end"),
        ]
        splitter = Splitter(levels, document_meter(self, text, tools), self.size, self.overlap_units)
        known = clusters(text)
        return [Chunk.of(document, *trim(text, *span, known)) for span in splitter.split(0, len(text))]


@dataclass(frozen=True)
class Paragraph(Sized):
    """Paragraphs (between blank lines), as many to a chunk as fit. One over the size is cut at its sentences.

    Attributes:
        pack: put several small paragraphs into one chunk; False keeps every paragraph apart.
        language: of the sentences; see ``Sentence``.
    """

    pack: bool = True
    language: str = "en"

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        text = document.text
        blank, *finer = separator_levels(text, MULTILINGUAL, True, "end")
        levels: list[Level] = [blank, Cuts(sentence_starts(text, self.language)), *finer]
        apart = 0 if self.pack else 1
        splitter = Splitter(levels, document_meter(self, text, tools), self.size, self.overlap_units, apart)
        known = clusters(text)
        return [Chunk.of(document, *trim(text, *span, known)) for span in splitter.split(0, len(text))]


@lru_cache(maxsize=4096)
def sentence_starts(text: str, language: str) -> Ints:
    """Return the offset of every sentence of ``text`` but the first, never inside a grapheme cluster.

    The segmenter's time grows with the square of a paragraph's length, so it sees windows: of each all sentences
    but those near its end count, and the next window begins where they end. A sentence without an end in its window
    doubles it.
    """
    import sentencex

    found: list[int] = []
    at, window = 0, _WINDOW_CHARS
    while at < len(text):
        part = text[at : at + window]
        last = at + len(part) == len(text)
        starts = [int(one["start_index"]) for one in sentencex.get_sentence_boundaries(language, part)]
        sure = [start for start in starts if start > 0 and (last or start <= len(part) - _GUARD_CHARS)]
        found += [at + start for start in sure]
        if last:
            break
        at, window = (at + sure[-1], _WINDOW_CHARS) if sure else (at, window * 2)
    return distinct(clusters(text).floor(np.array(found, dtype=np.int64)))
