"""The parts of a decision as plain values, each traceable to records and seeds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.decision import detail
from bench.decision.baseline import Baseline, configuration_hash
from bench.decision.choose import Choice, more_questions
from bench.decision.options import Options
from bench.decision.table import COSTS, Table, lower_is_better
from bench.errors import StoreError
from bench.stats.scores import Mask, Scores

MAX_PAIRS = 2000


@dataclass(frozen=True)
class Case:
    """What every part is made from. Columns of ``scores`` are ``points`` of the table; its rows are ``asked``."""

    table: Table
    options: Options
    objective: str
    points: list[int]
    excluded: dict[int, str]
    scores: Scores
    asked: Mask
    names: list[str]
    choice: Choice

    @property
    def sign(self) -> float:
        """-1 where lower is better: scores are negated."""
        return -1.0 if lower_is_better(self.objective) else 1.0

    def label(self, column: int) -> str:
        """Label of a column."""
        return self.table.points[self.points[column]].label

    def who(self, column: int | None) -> dict[str, Any] | None:
        """Id and label of a column."""
        if column is None:
            return None
        record = self.table.points[self.points[column]]
        return {"point_id": record.point_id, "label": record.label}


def questions(case: Case) -> dict[str, Any]:
    """How many questions count, and what they stand on."""
    return {
        "scored": case.scores.n_questions,
        "of": len(case.table.question_ids),
        "unit": case.options.cluster,
        "clusters": case.scores.n_clusters,
        "documents": len(set(case.table.clusters)),
        "headers": {key: case.table.header["corpus"].get(key) for key in ("name", "sha256", "golden_sha256")},
    }


def points(case: Case) -> list[dict[str, Any]]:
    """Every eligible point with its score, interval, lost scores and costs, best first."""
    low, high = case.choice.intervals if case.sign > 0 else -case.choice.intervals[::-1]
    rows = []
    for column, point in enumerate(case.points):
        record, states = case.table.points[point], case.table.states(case.objective, point)
        estimate = record.estimates[case.objective]
        rows.append(
            {
                "point_id": record.point_id,
                "label": record.label,
                "mean": case.sign * float(case.choice.means[column]),
                "low": float(low[column]),
                "high": float(high[column]),
                "scored": states["scored"],
                "failed": states["failed"],
                "declined": states["declined"],
                "bounds_if_failed": [estimate.get("low"), estimate.get("high")] if states["failed"] else None,
                "wins": float(case.choice.frequency[column]),
                "cost": {name: record.cost.get(name) for name in COSTS},
                "realised": {
                    name: record.realised.get(name) for name in ("chunks", "truncated_share", "overlap_share")
                },
                "configuration_sha256": configuration_hash(record.config),
            }
        )
    return sorted(rows, key=lambda row: -case.sign * row["mean"])


def alike(case: Case, column: int, shown: int) -> dict[str, Any]:
    """One point that cannot be told from the best at selection, against the chosen one on all questions."""
    difference, p = case.choice.against(column, shown)
    row = case.who(column) or {}
    return row | {"difference_from_chosen": case.sign * difference, "p_adjusted": p}


def given_up(case: Case, shown: int) -> dict[str, Any]:
    """The highest score on all questions against the chosen point: what choosing the cheaper one may cost."""
    highest = int(np.nanargmax(case.choice.means))
    reference = np.where(case.scores.scored[:, highest], case.scores.values[:, highest], np.nan)
    part = detail.baseline(case.scores, case.choice, shown, reference, case.options.rules)["all"]
    return {
        "to": case.label(highest),
        "difference": 0.0 - part["difference"],
        "low": 0.0 - part["high"],
        "high": 0.0 - part["low"],
    } | {"p_adjusted": case.choice.against(highest, shown)[1]}


def selection(case: Case) -> dict[str, Any]:
    """How selection was kept apart from confirmation, and what each of them scored."""
    choice = case.choice
    nested = (
        None
        if choice.nested is None
        else {
            "selected": case.sign * choice.nested.selected,
            "confirmed": case.sign * choice.nested.confirmed,
            "rounds": choice.nested.rounds,
        }
    )
    ids = [q for q, keep in zip(case.table.question_ids, case.asked, strict=True) if keep]
    confirmed = None if choice.confirmed is None else sorted(case.sign * value for value in choice.confirmed[1:])
    return {
        "method": "split" if choice.confirmed else ("repeated splits" if nested else "none"),
        "selection_questions": int(choice.selection.sum()),
        "confirmation_questions": int((~choice.selection).sum()),
        "confirmation_ids": [q for q, chose in zip(ids, choice.selection, strict=True) if not chose],
        "selected_score": None if choice.selected is None else case.sign * choice.selected,
        "confirmed_score": None if choice.confirmed is None else case.sign * choice.confirmed[0],
        "confirmed_interval": confirmed,
        "nested": nested,
        "optimism": choice.optimism,
        "optimism_relative": choice.optimism_relative,
    }


def pairs(case: Case, shown: int) -> list[dict[str, Any]]:
    """Tests of all pairs on all questions; of very many only those with the chosen or the best point."""
    family, keep = case.choice.family, {shown, case.choice.best}
    few = len(family.pairs) <= MAX_PAIRS
    return [
        {"first": case.label(int(a)), "second": case.label(int(b)), "difference": case.sign * float(d), "n": int(n)}
        | {"p": float(p), "p_adjusted": float(q)}
        for (a, b), d, n, p, q in zip(
            family.pairs, family.difference, family.n, family.p, family.p_adjusted, strict=True
        )
        if few or a in keep or b in keep
    ]


def detectable(case: Case) -> dict[str, Any] | None:
    """The difference that these questions would show, and how many more would show a smaller one."""
    found = case.choice.detectable
    if found is None:
        return None
    goal = max(0.01, np.floor(75 * found) / 100)
    more = more_questions(case.scores, found, goal)
    ratio = case.scores.n_clusters / case.scores.n_questions
    rules = case.options.rules
    return {"difference": found, "alpha": rules.alpha, "power": rules.power, "goal": float(goal)} | {
        "more_questions": more,
        "more_clusters": int(np.ceil(more * ratio)),
    }


def baseline(case: Case, shown: int) -> dict[str, Any] | None:
    """The chosen point against the baseline; None without one."""
    name = case.options.baseline
    if not name:
        return None
    if Path(name).is_file():
        kept = Baseline.read(Path(name))
        if problems := kept.differences(case.table):
            raise StoreError(f"--baseline {name}: not comparable with {case.table.folder}: {'; '.join(problems)}")
        label, cost = str(kept.point["label"]), {}
        column = kept.column(case.objective, case.table.question_ids)
    else:
        record = case.table.points[case.table.find(name)]
        label, cost = record.label, {key: record.cost.get(key) for key in COSTS}
        column = case.table.values(case.objective)[:, case.table.find(name)]
    parts = detail.baseline(case.scores, case.choice, shown, case.sign * column[case.asked], case.options.rules)
    return {"label": label, "cost": cost, "compared": parts}
