"""Writes synthetic sweeps to disk, seeded, in the shape that a real sweep leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.store import PointRecord, Sweep, write_json, write_json_lines

HEADLINE = "span_recall@tokens=2000"


@dataclass
class Synthetic:
    """A sweep to write: ``values`` maps a measure to scores (questions, points); NaN is written as failed."""

    values: Mapping[str, NDArray[np.float64]]
    clusters: Sequence[str]
    categories: Sequence[str] = ()
    axes: Sequence[Mapping[str, Any]] = ()
    costs: Sequence[Mapping[str, Any]] = ()
    configs: Sequence[Mapping[str, Any]] = ()
    votes: Mapping[str, Any] = field(default_factory=dict)
    header: Mapping[str, Any] = field(default_factory=dict)
    created: str = "2026-01-01T00:00:00+00:00"
    missing: str = "failed"

    def write(self, folder: Path) -> Path:
        """Write the sweep and return its folder."""
        points = next(iter(self.values.values())).shape[1]
        sweep = Sweep(folder)
        header = {
            "schema_version": 1,
            "name": folder.name,
            "created": self.created,
            "overrides": [],
            "corpus": {"name": "made", "sha256": "c" * 64, "golden_sha256": "g" * 64, "questions": len(self.clusters)},
            "tokenizer": "minilm",
            "cuts": {"ks": [5], "tokens": [2000]},
            "headline": HEADLINE,
            "headline_tokens": 2000,
            "relevance_threshold": 0.0,
            "seed": 0,
            "points": [point_name(i) for i in range(points)],
            "provenance": {"bench": "0", "packages": {"numpy": "2"}},
        }
        write_json(folder / "sweep.json", header | dict(self.header))
        write_json_lines(folder / "golden.jsonl", [{"question_id": f"q{i:04d}"} for i in range(len(self.clusters))])
        for point in range(points):
            sweep.write_point(self._record(point), self._rows(point))
        return folder

    def _rows(self, point: int) -> list[dict[str, Any]]:
        rows = []
        for line, cluster in enumerate(self.clusters):
            category = self.categories[line] if self.categories else "fact"
            scores = {name: self._score(float(table[line, point])) for name, table in self.values.items()}
            row = {"question_id": f"q{line:04d}", "category": category, "cluster": cluster, "answerable": True}
            row |= {"hits": [], "scores": scores}
            if self.votes:
                row["votes"] = {name: [float(v) for v in votes[line][point]] for name, votes in self.votes.items()}
            rows.append(row)
        return rows

    def _score(self, value: float) -> Any:
        return value if np.isfinite(value) else {"status": self.missing, "reason": "made so"}

    def _record(self, point: int) -> PointRecord:
        axes = self.axes[point] if self.axes else {"strategy": "recursive", "size": 64 * (point + 1)}
        cost = {"context_tokens": 2000, "index_bytes": 1_000_000 * (point + 1), "embedding_s": 1.0}
        return PointRecord(
            point_id=point_name(point),
            label=f"recursive {64 * (point + 1)}",
            status="complete",
            axes=axes,
            config=self.configs[point] if self.configs else {"chunker": {"size": 64 * (point + 1)}},
            provenance={"bench": "0"},
            realised={},
            timings_s={},
            cost=cost | (dict(self.costs[point]) if self.costs else {}),
            estimates={name: estimate(table[:, point]) for name, table in self.values.items()},
        )


def estimate(column: NDArray[np.float64]) -> dict[str, Any]:
    """The summary of one column of scores in [0, 1], NaN meaning failed."""
    known = column[np.isfinite(column)]
    lost = len(column) - len(known)
    bound = [float((known.sum() + lost * edge) / len(column)) for edge in (0.0, 1.0)]
    mean = float(known.mean()) if len(known) else None
    return {"mean": mean, "n_scored": len(known), "n_undefined": 0, "n_failed": lost, "n_declined": 0} | {
        "low": bound[0],
        "high": bound[1],
        "sd": float(known.std(ddof=1)) if len(known) > 1 else None,
    }


def point_name(point: int) -> str:
    """Twelve hex digits."""
    return f"{point + 1:012x}"


def normal_scores(
    means: Sequence[float], questions: int, *, sd: float = 0.3, per_document: int = 1, icc: float = 0.0, seed: int = 0
) -> tuple[NDArray[np.float64], list[str]]:
    """Scores (questions, points) whose paired differences have standard deviation ``sd``, and document labels.

    ``icc`` is the part of that variance which the questions of one document share. Values are not clipped.
    """
    rng = np.random.default_rng(seed)
    documents = -(-questions // per_document)
    own = rng.normal(0, sd / np.sqrt(2), (questions, len(means)))
    shared = np.repeat(rng.normal(0, sd / np.sqrt(2), (documents, len(means))), per_document, axis=0)[:questions]
    noise = np.sqrt(1 - icc) * own + np.sqrt(icc) * shared
    values = np.asarray(means) + rng.normal(0, 0.15, (questions, 1)) + noise
    return values, [f"doc{i // per_document:03d}" for i in range(questions)]
