"""Evidence recall at k under other relevance thresholds, from the recorded hits: does the ranking hang on one?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.decision.table import Table
from bench.spans import ink, intersect, intervals, length
from bench.store import Sweep
from bench.types import Ints

SHARES = (0.0, 0.5, 1.0)
Piece = list[tuple[str, int, int]]


def recall_by_threshold(table: Table, points: Sequence[int], k: int) -> dict[str, list[float]]:
    """Mean share of evidence items of which one of the first ``k`` chunks holds enough, by name of the measure.

    Enough is one character (relevance 0), half of the item's non-white-space characters, or all of them. Questions
    without evidence are left out. Empty where the sweep's inputs are not there to read.

    Returns:
        One list a threshold, with one mean a point of ``points``.
    """
    golden, weights = _golden(table), _weights(table)
    if not golden or not weights:
        return {}
    asked = [(line, golden[q]) for line, q in enumerate(table.question_ids) if q in golden]
    held = [[_held(table.rows[p].hits[line][:k], items, weights) for line, items in asked] for p in points]
    return {
        f"R@k={k} at relevance {share:g}": [
            float(np.mean([np.mean([best >= share and best > 0 for best in items]) for items in rows])) for rows in held
        ]
        for share in SHARES
    }


def _golden(table: Table) -> dict[str, list[Piece]]:
    """Evidence items of each question that has some, each a list of its alternatives."""
    rows = Sweep(table.folder).golden() if (table.folder / "golden.jsonl").is_file() else []
    found = {row["question_id"]: [_alternatives(item) for item in row.get("evidence") or []] for row in rows}
    return {question: items for question, items in found.items() if items}


def _alternatives(item: Mapping[str, Any]) -> Piece:
    return [(one["doc_id"], one["start"], one["end"]) for one in item.get("alternatives", [item])]


def _weights(table: Table) -> dict[str, Ints]:
    if not (table.folder / "documents.jsonl.gz").is_file():
        return {}
    return {document.doc_id: ink(document.text) for document in Sweep(table.folder).documents()}


def _held(rows: Sequence[Sequence[Any]], items: Sequence[Piece], weights: Mapping[str, Ints]) -> list[float]:
    """For each evidence item the largest share of it that one of the hits holds."""
    hits = [(hit[0], hit[4], hit[5]) for hit in rows if hit[0] is not None and hit[4] is not None]
    return [
        max((_share(gold, hit, weights) for gold in item for hit in hits if gold[0] == hit[0]), default=0.0)
        for item in items
    ]


def _share(gold: tuple[str, int, int], hit: tuple[str, int, int], weights: Mapping[str, Ints]) -> float:
    if hit[2] <= gold[1] or gold[2] <= hit[1]:
        return 0.0
    weight = weights[gold[0]]
    wanted = intervals([gold[1:]])
    return length(intersect(wanted, intervals([hit[1:]])), weight) / max(length(wanted, weight), 1)
