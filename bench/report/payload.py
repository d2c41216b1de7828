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

from bench.report.blocks import chunks_block, chunks_key, point_block
from bench.report.causes import CAUSES, NAMES
from bench.report.chunkings import chunking_of
from bench.report.context import evidence_of
from bench.report.data import SweepData
from bench.report.diagnosis import diagnosis_of
from bench.report.patterns import SHOWN, patterns_of

MAX_BYTES = 22_000_000
TEXT_SHARE = 0.4
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
        made[key] = packed(chunks_block(chunking_of(data, data.points[index]), documents))
    if found.size + sum(map(len, made.values())) > limit:
        found.left_out += 1
    else:
        found.blocks |= made


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
