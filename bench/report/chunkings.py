"""The chunk borders of a point: as the sweep stored them, else by cutting the stored documents again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.borders import chunking_file, chunking_rows, write_chunking
from bench.report.data import SweepData
from bench.spans import Intervals, intervals
from bench.store import PointRecord, read_json_lines
from bench.types import Document

if TYPE_CHECKING:
    from bench.chunkers.run import Chunking as Made

__all__ = ["NOTHING", "Borders", "Chunking", "chunking_file", "chunking_of", "recut", "write_chunking"]


@dataclass(frozen=True)
class Borders:
    """Chunks of one document as intervals, shape (chunks, 2), by start, then end."""

    spans: Intervals

    @cached_property
    def reach(self) -> Intervals:
        """Largest end of the chunks up to each, shape (chunks,)."""
        return np.maximum.accumulate(self.spans[:, 1]) if len(self.spans) else self.spans[:, 1]

    def holders(self, start: int, end: int) -> Intervals:
        """Chunks that hold the whole of ``[start, end)``."""
        last = int(np.searchsorted(self.spans[:, 0], start, side="right"))
        return self.spans[:last][self.spans[:last, 1] >= end]

    def touching(self, start: int, end: int) -> Intervals:
        """Chunks that share a character with ``[start, end)``."""
        return self.spans[(self.spans[:, 0] < end) & (self.spans[:, 1] > start)]

    def inside(self, starts: Intervals, ends: Intervals) -> Any:
        """Which of the ranges lie wholly in one chunk, shape (ranges,), bool."""
        if not len(self.spans):
            return np.zeros(len(starts), dtype=bool)
        last = np.searchsorted(self.spans[:, 0], starts, side="right") - 1
        return (last >= 0) & (self.reach[np.maximum(last, 0)] >= ends)


Chunking = Mapping[str, Borders]
NOTHING = Borders(intervals(()))


def chunking_of(data: SweepData, record: PointRecord) -> Chunking:
    """Return the borders of a point, by document.

    Empty where the sweep keeps no documents, or where they cannot be cut again as the point was cut.
    """
    fingerprint = str(record.realised.get("chunking_fingerprint", ""))
    return data.once(f"chunking:{fingerprint or record.point_id}", lambda known: _found(known, record, fingerprint))


def _found(data: SweepData, record: PointRecord, fingerprint: str) -> Chunking:
    path = chunking_file(data.folder, fingerprint)
    if fingerprint and path.is_file():
        rows = read_json_lines(path)
    elif data.documents and "_target_" in record.config.get("chunker", {}):
        rows = _cut_again(data, record, fingerprint)
    else:
        rows = []
    return {row["doc_id"]: Borders(_sorted(intervals(row["spans"]))) for row in rows}


def _cut_again(data: SweepData, record: PointRecord, fingerprint: str) -> list[dict[str, Any]]:
    """Rows of the same chunking made anew; empty where it cannot be, or comes out otherwise than it was recorded."""
    try:
        made = recut(record, data.documents.values())
    except Exception:  # a strategy that needs a model that is gone, or one of the user's own that raises
        return []
    return chunking_rows(made.chunks) if made.fingerprint == fingerprint else []


def _sorted(spans: Intervals) -> Intervals:
    return spans[np.lexsort((spans[:, 1], spans[:, 0]))]


def recut(record: PointRecord, documents: Iterable[Document]) -> Made:
    """Cut documents with the configuration of a point. Only a strategy that needs vectors loads the embedder.

    Raises:
        BenchError: the strategy cannot be made or refuses a document.
    """
    from bench.chunkers.base import Tools
    from bench.chunkers.run import chunk_corpus
    from bench.tokenize import get_tokenizer

    chunker = _configured(record.config, "chunker")

    def embed(texts: Any) -> Any:
        return _configured(record.config, "embedder").load().encode(texts, "passage")

    return chunk_corpus(chunker, documents, Tools(get_tokenizer, embed))


def _configured(config: Mapping[str, Any], group: str) -> Any:
    from bench.config import locate, typed

    values = {key: value for key, value in config[group].items() if key != "_target_"}
    return typed(locate(config[group]["_target_"], f"{group}._target_"), values, group)
