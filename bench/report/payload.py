"""The data inside the page: small tables at once, details of each point in blocks that are opened when asked for."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.report.answers import answer_block
from bench.report.causes import CAUSES, NAMES
from bench.report.chunkings import NOTHING, Chunking, chunking_of
from bench.report.context import context_of, evidence_of, layout_of
from bench.report.data import Row, SweepData
from bench.report.diagnosis import Finding, diagnosis_of
from bench.report.patterns import SHOWN, patterns_of

MAX_BYTES = 22_000_000
TEXT_SHARE = 0.4
MAX_HITS = 4_000_000
MIN_RANKS, MAX_RANKS = 8, 150
EXTRA_RANKS = 3
_SURROGATES = re.compile("[\ud800-\udfff]")
MATRIX: tuple[str, ...] = (
    "span_recall@{cut}",
    "span_precision@{cut}",
    "evidence_all@{cut}",
    "span_recall@k=5",
    "span_precision@k=5",
)
MATRIX += ("nDCG@k=10", "faithfulness", "answer_correctness", "answer_relevance", "citation_accuracy", "decline_rate")


@dataclass
class Payload:
    """Blocks of the page by name, each gzip in base64; ``left_out`` counts points whose details did not fit."""

    blocks: dict[str, str] = field(default_factory=dict)
    left_out: int = 0
    texts_left_out: int = 0

    @property
    def size(self) -> int:
        """Characters of all blocks."""
        return sum(map(len, self.blocks.values()))


def packed(value: Any) -> str:
    """JSON, gzip, base64; lone surrogates, which no page can show, become U+FFFD."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(_SURROGATES.sub("\ufffd", text).encode(), 9, mtime=0)).decode()


def payload_of(data: SweepData, limit: int = MAX_BYTES) -> Payload:
    """Make the blocks: ``core``, ``texts``, ``chunks-…`` and ``point-…``, in all at most ``limit`` characters.

    Texts that do not fit and points that do not fit are left out, the best points last.
    """
    found = Payload()
    documents = sorted(data.documents)
    found.blocks["core"] = packed(core_of(data, documents))
    _add_texts(found, data, documents, int(limit * TEXT_SHARE))
    wanted = [i for i in (data.marks.chosen, data.marks.baseline) if i is not None]
    order = list(dict.fromkeys([*wanted, *(i for i in data.best_first() if i in data.marks.alike), *data.best_first()]))
    for index in order:
        _add_point(found, data, index, documents, limit)
    return found


def _add_texts(found: Payload, data: SweepData, documents: Sequence[str], limit: int) -> None:
    """One block with all texts; where that is too large, those that hold evidence first, shortest first."""
    block = packed([data.documents[name].text for name in documents])
    if len(block) > limit:
        held = {span.doc_id for row in data.golden.values() for item in evidence_of(row) for span in item}
        order = sorted(documents, key=lambda name: (name not in held, len(data.documents[name].text), name))
        kept: set[str] = set()
        size = 0
        for name in order:
            size += len(packed(data.documents[name].text))
            if size <= limit:
                kept.add(name)
        found.texts_left_out = len(documents) - len(kept)
        block = packed([data.documents[name].text if name in kept else None for name in documents])
    found.blocks["texts"] = block


def _add_point(found: Payload, data: SweepData, index: int, documents: Sequence[str], limit: int) -> None:
    key = chunks_key(data, index)
    made = {f"point-{index}": packed(point_block(data, index, documents))}
    if key not in found.blocks:
        made[key] = packed(_chunks_block(chunking_of(data, data.points[index]), documents))
    if found.size + sum(map(len, made.values())) > limit:
        found.left_out += 1
    else:
        found.blocks |= made


def chunks_key(data: SweepData, index: int) -> str:
    """Name of the block with the chunk borders of a point: points of one chunking share it."""
    record = data.points[index]
    return f"chunks-{str(record.realised.get('chunking_fingerprint') or record.point_id)[:16]}"


def _chunks_block(chunking: Chunking, documents: Sequence[str]) -> list[list[int]]:
    """For each document its chunks as start (from the start before) and length, one after another."""
    rows = []
    for name in documents:
        spans = chunking.get(name, NOTHING).spans
        steps = np.diff(spans[:, 0], prepend=0)
        rows.append(np.stack((steps, spans[:, 1] - spans[:, 0]), axis=1).ravel().tolist())
    return rows


def core_of(data: SweepData, documents: Sequence[str]) -> dict[str, Any]:
    """What tables, filters and the list of misses need."""
    measures = matrix_measures(data)
    found = diagnosis_of(data)
    return {
        "name": data.name,
        "headline": data.headline,
        "budget": data.budget_tokens,
        "docs": list(documents),
        "formats": [data.documents[name].format for name in documents],
        "questions": [_question(data, row, documents) for row in data.question_ids],
        "categories": data.table.categories if data.points else [],
        "points": [_point(data, index) for index in range(len(data.points))],
        "measures": measures,
        "matrix": [[_thousandths(data.table.values[m][:, i]) for i in range(len(data.points))] for m in measures],
        "causes": [[c.name, c.title, c.change, c.remedy] for c in CAUSES],
        "misses": [[NAMES.index(f.cause) + 1 if f else 0 for f in own] for own in found.findings],
        "patterns": [[name, title, of] for name, title, of in SHOWN],
    }


def matrix_measures(data: SweepData) -> list[str]:
    """Measures whose scores of every question the page holds: those that the sweep has of a fixed list."""
    names = (name.format(cut=data.headline.partition("@")[2]) for name in MATRIX)
    return [name for name in dict.fromkeys([data.headline, *names]) if data.points and name in data.table.values]


def _thousandths(values: Any) -> list[int]:
    """Scores as whole thousandths, -1 where there is none."""
    return [int(x) for x in np.where(np.isnan(values), -1, np.round(np.nan_to_num(values) * 1000))]


def _question(data: SweepData, name: str, documents: Sequence[str]) -> dict[str, Any]:
    golden = data.golden.get(name, {})
    place = {doc_id: i for i, doc_id in enumerate(documents)}
    evidence = [[[place.get(s.doc_id, -1), s.start, s.end] for s in item] for item in evidence_of(golden)]
    return {
        "id": name,
        "text": golden.get("question", ""),
        "answer": golden.get("answer"),
        "answerable": bool(golden.get("answerable", True)),
        "evidence": evidence,
    }


def _point(data: SweepData, index: int) -> dict[str, Any]:
    record, interval = data.points[index], data.intervals(data.headline)[index]
    counted = patterns_of(data, index)
    means = {name: _rounded(e["mean"]) for name, e in record.estimates.items() if data.shows(name)}
    return {
        "id": record.point_id,
        "label": record.label,
        "family": data.family(index),
        "mark": data.marks.named(index),
        "axes": {k: v for k, v in record.axes.items() if isinstance(v, str | int | float | bool)},
        "interval": [_rounded(interval.low), _rounded(interval.high), interval.n] if interval else None,
        "means": means,
        "states": _states(record.estimates.get(data.headline, {})),
        "realised": {k: v for k, v in record.realised.items() if k != "chunking_fingerprint"},
        "cost": dict(record.cost),
        "timings": dict(record.timings_s),
        "patterns": {name: getattr(counted, name) for name, _, _ in SHOWN},
        "patterns_of": {name: getattr(counted, of) for name, _, of in SHOWN},
        "chunks": chunks_key(data, index),
        "limit": record.provenance.get("usable_tokens"),
    }


def _states(estimate: Any) -> list[int]:
    return [int(estimate.get(f"n_{state}") or 0) for state in ("scored", "failed", "undefined", "declined")]


def _rounded(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, 5)


def point_block(data: SweepData, index: int, documents: Sequence[str]) -> dict[str, Any]:
    """What the drill-down shows of one point, question by question.

    ``hits[q]`` is [hits in the context, end of the last of them, chunk, score, chunk, score, …]; a chunk is its place
    in the canonical order, or -1 - i for ``extra[i]``, [document, start, end, delivered start, delivered end].
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
    for doc_id, start, end, score, low, high in kept:
        place = places.get((doc_id, start, end)) if (low, high) == (start, end) else None
        if place is None:
            name = (number.get(doc_id, -1), start, end, low, high)
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
