"""Beside the choice: categories, what mattered, robustness to the measure, trade-offs, the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from bench.decision.choose import Choice, Rules
from bench.decision.relevance import recall_by_threshold
from bench.decision.table import MAX_POINTS_WITH_HITS, Table, defined_rows, lower_is_better
from bench.stats.effects import effects
from bench.stats.flips import compare, holm
from bench.stats.pareto import dominators, front, front_probability
from bench.stats.power import too_small
from bench.stats.resample import bootstrap_means, mean_intervals, weights
from bench.stats.scores import Array, Scores, against

EFFECT_AXES = 6


def categories(
    scores: Scores, names: Sequence[str], labels: Sequence[str], chosen: int | None, rules: Rules
) -> list[dict[str, Any]]:
    """For each category: n, the best point, and whether the chosen one is significantly worse there.

    All points are tested against the chosen one in each category (step-down maxT), the categories together by Holm.
    """
    rows = []
    for category in sorted(set(names)):
        part = scores.rows(np.array([name == category for name in names]))
        means, drawn = part.means(), weights(part.n_clusters, rules.resamples, rules.seed)
        low, high = mean_intervals(part, drawn, level=1 - rules.alpha, method="percentile")
        best = int(np.nanargmax(means))
        table = [
            {"label": label, "mean": number(means[i]), "low": number(low[i]), "high": number(high[i])}
            for i, label in enumerate(labels)
        ]
        row = {"category": category, "questions": part.n_questions, "documents": part.n_clusters, "best": labels[best]}
        row |= {
            "best_mean": float(means[best]),
            "points": table,
            "too_small": too_small(part.n_questions, part.n_clusters),
        }
        rows.append(row | _chosen_in(part, chosen, best, means, rules))
    tested = [row for row in rows if row.get("p") is not None]
    for row, p in zip(tested, holm(np.array([row["p"] for row in tested], dtype=np.float64)), strict=True):
        row["p_adjusted"] = float(p)
        row["chosen_is_worse"] = bool(p <= rules.alpha and not row["too_small"])
    return rows


def _chosen_in(part: Scores, chosen: int | None, best: int, means: Array, rules: Rules) -> dict[str, Any]:
    if chosen is None:
        return {"chosen_mean": None, "p": None}
    mean = number(means[chosen])
    if best == chosen or part.n_points < 2:
        return {"chosen_mean": mean, "p": None}
    family = compare(part, against(part.n_points, chosen), resamples=rules.resamples, seed=rules.seed)
    row = int(np.flatnonzero(family.pairs[:, 0] == best)[0])
    return {"chosen_mean": mean, "difference": 0.0 - float(family.difference[row]), "p": float(family.p_adjusted[row])}


def what_mattered(table: Table, scores: Scores, points: Sequence[int], seed: int) -> list[dict[str, Any]]:
    """Main effects and interactions of the swept parameters, those that explain most first among interactions."""
    names = [name for name in table.points[points[0]].axes if _varies(table, points, name)]
    axes = {name: [table.points[p].axes.get(name, "–") for p in points] for name in names}
    distinct: dict[tuple[object, ...], str] = {}
    for name, values in axes.items():
        codes = {value: i for i, value in enumerate(dict.fromkeys(map(str, values)))}
        distinct.setdefault(tuple(codes[str(value)] for value in values), name)
    kept = {name: axes[name] for name in list(distinct.values())[:EFFECT_AXES]}
    return [asdict(effect) for effect in effects(scores, kept, seed=seed)]


def _varies(table: Table, points: Sequence[int], name: str) -> bool:
    return len({str(table.points[p].axes.get(name)) for p in points}) > 1


def robustness(table: Table, points: Sequence[int], objective: str, chosen: int | None) -> list[dict[str, Any]]:
    """How the ranking of the points changes with k, budget or measure: Kendall's tau with the objective, best point.

    Looks at every cut of the objective's family, at the rank measures beside it, and at other relevance thresholds.
    """
    from scipy.stats import kendalltau

    family = objective.partition("@")[0]
    wanted = [
        m for m in table.measures if m.partition("@")[0] in (family, "nDCG", "R", "RR", "recall_auc") and m != objective
    ]
    base = _means(table, points, objective)
    found = {measure: _means(table, points, measure) for measure in sorted(wanted, key=_cut_order)}
    ks = sorted(table.header["cuts"]["ks"])
    held = recall_by_threshold(table, points, ks[len(ks) // 2]) if len(table.points) <= MAX_POINTS_WITH_HITS else {}
    found |= {measure: np.array(means) for measure, means in held.items()}
    rows = []
    for measure, means in found.items():
        if np.isnan(means).any() or np.ptp(means) == 0 or np.ptp(base) == 0:
            continue
        best = int(np.argmax(means))
        row = {"measure": measure, "kendall_tau": float(kendalltau(base, means).statistic)}
        row |= {"best": table.points[points[best]].label, "best_mean": float(means[best])}
        rows.append(row | {"chosen_mean": None if chosen is None else float(means[chosen])})
    return rows


def _cut_order(measure: str) -> tuple[str, int]:
    cut, _, size = measure.partition("=")
    return cut, int(size) if size.isdecimal() else 0


def _means(table: Table, points: Sequence[int], measure: str) -> Array:
    sign = -1.0 if lower_is_better(measure) else 1.0
    means = [table.points[p].mean(measure) for p in points]
    return np.array([float("nan") if mean is None else sign * mean for mean in means])


def trade_offs(
    table: Table, points: Sequence[int], measures: Sequence[str], costs: Sequence[str], cluster: str, rules: Rules
) -> dict[str, Any]:
    """Pareto front over measures and costs: each point's place, its probability, and what dominates it."""
    known = [cost for cost in costs if all(table.points[p].cost.get(cost) is not None for p in points)]
    columns = {name: table.scores(name, cluster).columns(points) for name in measures}
    shared = np.all([defined_rows(one) for one in columns.values()], axis=0)
    values = [one.means() for one in columns.values()] + [_cost(table, points, cost) for cost in known]
    observed = np.stack(values, axis=1)
    if not shared.any() or np.isnan(observed).any():
        return {"measures": list(measures), "costs": known, "resamples": 0, "points": []}
    parts = [one.rows(shared) for one in columns.values()]
    drawn = weights(parts[0].n_clusters, min(rules.resamples, 2000), rules.seed)
    boots = [bootstrap_means(one, drawn) for one in parts] + [_cost(table, points, cost)[None, :] for cost in known]
    probability, used = front_probability(boots)
    on_front, over = front(observed), dominators(observed)
    rows = [
        {"point_id": table.points[p].point_id, "label": table.points[p].label, "on_front": bool(on_front[i])}
        | {
            "probability": float(probability[i]),
            "dominated_by": None if over[i] is None else _label(table, points, over[i]),
        }
        for i, p in enumerate(points)
    ]
    return {"measures": list(measures), "costs": known, "resamples": used, "points": rows}


def _label(table: Table, points: Sequence[int], column: int | None) -> str:
    return "" if column is None else table.points[points[column]].label


def _cost(table: Table, points: Sequence[int], name: str) -> Array:
    """A cost as higher-is-better, to two significant digits: smaller differences are measuring noise."""
    return np.array([-float(f"{table.points[p].cost[name]:.2g}") for p in points])


def baseline(scores: Scores, choice: Choice, chosen: int, reference: Array, rules: Rules) -> dict[str, Any]:
    """Chosen against a baseline's scores on the same questions: on the part that did not choose, and on all.

    Args:
        scores: the matrix that was chosen from.
        choice: with its selection part.
        chosen: column of the chosen point.
        reference: baseline score of each question, shape (questions,), NaN where it has none.
        rules: level, seed.
    """
    pair = Scores(
        np.stack((scores.values[:, chosen], np.nan_to_num(reference)), axis=1),
        np.stack((scores.scored[:, chosen], ~np.isnan(reference)), axis=1),
        scores.clusters,
    )
    parts = {"all": pair} | ({} if choice.selection.all() else {"confirmation": pair.rows(~choice.selection)})
    return {name: _difference(part, rules) for name, part in parts.items() if part.scored.all(axis=1).any()}


def _difference(pair: Scores, rules: Rules) -> dict[str, Any]:
    family = compare(pair, np.array([[0, 1]], dtype=np.int64), resamples=rules.resamples, seed=rules.seed)
    both = pair.minus(1).columns([0])
    both = both.rows(both.scored[:, 0])
    low, high = mean_intervals(both, weights(both.n_clusters, rules.resamples, rules.seed), level=1 - rules.alpha)
    return {"difference": float(family.difference[0]), "low": float(low[0]), "high": float(high[0])} | {
        "p": float(family.p[0]),
        "questions": both.n_questions,
        "documents": both.n_clusters,
    }


def number(value: float) -> float | None:
    """A finite float, or None: no NaN reaches a file."""
    return float(value) if np.isfinite(value) else None
