"""One chunk a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.chunkers.base import Sized, Tools
from bench.chunkers.clusters import clusters
from bench.chunkers.pieces import Cuts, Level, Splitter, trim
from bench.chunkers.recursive import MULTILINGUAL, document_meter, separator_levels
from bench.types import Chunk, Document, Ints

_FORM_FEED = re.compile("\f+")


@dataclass(frozen=True)
class Page(Sized):
    """Pages of a PDF, or the parts between form feeds. One over the size is cut at paragraphs, lines, sentences, words.

    A document without pages is one page.
    """

    size: int = 1024

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        text, known = document.text, clusters(document.text)
        levels: list[Level] = [Cuts(page_starts(document)), *separator_levels(text, MULTILINGUAL, True, "end")]
        splitter = Splitter(levels, document_meter(self, text, tools), self.size, self.overlap_units, apart=1)
        return [Chunk.of(document, *trim(text, *span, known)) for span in splitter.split(0, len(text))]


def page_starts(document: Document) -> Ints:
    """Return the offset of every page: those that the loader wrote (``meta["pages"]``), else after form feeds."""
    stated = document.meta.get("pages")
    if stated is None:
        stated = [match.end() for match in _FORM_FEED.finditer(document.text)]
    inside = [int(start) for start in stated if 0 < int(start) < len(document.text)]
    return np.unique(clusters(document.text).floor(np.array(inside, dtype=np.int64)))
