"""Runs a gate on one point: thresholds, lost scores, regressions; every check with the evidence for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.decision.baseline import Baseline, configuration_hash, identity
from bench.decision.options import full_name
from bench.decision.table import Table, defined_rows, lower_is_better
from bench.errors import StoreError
from bench.gating.thresholds import Bound, Thresholds
from bench.stats.flips import compare, holm
from bench.stats.resample import mean_intervals, weights
from bench.stats.scores import Array, Mask, Scores

WORST = 10


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a gate. ``status`` is pass, fail, or skip (not measured, or nothing could be told).

    ``category`` is empty for all questions. ``cases`` names the questions that pull hardest towards a failure.
    """

    kind: str
    measure: str
    category: str
    status: str
    text: str
    value: float | None = None
    band: str = ""
    p: float | None = None
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a gate, with what the judged point was made with."""

    sweep: str
    label: str
    baseline: str
    thresholds: str
    questions: int
    created: str
    configuration: str
    provenance: Mapping[str, Any]
    checks: tuple[Check, ...]

    @property
    def failures(self) -> tuple[Check, ...]:
        """Checks that fail."""
        return tuple(check for check in self.checks if check.status == "fail")

    @property
    def passed(self) -> bool:
        """True if no check fails and at least one passes."""
        return not self.failures and any(check.status == "pass" for check in self.checks)


def run_gate(table: Table, point: int, thresholds: Thresholds, baseline: Baseline | None = None) -> Outcome:
    """Check one point.

    Raises:
        StoreError: the baseline is not comparable; says in what it differs.
    """
    if baseline is not None and (problems := baseline.differences(table)):
        raise StoreError(f"not comparable with the baseline {baseline.point['label']!r}: {'; '.join(problems)}")
    checks = _all_thresholds(table, point, thresholds)
    if baseline is not None:
        checks += _regressions(table, point, thresholds, baseline)
    record = table.points[point]
    label = str(baseline.point["label"]) if baseline else ""
    return Outcome(
        sweep=str(table.header["name"]),
        label=record.label,
        baseline=label,
        thresholds=thresholds.name,
        questions=len(table.question_ids),
        created=str(table.header["created"]),
        configuration=configuration_hash(record.config),
        provenance={**identity(table), **record.provenance},
        checks=tuple(checks),
    )


def _all_thresholds(table: Table, point: int, thresholds: Thresholds) -> list[Check]:
    checks = []
    for name, bound in thresholds.measures.items():
        measure = full_name(table, name)
        checks += [_lost(table, point, measure, thresholds)] if measure in table.measures else []
        checks += _bound_checks(table, point, measure, "", bound, thresholds)
    for category, bounds in thresholds.categories.items():
        for name, bound in bounds.items():
            checks += _bound_checks(table, point, full_name(table, name), category, bound, thresholds)
    return checks


def _lost(table: Table, point: int, measure: str, thresholds: Thresholds) -> Check:
    states = table.states(measure, point)
    total = states["scored"] + states["failed"]
    share = states["failed"] / total if total else 0.0
    bad = share > thresholds.max_failed_share
    text = f"{states['failed']} of {total} scores lost; at most {thresholds.max_failed_share:.0%} allowed"
    return Check("lost", measure, "", "fail" if bad else "pass", text, share)


def _rows_of(table: Table, category: str) -> Mask:
    return np.array([category in ("", own) for own in table.categories], dtype=np.bool_)


def _column(table: Table, point: int, measure: str, category: str, cluster: str) -> Scores | None:
    """The scored questions of one point; None without any."""
    if measure not in table.measures:
        return None
    labels = table.clusters if cluster == "document" else table.question_ids
    values = np.where(_rows_of(table, category), table.values(measure)[:, point], np.nan)
    scores = Scores.of(values[:, None], labels)
    return scores.rows(defined_rows(scores)) if scores.scored.any() else None


def _bound_checks(
    table: Table, point: int, measure: str, category: str, bound: Bound, thresholds: Thresholds
) -> list[Check]:
    column = _column(table, point, measure, category, thresholds.cluster)
    if column is None:
        return [Check("threshold", measure, category, "skip", "not measured", None)] if bound.words() else []
    mean, drawn = float(column.means()[0]), weights(column.n_clusters, thresholds.resamples, thresholds.seed)
    low, high = (float(v) for v in mean_intervals(column, drawn, level=1 - thresholds.alpha)[:, 0])
    text = f"{mean:.3f} [{low:.3f}, {high:.3f}], n = {column.n_questions}"
    if bound.words():
        text += f", {bound.words()}"
        text += "; within noise of the threshold" if _straddles(bound, low, high) else ""
    status = "pass" if bound.met(mean) else "fail"
    cases = () if status == "pass" else _worst(table, point, measure, category)
    return [Check("threshold", measure, category, status, text, mean, bound.band(mean), None, cases)]


def _straddles(bound: Bound, low: float, high: float) -> bool:
    return bound.met(low) != bound.met(high)


def _worst(table: Table, point: int, measure: str, category: str) -> tuple[str, ...]:
    """Questions with the worst scores, those without a score first."""
    sign = -1.0 if lower_is_better(measure) else 1.0
    values = sign * table.values(measure)[:, point]
    rows = list(np.flatnonzero(_rows_of(table, category) & ~table.rows[point].undefined(measure)))
    rows.sort(key=lambda i: (not np.isnan(values[i]), values[i], i))
    return tuple(table.question_ids[i] for i in rows[:WORST])


def _regressions(table: Table, point: int, thresholds: Thresholds, baseline: Baseline) -> list[Check]:
    wanted = dict.fromkeys(full_name(table, name) for name in thresholds.measures)
    measures = [m for m in wanted if m in table.measures and m in baseline.scores]
    absent = [m for m in wanted if m in baseline.scores and m not in table.measures]
    checks = [Check("regression", m, "", "fail", "measured in the baseline, absent here") for m in absent]
    if not measures:
        return checks
    pairs = {measure: _pair(table, point, measure, baseline) for measure in measures}
    checks += _family(table, thresholds, pairs, "")
    if thresholds.per_category and len(set(table.categories)) > 1:
        checks += _category_regressions(table, thresholds, pairs)
    return checks


def _pair(table: Table, point: int, measure: str, baseline: Baseline) -> Array:
    """Now and then, shape (questions, 2), higher is better."""
    sign = -1.0 if lower_is_better(measure) else 1.0
    return sign * np.stack((table.values(measure)[:, point], baseline.column(measure, table.question_ids)), axis=1)


def _family(
    table: Table, thresholds: Thresholds, pairs: Mapping[str, Array], category: str, p_values: Array | None = None
) -> list[Check]:
    """One check a measure; p adjusted over the measures, or as given."""
    rows, names = _rows_of(table, category), list(pairs)
    labels = np.asarray(table.clusters if thresholds.cluster == "document" else table.question_ids)[rows]
    both = [np.where(np.isnan(pair).any(axis=1, keepdims=True), np.nan, pair)[rows] for pair in pairs.values()]
    scores = Scores.of(np.concatenate(both, axis=1), labels)
    columns = np.arange(2 * len(names), dtype=np.int64).reshape(-1, 2)
    family = compare(scores, columns, resamples=thresholds.resamples, seed=thresholds.seed)
    p = family.p_adjusted if p_values is None else p_values
    return [
        _drop(table, thresholds, scores.columns(columns[i]), names[i], category, float(p[i]), rows)
        for i in range(len(names))
    ]


def _drop(
    table: Table, thresholds: Thresholds, pair: Scores, measure: str, category: str, p: float, rows: Mask
) -> Check:
    known = pair.scored.all(axis=1)
    if not known.any():
        return Check("regression", measure, category, "skip", "no question is scored in both")
    both = pair.minus(1).columns([0]).rows(np.asarray(known))
    drawn = weights(both.n_clusters, thresholds.resamples, thresholds.seed)
    low, high = (float(v) for v in mean_intervals(both, drawn, level=1 - thresholds.alpha)[:, 0])
    change = float(both.means()[0])
    worse = p <= thresholds.alpha and change < -thresholds.minimum_effect
    text = f"{change:+.3f} [{low:+.3f}, {high:+.3f}], n = {both.n_questions}, adjusted p = {p:.2g}"
    text += _why(change, p, thresholds, both.n_clusters)
    order = np.argsort(np.where(known, pair.values[:, 0] - pair.values[:, 1], 0.0), kind="stable")[:WORST]
    ids = np.asarray(table.question_ids)[rows]
    cases = tuple(str(ids[i]) for i in order) if worse else ()
    return Check("regression", measure, category, "fail" if worse else "pass", text, change, "", p, cases)


def _why(change: float, p: float, thresholds: Thresholds, clusters: int) -> str:
    if 2.0 ** (1 - clusters) > thresholds.alpha:
        return f"; on {clusters} documents no drop can be shown"
    if change >= 0 or (p > thresholds.alpha and change >= -thresholds.minimum_effect):
        return ""
    if p > thresholds.alpha:
        return "; not beyond chance"
    small = change >= -thresholds.minimum_effect
    return f"; significant, but no more than {thresholds.minimum_effect:g}" if small else "; significant"


def _category_regressions(table: Table, thresholds: Thresholds, pairs: Mapping[str, Array]) -> list[Check]:
    """Each category as a family of measures, and Holm over the categories of a measure."""
    names = sorted(set(table.categories))
    first = [_family(table, thresholds, pairs, category) for category in names]
    raw = np.array([[1.0 if check.p is None else check.p for check in checks] for checks in first])
    adjusted = np.stack([holm(column) for column in raw.T], axis=1)
    return [c for i, name in enumerate(names) for c in _family(table, thresholds, pairs, name, adjusted[i])]
