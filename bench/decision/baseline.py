"""A stored state to compare with: one point's scores per question, with all that makes them comparable."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.decision.table import Table
from bench.errors import StoreError
from bench.stats.scores import Array
from bench.store import read_json, to_json, write_json

BASELINE_VERSION = 1
IDENTITY = {
    "golden_sha256": "the golden questions",
    "corpus_sha256": "the documents of the corpus",
    "tokenizer": "the budget tokenizer",
    "rules": "the scoring rules",
    "relevance_threshold": "the relevance threshold",
    "measures_version": "the version of the measures",
}


@dataclass(frozen=True, slots=True)
class Baseline:
    """One point, kept. ``scores`` maps a measure to question id to score; questions without a score are absent."""

    identity: Mapping[str, Any]
    point: Mapping[str, Any]
    scores: Mapping[str, Mapping[str, float]]
    created: str

    @classmethod
    def of(cls, table: Table, point: int) -> Baseline:
        """Take one point of a sweep."""
        record = table.points[point]
        scores: dict[str, dict[str, float]] = {}
        for measure in table.rows[point].columns:
            column = zip(table.question_ids, table.rows[point].column(measure).tolist(), strict=True)
            if known := {question: score for question, score in column if not math.isnan(score)}:
                scores[measure] = known
        about = {
            "sweep": table.header["name"],
            "point_id": record.point_id,
            "label": record.label,
            "configuration_sha256": configuration_hash(record.config),
            "config": record.config,
            "provenance": record.provenance,
        }
        return cls(identity(table), about, scores, str(table.header["created"]))

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """Read a file that ``save`` wrote.

        Raises:
            StoreError: it is missing, broken, or not a baseline of this version.
        """
        raw = read_json(path)
        if not isinstance(raw, dict) or raw.get("baseline_version") != BASELINE_VERSION:
            raise StoreError(
                f"{path}: is not a baseline; make one with bench gate results/<sweep> --save-baseline {path}"
            )
        return cls(raw["identity"], raw["point"], raw["scores"], raw["created"])

    def save(self, path: Path) -> None:
        """Write the file, atomically."""
        content = {"baseline_version": BASELINE_VERSION, "created": self.created, "identity": self.identity}
        write_json(path, content | {"point": self.point, "scores": self.scores})

    def column(self, measure: str, question_ids: Sequence[str]) -> Array:
        """Scores of one measure in the order of ``question_ids``, NaN where there is none."""
        own = self.scores.get(measure, {})
        return np.array([own.get(question, np.nan) for question in question_ids], dtype=np.float64)

    def differences(self, table: Table) -> list[str]:
        """What makes the sweep not comparable with this baseline, in words; empty if they are."""
        now = identity(table)
        return [
            f"{words} differ: baseline {_short(self.identity.get(key))}, this sweep {_short(now[key])}"
            for key, words in IDENTITY.items()
            if self.identity.get(key) != now[key]
        ]


def identity(table: Table) -> dict[str, Any]:
    """What must be the same for two scores to be comparable."""
    header = table.header
    return {
        "golden_sha256": header["corpus"]["golden_sha256"],
        "corpus_sha256": header["corpus"]["sha256"],
        "tokenizer": header["tokenizer"],
        "rules": header.get("rules", "standard"),
        "relevance_threshold": header.get("relevance_threshold", 0.0),
        "measures_version": header.get("measures_version", header["schema_version"]),
    }


def configuration_hash(config: Mapping[str, Any]) -> str:
    """sha256 of a configuration, keys sorted: 12 hex digits."""
    ordered = to_json(_sorted(config))
    return hashlib.sha256(ordered.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _sorted(value[key]) for key in sorted(value, key=str)}
    return value


def _short(value: Any) -> str:
    return f"{value[:12]}…" if isinstance(value, str) and len(value) > 24 else str(value)
