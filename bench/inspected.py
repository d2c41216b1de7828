"""One document as a point of a sweep cuts it: where its chunks lie, what is indexed and handed over for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.chunkers.deliver import Delivering
from bench.chunkers.run import chunk_corpus
from bench.errors import BenchError
from bench.production import Production
from bench.replies import Endpoint
from bench.report.chunkings import NOTHING, Borders, chunking_of
from bench.report.data import SweepData
from bench.serve import open_chat
from bench.spans import intervals
from bench.store import PointRecord
from bench.types import Chunk, Document, Span


@dataclass(frozen=True)
class Cut:
    """The chunks of one document, by start, then end; those without a source last.

    Attributes:
        chunks: text as indexed; it is the span's own where only the borders are known.
        note: why no more than the borders is known, else "".
    """

    chunks: Sequence[Chunk]
    note: str = ""

    @property
    def borders(self) -> Borders:
        """Where they lie."""
        return Borders(intervals((chunk.span.start, chunk.span.end) for chunk in self.chunks if chunk.span))


def cut_of(data: SweepData, point: int, document: Document, cache: Path) -> Cut:
    """Chunks of one point over one document, which need not be of the sweep.

    A document of the sweep is cut again only where that shows more than the borders which the sweep keeps, and a
    language model is not asked anew for it.

    Raises:
        BenchError: the document is not of the sweep, and the strategy cannot be made or refuses it.
    """
    record = data.points[point]
    known = NOTHING
    if data.documents.get(document.doc_id) is document:
        known = chunking_of(data, record).get(document.doc_id, NOTHING)
    if not len(known.spans):
        return Cut(_cut(_made(record, cache), document))
    plain = [Chunk.of(document, *span) for span in known.spans.tolist()]
    try:
        made = _made(record, cache)
        if not (getattr(made.chunker, "rewrites", False) or isinstance(made.chunker, Delivering)):
            return Cut(plain)
        again = Cut(_cut(_unasked(made, cache), document))
    except BenchError as error:
        return Cut(plain, f"only the borders are shown: {error}")
    same = again.borders.spans.tolist() == known.spans.tolist()
    return again if same else Cut(plain, "only the borders are shown: the strategy cuts otherwise today")


def _made(record: PointRecord, cache: Path) -> Production:
    settings = record.config.get("chunker", {}), record.config.get("embedder")
    return Production.of(*settings, replies=cache / "replies.sqlite")


def _unasked(made: Production, cache: Path) -> Production:
    """The same, with a language model that is known by its cached replies alone."""
    if not isinstance(made.chunker, Endpoint):
        return made
    chat = open_chat(replace(made.chunker.endpoint(), max_calls=0), cache / "replies.sqlite")
    return replace(made, tools=replace(made.tools, chat=chat))


def _cut(made: Production, document: Document) -> list[Chunk]:
    chunks = chunk_corpus(made.chunker, [document], made.tools).chunks
    return sorted(chunks, key=lambda chunk: (chunk.span is None, chunk.span or Span("", 0, 0)))
