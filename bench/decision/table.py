"""The records of a sweep as matrices, and what each point costs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.decision.rows import PointRows
from bench.errors import ConfigError, StoreError, near
from bench.measures.registry import MEASURES
from bench.stats.scores import Array, Mask, Scores
from bench.store import PointRecord, Sweep

MAX_POINTS_WITH_HITS = 100
COSTS = {
    "context_tokens": "context tokens a question",
    "llm_prompt_tokens": "prompt tokens",
    "llm_completion_tokens": "completion tokens",
    "index_bytes": "index bytes",
    "embedding_tokens": "embedding tokens",
    "embedding_s": "embedding seconds",
    "retrieval_p50_ms": "retrieval p50 ms",
    "retrieval_p99_ms": "retrieval p99 ms",
    "price_usd": "USD",
}
PREFER = {
    "cheap": (
        "price_usd",
        "context_tokens",
        "llm_prompt_tokens",
        "llm_completion_tokens",
        "embedding_tokens",
        "index_bytes",
    ),
    "small": ("index_bytes", "context_tokens", "embedding_tokens"),
    "fast": ("retrieval_p50_ms", "embedding_s", "context_tokens"),
}


def lower_is_better(measure: str) -> bool:
    """True for measures that are costs or faults; a family of the user's own that is not registered is neither."""
    import bench.measures.answer_scores
    import bench.measures.retrieval  # noqa: F401  both register their measures

    family = MEASURES.get(measure.partition("@")[0])
    return family is not None and family.better == "lower"


@dataclass(frozen=True)
class Table:
    """A sweep, read once. ``rows[i]`` are the scores of ``points[i]``, questions in the order of ``question_ids``."""

    folder: Path
    header: Mapping[str, Any]
    points: tuple[PointRecord, ...]
    duplicates: tuple[PointRecord, ...]
    failed: tuple[PointRecord, ...]
    question_ids: tuple[str, ...]
    clusters: tuple[str, ...]
    categories: tuple[str, ...]
    rows: tuple[PointRows, ...]

    @classmethod
    def read(cls, folder: Path) -> Table:
        """Read a sweep's folder.

        Raises:
            StoreError: there is no sweep, no complete point, or points were scored on different questions.
        """
        sweep = Sweep.open(folder)
        records = sweep.records()
        points = tuple(r for r in records if r.status == "complete" and r.duplicate_of is None)
        if not points:
            raise StoreError(f"{folder}: none of its {len(records)} points is complete; run the sweep again")
        keep_hits = max(sweep.header()["cuts"]["ks"]) if len(points) <= MAX_POINTS_WITH_HITS else 0
        first = _ordered(folder, points[0], sweep.questions(points[0]))
        ids = tuple(str(row["question_id"]) for row in first)
        rows = []
        for record in points:
            own = _ordered(folder, record, sweep.questions(record))
            rows.append(PointRows.of(own, keep_hits))
            if tuple(str(row["question_id"]) for row in own) != ids:
                raise StoreError(
                    f"{folder}: points {points[0].label!r} and {record.label!r} were scored on different questions; "
                    "run the sweep again so that every point has the same ones"
                )
        return cls(
            folder=folder,
            header=sweep.header(),
            points=points,
            duplicates=tuple(r for r in records if r.status == "complete" and r.duplicate_of is not None),
            failed=tuple(r for r in records if r.status != "complete"),
            question_ids=ids,
            clusters=tuple(str(row["cluster"]) for row in first),
            categories=tuple(str(row.get("category", "uncategorised")) for row in first),
            rows=tuple(rows),
        )

    @property
    def measures(self) -> list[str]:
        """Names of all measures that some point has an estimate of."""
        return sorted({name for record in self.points for name in record.estimates})

    def known(self, measure: str, key: str) -> str:
        """Return ``measure`` if the sweep has it.

        Raises:
            ConfigError: it has not; near names are suggested. ``key`` is the option that named it.
        """
        if measure not in self.measures:
            raise ConfigError(f"{key}: the sweep has no measure {measure!r}; {near(measure, self.measures)}")
        return measure

    def values(self, measure: str) -> Array:
        """Scores as recorded, shape (questions, points), NaN where not scored."""
        return np.stack([own.column(measure) for own in self.rows], axis=1)

    def scores(self, measure: str, cluster: str = "document") -> Scores:
        """Scores of one measure, negated where lower is better; ``cluster`` is "document" or "question"."""
        sign = -1.0 if lower_is_better(measure) else 1.0
        labels = self.clusters if cluster == "document" else self.question_ids
        return Scores.of(sign * self.values(measure), labels)

    def states(self, measure: str, point: int) -> Counter[str]:
        """How many questions of a point are scored, undefined, failed or declined on a measure."""
        return self.rows[point].counts(measure)

    def votes(self, measure: str, point: int) -> dict[int, Array]:
        """Repeated verdicts of the judge, by question number, where the records hold them."""
        found = {line: votes.get(measure) for line, votes in self.rows[point].votes.items()}
        return {line: np.array(values, dtype=np.float64) for line, values in found.items() if values}

    def find(self, name: str, key: str = "--baseline") -> int:
        """Number of the point with this id, unique start of an id, or label.

        Raises:
            ConfigError: no point, or several, answer to the name.
        """
        hits = [i for i, r in enumerate(self.points) if name in (r.point_id, r.label)]
        hits = hits or [i for i, r in enumerate(self.points) if len(name) >= 4 and r.point_id.startswith(name)]
        if len(hits) == 1:
            return hits[0]
        for duplicate in self.duplicates:
            if name in (duplicate.point_id, duplicate.label):
                return self.find(str(duplicate.duplicate_of), key)
        state = "names several points" if hits else "names no complete point"
        raise ConfigError(f"{key}: {name!r} {state} of {self.folder}; {near(name, [r.label for r in self.points])}")


def _ordered(folder: Path, record: PointRecord, rows: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    ids = [row["question_id"] for row in rows]
    if len(set(ids)) < len(ids) or not ids:
        state = "no questions" if not ids else "a question twice"
        raise StoreError(f"{folder}/points/{record.point_id}/questions.jsonl: holds {state}; run the sweep again")
    return tuple(sorted(rows, key=lambda row: str(row["question_id"])))


def defined_rows(scores: Scores) -> Mask:
    """Questions that at least one point was scored on: unanswerable ones are undefined for all."""
    return np.asarray(scores.scored.any(axis=1), dtype=np.bool_)


def cost_order(records: Sequence[PointRecord], prefer: str, means: Array) -> list[int]:
    """Points from the cheapest on: costs to two significant digits, in the order of ``prefer``, then the better score.

    An unknown cost comes after every known one.
    """

    def key(i: int) -> tuple[float, ...]:
        costs = [records[i].cost.get(name) for name in PREFER[prefer]]
        return (*(float(f"{cost:.2g}") if cost is not None else float("inf") for cost in costs), -float(means[i]))

    return sorted(range(len(records)), key=key)


def fingerprint(path: Path) -> str:
    """sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
