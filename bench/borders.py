"""Where the chunks of a sweep's points lie, kept once for each chunking: reports and diagnoses need nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.store import write_json_lines
from bench.types import Chunk


def chunking_rows(chunks: Iterable[Chunk]) -> list[dict[str, Any]]:
    """Rows to store: one a document, the spans of its chunks; chunks without a source are left out."""
    found: dict[str, list[list[int]]] = {}
    for chunk in chunks:
        if chunk.span is not None:
            found.setdefault(chunk.span.doc_id, []).append([chunk.span.start, chunk.span.end])
    return [{"doc_id": doc_id, "spans": spans} for doc_id, spans in found.items()]


def chunking_file(sweep: Path, fingerprint: str) -> Path:
    """Where a sweep keeps the borders of one chunking (points of several embedders share it)."""
    return sweep / "chunkings" / f"{fingerprint[:16]}.jsonl.gz"


def write_chunking(sweep: Path, fingerprint: str, chunks: Iterable[Chunk]) -> None:
    """Store the borders of a chunking, once.

    Raises:
        StoreError: the folder cannot be written.
    """
    path = chunking_file(sweep, fingerprint)
    if not path.is_file():
        write_json_lines(path, chunking_rows(chunks))
