"""One point of each of several sweeps, in order of time, each compared with the one before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.decision.baseline import Baseline, configuration_hash
from bench.decision.table import Table, defined_rows, lower_is_better
from bench.errors import StoreError
from bench.gating.point import pick
from bench.stats.flips import compare
from bench.stats.resample import mean_intervals, weights
from bench.stats.scores import Scores

RESAMPLES = 2000
SEED = 0


@dataclass(frozen=True, slots=True)
class Value:
    """A measure of one run. ``change`` is the paired difference from the run before, None where that has no meaning.

    ``beyond_noise`` holds after adjustment over the measures of the run; ``note`` says why there is no change.
    """

    mean: float
    low: float
    high: float
    n: int
    change: float | None = None
    p: float | None = None
    beyond_noise: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One sweep's point and what it was made with."""

    created: str
    sweep: str
    label: str
    configuration: str
    corpus: str
    golden: str
    models: Mapping[str, str]
    code: str
    values: Mapping[str, Value]


def find_sweeps(folders: Sequence[Path]) -> list[Path]:
    """Each folder that is a sweep, and the sweeps directly below each that is not.

    Raises:
        StoreError: a folder holds no sweep.
    """
    found: list[Path] = []
    for folder in folders:
        inside = (
            [folder] if (folder / "sweep.json").is_file() else sorted(p.parent for p in folder.glob("*/sweep.json"))
        )
        if not inside:
            raise StoreError(f"{folder}: holds no sweep, nor do the folders in it; give folders that bench sweep wrote")
        found += inside
    return list(dict.fromkeys(found))


def history(folders: Sequence[Path], measures: Sequence[str], point: str = "", alpha: float = 0.05) -> list[Run]:
    """Read the runs, oldest first. Without ``measures``: the headline of the latest, and what is beside it.

    Of a sweep with several points the named one is taken, else the decided one, else the best by its headline.
    """
    tables = sorted((Table.read(folder) for folder in find_sweeps(folders)), key=lambda t: str(t.header["created"]))
    wanted = list(measures) or _default_measures(tables[-1])
    for name in measures:
        tables[-1].known(name, "--measures")
    runs: list[Run] = []
    before: Baseline | None = None
    for table in tables:
        column = _point(table, point)
        runs.append(_run(table, column, wanted, before, alpha))
        before = Baseline.of(table, column)
    return runs


def _default_measures(table: Table) -> list[str]:
    names = [str(table.header["headline"]), "faithfulness", "answer_relevance", "recall_auc"]
    return [name for name in names if name in table.measures]


def _point(table: Table, name: str) -> int:
    if name or len(table.points) == 1 or (table.folder / "decision.json").is_file():
        return pick(table, name)
    means = [record.mean(str(table.header["headline"])) for record in table.points]
    return int(np.argmax([-np.inf if mean is None else mean for mean in means]))


def _run(table: Table, point: int, measures: Sequence[str], before: Baseline | None, alpha: float) -> Run:
    record, header = table.points[point], table.header
    packages = record.provenance.get("packages", header.get("provenance", {}).get("packages", {}))
    return Run(
        created=str(header["created"]),
        sweep=str(header["name"]),
        label=record.label,
        configuration=configuration_hash(record.config),
        corpus=str(header["corpus"]["sha256"])[:12],
        golden=str(header["corpus"]["golden_sha256"])[:12],
        models=_models(record.config, packages),
        code=str(record.provenance.get("bench", "")),
        values=_values(table, point, measures, before, alpha),
    )


def _models(config: Mapping[str, Any], packages: Mapping[str, str]) -> dict[str, str]:
    """Named models of the configuration, and the versions of the packages that carry or run them."""
    named = {
        group: str(config[group].get("model", config[group].get("name", "")))
        for group in ("embedder", "generator", "judge")
        if isinstance(config.get(group), Mapping)
    }
    return {**named, **{str(name): str(version) for name, version in packages.items()}}


def _values(
    table: Table, point: int, measures: Sequence[str], before: Baseline | None, alpha: float
) -> dict[str, Value]:
    found = {m: value for m in measures if m in table.measures and (value := _value(table, point, m)) is not None}
    if before is None:
        return found
    problems = before.differences(table)
    if problems:
        return {m: _with(value, note=f"not compared: {'; '.join(problems)}") for m, value in found.items()}
    shared = [m for m in found if m in before.scores]
    return found | _changes(table, point, shared, before, found, alpha)


def _value(table: Table, point: int, measure: str) -> Value | None:
    scores = Scores.of(table.values(measure)[:, [point]], table.clusters)
    if not scores.scored.any():
        return None
    scores = scores.rows(defined_rows(scores))
    low, high = mean_intervals(scores, weights(scores.n_clusters, RESAMPLES, SEED))[:, 0]
    return Value(float(scores.means()[0]), float(low), float(high), scores.n_questions)


def _changes(
    table: Table, point: int, shared: Sequence[str], before: Baseline, found: Mapping[str, Value], alpha: float
) -> dict[str, Value]:
    if not shared:
        return {}
    now = [table.values(measure)[:, point] for measure in shared]
    then = [before.column(measure, table.question_ids) for measure in shared]
    scores = Scores.of(np.stack([*now, *then], axis=1), table.clusters)
    pairs = np.array([[i, len(shared) + i] for i in range(len(shared))], dtype=np.int64)
    family = compare(scores, pairs, seed=SEED)
    return {
        m: _with(found[m], float(family.difference[i]), float(family.p_adjusted[i]), family.p_adjusted[i] <= alpha)
        for i, m in enumerate(shared)
        if family.n[i]
    }


def _with(
    value: Value, change: float | None = None, p: float | None = None, beyond: bool = False, note: str = ""
) -> Value:
    return Value(value.mean, value.low, value.high, value.n, change, p, bool(beyond), note)


def direction(measure: str, value: Value) -> str:
    """better, worse, or empty where the change is within noise."""
    if not value.beyond_noise or not value.change:
        return ""
    return "worse" if (value.change < 0) != lower_is_better(measure) else "better"
