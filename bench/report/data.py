"""The records of a sweep as matrices of questions x points, ready for tables, figures and the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bench.report.marks import Marks, default_decision, find_marks, read_decision
from bench.stats.resample import RESAMPLES, mean_intervals, weights
from bench.stats.scores import Array, Scores
from bench.store import PointRecord, Sweep
from bench.types import Document

MAX_DECIDED = 40_000
Row = dict[str, Any]
Made = TypeVar("Made")

KEPT_POINTS = 32
"""Sweeps of at most so many points are held in memory, larger ones are read point by point."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Mean of a measure with its 95 % interval, resampled by ``SweepData.unit``; ``n`` questions were scored."""

    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Table:
    """What the rows of a sweep say of its questions: ids, clusters, categories, and scores by measure.

    Each array of ``values`` has shape (questions, points), NaN where nothing was scored.
    """

    question_ids: list[str]
    clusters: list[str]
    categories: list[str]
    values: dict[str, Array]


@dataclass(frozen=True)
class SweepData:
    """A sweep, read once.

    ``points`` are the complete records without duplicates of one chunking, in the order of the sweep; ``failed`` and
    ``duplicates`` are kept beside them. Per-question rows are read when they are asked for, a point at a time.
    ``baseline`` names the point that stands for today's production, where the decision names none.
    """

    folder: Path
    header: Mapping[str, Any]
    points: tuple[PointRecord, ...]
    duplicates: tuple[PointRecord, ...]
    failed: tuple[PointRecord, ...]
    baseline: str = ""
    _kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def read(cls, folder: Path, baseline: str = "") -> SweepData:
        """Read a sweep's folder.

        Raises:
            StoreError: the folder holds no sweep, or a file of it is broken.
        """
        sweep = Sweep.open(folder)
        records = sweep.records()
        complete = [record for record in records if record.status == "complete"]
        return cls(
            folder=folder,
            header=sweep.header(),
            points=tuple(record for record in complete if record.duplicate_of is None),
            duplicates=tuple(record for record in complete if record.duplicate_of is not None),
            failed=tuple(record for record in records if record.status != "complete"),
            baseline=baseline,
        )

    @property
    def headline(self) -> str:
        """The measure that ranks the points."""
        return str(self.header["headline"])

    @property
    def budget_tokens(self) -> int:
        """The token budget of the headline."""
        return int(self.header["headline_tokens"])

    @property
    def name(self) -> str:
        """Name of the sweep."""
        return str(self.header["name"])

    def rows_of(self, index: int) -> list[Row]:
        """Per-question rows of one point, read from its file; kept where the sweep is small."""
        return self.rows[index] if len(self.points) <= KEPT_POINTS else self._read(index)

    def _read(self, index: int) -> list[Row]:
        return Sweep(self.folder).questions(self.points[index])

    @cached_property
    def short_labels(self) -> list[str]:
        """Labels of the points without the words that all of them share: what a figure has room for."""
        words = [point.label.split(" ") for point in self.points]
        shared = set.intersection(*map(set, words)) if len(words) > 1 else set()
        return [" ".join(w for w in some if w not in shared) or " ".join(some) for some in words]

    @cached_property
    def rows(self) -> tuple[list[Row], ...]:
        """Per-question rows of all points at once: for small sweeps; large ones are walked with ``rows_of``."""
        return tuple(self._read(index) for index in range(len(self.points)))

    @cached_property
    def table(self) -> Table:
        """Questions and scores of all points, by one pass over their files."""
        found = Table([], [], [], {})
        for column in range(len(self.points)):
            rows = self.rows_of(column)
            if column == 0:
                found.question_ids.extend(row["question_id"] for row in rows)
                found.clusters.extend(str(row["cluster"]) for row in rows)
                found.categories.extend(str(row.get("category", "uncategorised")) for row in rows)
            self._fill(found, rows, column)
        return found

    def _fill(self, found: Table, rows: Sequence[Row], column: int) -> None:
        by_id = {row["question_id"]: row["scores"] for row in rows}
        own = [by_id.get(name, {}) for name in found.question_ids]
        for measure in self.points[column].estimates:
            if not self.shows(measure):
                continue
            if measure not in found.values:
                found.values[measure] = np.full((len(own), len(self.points)), np.nan)
            scores = (scored.get(measure) for scored in own)
            found.values[measure][:, column] = [s if isinstance(s, int | float) else np.nan for s in scores]

    def shows(self, measure: str) -> bool:
        """True for what tables and figures show: no variant in tokens, and of each family the cuts that are asked."""
        family, _, cut = measure.partition("@")
        if family.endswith("_in_tokens"):
            return False
        whole_curve = family == "span_recall" and cut.startswith("tokens=")
        return whole_curve or cut in ("", self.headline.partition("@")[2], "k=5", "k=10")

    @property
    def question_ids(self) -> list[str]:
        """Ids of all questions, in the golden set's order."""
        return self.table.question_ids

    @property
    def clusters(self) -> list[str]:
        """Document of each question."""
        return self.table.clusters

    @cached_property
    def golden(self) -> dict[str, Row]:
        """Golden questions by id, as the sweep kept them; empty where it kept none."""
        kept = Sweep(self.folder).golden() if (self.folder / "golden.jsonl").is_file() else []
        return {row["question_id"]: row for row in kept}

    @cached_property
    def documents(self) -> dict[str, Document]:
        """Documents by id, as the sweep kept them; empty where it kept none."""
        sweep = Sweep(self.folder)
        kept = sweep.documents() if (self.folder / "documents.jsonl.gz").is_file() else ()
        return {document.doc_id: document for document in kept}

    @cached_property
    def decision(self) -> dict[str, Any] | None:
        """The decision on exactly these points: as ``bench decide`` left it, else one without options or limits.

        None where there are too many scores to decide on the way (``MAX_DECIDED``), or fewer than two points.
        """
        found = read_decision(self.folder, [point.point_id for point in self.points])
        if found is not None or not 1 < len(self.points) <= MAX_DECIDED // max(1, len(self.golden)):
            return found
        return default_decision(self.folder, self.baseline)

    @property
    def unit(self) -> str:
        """What is resampled: the unit of the decision that the page shows, "document" or "question"."""
        return str((self.decision or {}).get("questions", {}).get("unit", "document"))

    @cached_property
    def marks(self) -> Marks:
        """Which points the figures mark."""
        return find_marks(self.points, self.best_first(), self.decision, self.baseline)

    def once(self, key: str, make: Callable[[SweepData], Made]) -> Made:
        """``make(self)``, kept under ``key`` for the next caller."""
        if key not in self._kept:
            self._kept[key] = make(self)
        found: Made = self._kept[key]
        return found

    def has(self, measure: str) -> bool:
        """True if some point has a mean of the measure."""
        return any(point.mean(measure) is not None for point in self.points)

    def scores(self, measure: str) -> Scores:
        """Scores of one measure, shape (questions, points), grouped by ``unit``."""
        missing = np.full((len(self.question_ids), len(self.points)), np.nan)
        labels = self.clusters if self.unit == "document" else self.question_ids
        return Scores.of(self.table.values.get(measure, missing), labels)

    def intervals(self, measure: str) -> list[Interval | None]:
        """Mean and 95 % interval of each point, by the cluster bootstrap of the decision with the sweep's seed."""
        return self.once(f"intervals:{measure}", lambda data: data._resampled(measure))

    def _resampled(self, measure: str) -> list[Interval | None]:
        if not self.points:
            return []
        scores = self.scores(measure)
        counts = scores.scored.sum(axis=0)
        if not counts.any():
            return [None] * len(self.points)
        used = scores.rows(np.asarray(scores.scored.any(axis=1)))
        drawn = weights(used.n_clusters, RESAMPLES, int(self.header["seed"]))
        points = np.flatnonzero(counts)
        used = used.columns(points)
        found: list[Interval | None] = [None] * len(self.points)
        for point, mean, (low, high) in zip(points, used.means(), mean_intervals(used, drawn).T, strict=True):
            found[point] = Interval(float(mean), float(low), float(high), int(counts[point]))
        return found

    def family(self, index: int) -> str:
        """Strategy of a point, with its embedder and retriever where the sweep has several."""
        names = ("strategy", "embedder", "retriever")
        varied = [n for n in names if n == "strategy" or len({str(p.axes.get(n)) for p in self.points}) > 1]
        return " · ".join(str(self.points[index].axes.get(n, "")) for n in varied)

    def best_first(self) -> list[int]:
        """Indices of the points by headline, best first; points without a score last, ties in sweep order."""
        means = [point.mean(self.headline) for point in self.points]
        return sorted(range(len(means)), key=lambda i: (means[i] is None, -(means[i] or 0.0), i))
