"""Details of single points inside the page: what was ranked, where the borders lie, why a question failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.report.answers import answer_block
from bench.report.chunkings import NOTHING, Chunking, chunking_of
from bench.report.context import context_of, layout_of
from bench.report.data import Row, SweepData
from bench.report.diagnosis import Finding, diagnosis_of

MAX_HITS = 4_000_000
MIN_RANKS, MAX_RANKS = 8, 150
EXTRA_RANKS = 3


def chunks_key(data: SweepData, index: int) -> str:
    """Name of the block with the chunk borders of a point: points of one chunking share it."""
    record = data.points[index]
    return f"chunks-{str(record.realised.get('chunking_fingerprint') or record.point_id)[:16]}"


def chunks_block(chunking: Chunking, documents: Sequence[str]) -> list[list[int]]:
    """For each document its chunks as start (from the start before) and length, one after another."""
    rows = []
    for name in documents:
        spans = chunking.get(name, NOTHING).spans
        steps = np.diff(spans[:, 0], prepend=0)
        rows.append(np.stack((steps, spans[:, 1] - spans[:, 0]), axis=1).ravel().tolist())
    return rows


def point_block(data: SweepData, index: int, documents: Sequence[str]) -> dict[str, Any]:
    """What the drill-down shows of one point, question by question.

    ``hits[q]`` is [hits in the context, end of the last of them, chunk, score, chunk, score, …]; a chunk is its place
    in the canonical order, or -1 - i for ``extra[i]``, [document, start, end, delivered start, delivered end, header];
    the header is left out where none was handed over.
    """
    layout, findings = layout_of(data), diagnosis_of(data).findings[index]
    places = _places(chunking_of(data, data.points[index]), documents)
    ranks = max(MIN_RANKS, min(MAX_RANKS, MAX_HITS // max(1, len(data.points) * len(data.question_ids))))
    extra: dict[tuple[Any, ...], int] = {}
    number = {name: i for i, name in enumerate(documents)}
    hits, answers, reasons = [], [], []
    by_id = {row["question_id"]: row for row in data.rows_of(index)}
    for question, finding in zip(data.question_ids, findings, strict=True):
        row = by_id.get(question, {"hits": [], "scores": {}})
        hits.append(_hits(row, context_of(row["hits"], data.budget_tokens, layout), places, number, extra, ranks))
        answers.append(answer_block(row))
        reasons.append(_reason(finding))
    made = {"hits": hits, "extra": [list(hit) for hit in extra], "why": reasons}
    made["truncated"] = truncated_chunks(data, index, documents)
    return made | ({"answers": answers} if any(answers) else {})


def _places(chunking: Chunking, documents: Sequence[str]) -> dict[tuple[str, int, int], int]:
    spans = ((name, a, b) for name in documents for a, b in chunking.get(name, NOTHING).spans.tolist())
    found: dict[tuple[str, int, int], int] = {}
    for i, span in enumerate(spans):
        found.setdefault(span, i)
    return found


def _hits(
    row: Row, pieces: Sequence[Any], places: Any, number: Any, extra: dict[tuple[Any, ...], int], ranks: int
) -> list[int]:
    last = pieces[-1].rank if pieces else 0
    kept = row["hits"][: min(ranks, last + EXTRA_RANKS)]
    flat = [last, pieces[-1].end if pieces else 0]
    for doc_id, start, end, score, low, high, *header in kept:
        plain = (low, high) == (start, end) and not header
        place = places.get((doc_id, start, end)) if plain else None
        if place is None:
            name = (number.get(doc_id, -1), start, end, low, high, *header[:1])
            place = -1 - extra.setdefault(name, len(extra))
        flat += [place, round(1000 * score)]
    return flat


def _reason(finding: Finding | None) -> str | int:
    return finding.evidence if finding else 0


def truncated_chunks(data: SweepData, index: int, documents: Sequence[str]) -> dict[str, int]:
    """Place of each chunk that the embedder cuts short, and the offset at which it stops reading."""
    record, layout = data.points[index], layout_of(data)
    limit = record.provenance.get("usable_tokens")
    if not limit or not record.realised.get("truncated_chunks"):
        return {}
    found: dict[str, int] = {}
    at = 0
    chunking = chunking_of(data, record)
    for name in documents:
        counts = layout.tokens[name]
        for start, end in chunking.get(name, NOTHING).spans.tolist():
            if counts[end] - counts[start] > limit:
                found[str(at)] = int(np.searchsorted(counts, counts[start] + limit, side="right")) - 1
            at += 1
    return found
