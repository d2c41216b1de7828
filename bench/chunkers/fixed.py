"""Windows of a fixed size: the baseline of every comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.chunkers.base import Sized, Tools
from bench.chunkers.clusters import clusters
from bench.chunkers.pieces import Pieces, in_characters, in_document_tokens, merge, tiles, trim
from bench.types import Chunk, Document


@dataclass(frozen=True)
class Fixed(Sized):
    """Windows of ``size`` tokens or characters, each beginning ``overlap`` before the end of the one before.

    Token windows are those of ``langchain_text_splitters.TokenTextSplitter``, moved where they would cut a grapheme
    cluster: a window then ends before it. A cluster larger than the size is a chunk of its own.

    Attributes:
        strip: take white space off the ends of chunks.
    """

    strip: bool = False

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        text = document.text
        if not text:
            return []
        known = clusters(text)
        if self.unit == "characters":
            pieces: Pieces = tiles(0, len(text), known.borders(0, len(text)))
            marks = in_characters(pieces)
        else:
            tokenizer = tools.tokenizer(self.tokenizer)
            pieces = tiles(0, len(text), known.floor(tokenizer.starts(text)))
            marks = in_document_tokens(text, tokenizer)(pieces)
        runs = merge(marks, self.size, self.overlap_units)
        spans = ((int(pieces[0][low]), int(pieces[1][high - 1])) for low, high in runs)
        if self.strip:
            spans = (trim(text, start, end, known) for start, end in spans)
        return [Chunk.of(document, start, end) for start, end in spans]
