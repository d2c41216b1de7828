"""Chunking failure patterns, counted per point: what its borders broke."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bench.report.chunkings import NOTHING, Borders, Chunking, chunking_of
from bench.report.context import evidence_of
from bench.report.data import SweepData
from bench.report.structure import Range, parts_of
from bench.store import PointRecord
from bench.types import Document

OVERLAP_LIMIT = 0.20
TINY_CHARS = 40


@dataclass(frozen=True, slots=True)
class Patterns:
    """Counts of one point; ``*_of`` fields are how many there are to break.

    Attributes:
        tables_split: tables that no chunk holds whole.
        rows_without_header: table rows in no chunk that also holds the table's header.
        headings_parted: headings in no chunk that also holds the first character of their body.
        fences_broken: code fences (or ``<pre>``) that no chunk holds whole.
        lists_broken: lists that no chunk holds whole.
        sentences_cut: chunks that end inside a sentence.
        over_limit: chunks over the size that was asked for.
        repeats: chunks of which more than a fifth stands in the chunk before.
        tiny: chunks of fewer than 40 characters.
        evidence_cut: evidence items that no chunk holds whole.
    """

    tables_split: int = 0
    tables_of: int = 0
    rows_without_header: int = 0
    rows_of: int = 0
    headings_parted: int = 0
    headings_of: int = 0
    fences_broken: int = 0
    fences_of: int = 0
    lists_broken: int = 0
    lists_of: int = 0
    sentences_cut: int = 0
    over_limit: int = 0
    repeats: int = 0
    tiny: int = 0
    evidence_cut: int = 0
    evidence_of: int = 0
    chunks_of: int = 0

    def __add__(self, other: Patterns) -> Patterns:
        return Patterns(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Patterns)))


# Field, heading of its column, field with the number that could break.
SHOWN: tuple[tuple[str, str, str], ...] = (
    ("tables_split", "tables split", "tables_of"),
    ("rows_without_header", "rows without header", "rows_of"),
    ("headings_parted", "headings parted", "headings_of"),
    ("fences_broken", "code broken", "fences_of"),
    ("lists_broken", "lists broken", "lists_of"),
    ("sentences_cut", "sentences cut", "chunks_of"),
    ("over_limit", "over the limit", "chunks_of"),
    ("repeats", "overlap above 20 %", "chunks_of"),
    ("tiny", "under 40 characters", "chunks_of"),
    ("evidence_cut", "evidence cut", "evidence_of"),
)


def patterns_of(data: SweepData, index: int) -> Patterns:
    """Count the patterns of one point of a sweep; points with one chunking share the work."""
    record = data.points[index]
    key = f"patterns:{record.realised.get('chunking_fingerprint') or record.point_id}"
    return data.once(key, lambda known: _counted(known, record))


def _counted(data: SweepData, record: PointRecord) -> Patterns:
    chunking = chunking_of(data, record)
    if not chunking:
        return Patterns()
    total = Patterns(over_limit=int(record.realised.get("over_limit") or 0))
    for document in data.documents.values():
        total += count_patterns(document, chunking.get(document.doc_id, NOTHING))
    return total + _evidence(data, chunking)


def count_patterns(document: Document, borders: Borders) -> Patterns:
    """Count the patterns of one document, evidence and limits aside."""
    parts, text = parts_of(document), document.text
    rows = [(table.header, row) for table in parts.tables for row in table.rows]
    return Patterns(
        tables_split=_broken(text, borders, [table.whole for table in parts.tables]),
        tables_of=len(parts.tables),
        rows_without_header=sum(not _together(borders, header, row) for header, row in rows),
        rows_of=len(rows),
        headings_parted=_broken(text, borders, parts.headings),
        headings_of=len(parts.headings),
        fences_broken=_broken(text, borders, parts.fences),
        fences_of=len(parts.fences),
        lists_broken=_broken(text, borders, parts.lists),
        lists_of=len(parts.lists),
        sentences_cut=_cut_sentences(text, borders, parts.sentence_ends),
        repeats=_repeats(borders),
        tiny=sum(len(text[a:b].strip()) < TINY_CHARS for a, b in borders.spans.tolist()),
        chunks_of=len(borders.spans),
    )


def _trimmed(text: str, ranges: Sequence[Range]) -> Any:
    found = []
    for start, end in ranges:
        inner = text[start:end]
        found.append((start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip())))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _broken(text: str, borders: Borders, ranges: Sequence[Range]) -> int:
    places = _trimmed(text, ranges)
    return int(np.count_nonzero(~borders.inside(places[:, 0], places[:, 1])))


def _together(borders: Borders, header: Range, row: Range) -> bool:
    """True if some chunk holds the header and the start of the row."""
    return bool(len(borders.holders(header[0], row[0] + 1)))


def _cut_sentences(text: str, borders: Borders, ends: frozenset[int]) -> int:
    """Count chunks that end where no sentence, line of a list or paragraph ends. None where sentences are not known."""
    if not ends:
        return 0
    cut = 0
    for start, end in borders.spans.tolist():
        last = start + len(text[start:end].rstrip())
        cut += last not in ends and last < len(text.rstrip())
    return cut


def _repeats(borders: Borders) -> int:
    if len(borders.spans) < 2:
        return 0
    starts, ends = borders.spans[1:, 0], borders.spans[1:, 1]
    shared = np.minimum(borders.reach[:-1], ends) - starts
    return int(np.count_nonzero(shared > OVERLAP_LIMIT * (ends - starts)))


def _evidence(data: SweepData, chunking: Chunking) -> Patterns:
    cut = total = 0
    for golden in data.golden.values():
        for item in evidence_of(golden):
            known = [span for span in item if span.doc_id in data.documents]
            whole = False
            for span in known:
                place = _trimmed(data.documents[span.doc_id].text, [(span.start, span.end)])
                whole |= bool(chunking.get(span.doc_id, NOTHING).inside(place[:, 0], place[:, 1])[0])
            total += bool(known)
            cut += bool(known) and not whole
    return Patterns(evidence_cut=cut, evidence_of=total)
