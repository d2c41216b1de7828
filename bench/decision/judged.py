"""Carries the judge's own errors into the intervals of judged measures, where the records tell of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.decision.choose import Rules
from bench.decision.table import Table
from bench.errors import ConfigError
from bench.measures.registry import MEASURES
from bench.stats.judge import JudgeQuality, corrected_interval, vote_bootstrap
from bench.stats.resample import bootstrap_means, percentile_interval, weights
from bench.stats.scores import Array, Mask, Scores

RESAMPLES = 2000
JUDGED = ("faithfulness", "fully_faithful")


def quality_of(header: Mapping[str, Any], measure: str) -> JudgeQuality | None:
    """Measured error rates of the judge behind a measure, from ``judge_quality`` of sweep.json or a file.

    It is either one set of rates (taken for faithfulness and fully_faithful) or a set a measure.
    """
    raw = header.get("judge_quality") or {}
    family = measure.partition("@")[0]
    found = raw if "tpr" in raw and family in JUDGED else raw.get(measure, raw.get(family))
    if not isinstance(found, Mapping):
        return None
    try:
        return JudgeQuality(float(found["tpr"]), float(found["tnr"]), int(found["n_pos"]), int(found["n_neg"]))
    except KeyError as error:
        raise ConfigError(f"judge_quality: has no {error}; it needs tpr, tnr, n_pos, n_neg") from error


def judged(
    table: Table,
    points: Sequence[int],
    measure: str,
    asked: Array | Mask,
    scores: Scores,
    rules: Rules,
    rates: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """Intervals of a judged measure that hold the spread of repeated votes and the judge's error rates.

    None for a measure without votes or measured rates. A judge too near to guessing is refused, with the reason.
    ``rates`` are used in place of those of the sweep's header.
    """
    quality = quality_of({**table.header, "judge_quality": rates} if rates else table.header, measure)
    votes = [_kept(table.votes(measure, point), asked) for point in points]
    if quality is None and not any(votes):
        return None
    drawn = weights(scores.n_clusters, min(rules.resamples, RESAMPLES), rules.seed)
    boots = [
        vote_bootstrap(scores, i, own, drawn, seed=rules.seed + i, bounds=bounds_of(measure))
        if own
        else bootstrap_means(scores.columns([i]), drawn)
        for i, own in enumerate(votes)
    ]
    boot = np.concatenate(boots, axis=1)
    result: dict[str, Any] = {"votes": any(votes), "resamples": len(drawn), "refused": ""}
    if quality is None:
        return result | _rows(table, points, scores.means(), percentile_interval(boot, 1 - rules.alpha))
    result["quality"] = {"tpr": quality.tpr, "tnr": quality.tnr, "n_pos": quality.n_pos, "n_neg": quality.n_neg}
    try:
        rate, bounds = corrected_interval(scores.means(), boot, quality, seed=rules.seed, level=1 - rules.alpha)
    except ConfigError as error:
        return result | {"refused": str(error), "points": []}
    return result | _rows(table, points, rate, bounds)


def bounds_of(measure: str) -> tuple[float, float]:
    """Least and greatest value that a measure can have, infinite where it has no bound."""
    known = MEASURES.get(measure.split("@")[0])
    low, high = (known.low, known.high) if known else (None, None)
    return -np.inf if low is None else low, np.inf if high is None else high


def _kept(votes: dict[int, Array], asked: Array | Mask) -> dict[int, Array]:
    """Votes by row of the matrix, which holds only the questions of ``asked``."""
    rows = {int(question): row for row, question in enumerate(np.flatnonzero(asked))}
    return {rows[question]: values for question, values in votes.items() if question in rows}


def _rows(table: Table, points: Sequence[int], mean: Array, bounds: Array) -> dict[str, Any]:
    rows = [
        {
            "label": table.points[p].label,
            "mean": float(mean[i]),
            "low": float(bounds[0, i]),
            "high": float(bounds[1, i]),
        }
        for i, p in enumerate(points)
    ]
    return {"points": rows}
