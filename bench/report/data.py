"""The records of a sweep as matrices of questions x points, ready for tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bench.stats.resample import mean_intervals, weights
from bench.stats.scores import Scores
from bench.store import PointRecord, Sweep

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Interval:
    """Mean of a measure with its 95 % interval, resampled by document; None where nothing was scored."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class SweepData:
    """A sweep, read once.

    ``points`` are the complete records without duplicates of one chunking, in the order of the sweep; ``failed`` and
    ``duplicates`` are kept beside them. ``rows[i]`` are the per-question rows of ``points[i]``.
    """

    folder: Path
    header: Mapping[str, Any]
    points: tuple[PointRecord, ...]
    duplicates: tuple[PointRecord, ...]
    failed: tuple[PointRecord, ...]
    rows: tuple[list[dict[str, Any]], ...]

    @classmethod
    def read(cls, folder: Path) -> SweepData:
        """Read a sweep's folder.

        Raises:
            StoreError: the folder holds no sweep, or a file of it is broken.
        """
        sweep = Sweep.open(folder)
        records = sweep.records()
        complete = [record for record in records if record.status == "complete"]
        points = tuple(record for record in complete if record.duplicate_of is None)
        return cls(
            folder=folder,
            header=sweep.header(),
            points=points,
            duplicates=tuple(record for record in complete if record.duplicate_of is not None),
            failed=tuple(record for record in records if record.status != "complete"),
            rows=tuple(sweep.questions(record) for record in points),
        )

    @property
    def headline(self) -> str:
        """The measure that ranks the points."""
        return str(self.header["headline"])

    @property
    def budget_tokens(self) -> int:
        """The token budget of the headline."""
        return int(self.header["headline_tokens"])

    @cached_property
    def question_ids(self) -> list[str]:
        """Ids of all questions, in the golden set's order."""
        return [row["question_id"] for row in self.rows[0]] if self.rows else []

    @cached_property
    def clusters(self) -> list[str]:
        """Document of each question: the unit of resampling."""
        return [row["cluster"] for row in self.rows[0]] if self.rows else []

    def scores(self, measure: str) -> Scores:
        """Scores of one measure, shape (questions, points)."""
        values = np.full((len(self.question_ids), len(self.points)), np.nan)
        for column, rows in enumerate(self.rows):
            found = {row["question_id"]: row["scores"].get(measure) for row in rows}
            for line, question in enumerate(self.question_ids):
                value = found.get(question)
                if isinstance(value, int | float):
                    values[line, column] = value
        return Scores.of(values, self.clusters)

    def intervals(self, measure: str) -> list[Interval | None]:
        """Mean and 95 % interval of each point, by a cluster bootstrap with the sweep's seed."""
        if not self.points:
            return []
        scores = self.scores(measure)
        counts = scores.scored.sum(axis=0)
        if not counts.any():
            return [None] * len(self.points)
        used = scores.rows(np.asarray(scores.scored.any(axis=1)))
        drawn = weights(used.n_clusters, RESAMPLES, int(self.header["seed"]))
        low, high = mean_intervals(used, drawn, method="percentile")
        return [
            Interval(float(mean), float(low[i]), float(high[i]), int(counts[i])) if counts[i] else None
            for i, mean in enumerate(used.means())
        ]

    def best_first(self) -> list[int]:
        """Indices of the points by headline, best first; points without a score last, ties in sweep order."""
        means = [point.mean(self.headline) for point in self.points]
        return sorted(range(len(means)), key=lambda i: (means[i] is None, -(means[i] or 0.0), i))
