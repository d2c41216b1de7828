"""A judge errs: its error rates and the spread of its votes, carried into the interval of a judged rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bench.errors import ConfigError
from bench.stats.resample import percentile_interval
from bench.stats.scores import Array, Scores

MIN_YOUDEN = 1.1


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """Measured against people: true positive rate on ``n_pos`` and true negative rate on ``n_neg`` labelled cases."""

    tpr: float
    tnr: float
    n_pos: int
    n_neg: int

    def __post_init__(self) -> None:
        for name, value in (("tpr", self.tpr), ("tnr", self.tnr)):
            if not 0 <= value <= 1:
                raise ConfigError(f"judge_quality.{name}: got {value}; allowed: a rate from 0 to 1")
        if min(self.n_pos, self.n_neg) < 1:
            raise ConfigError(
                f"judge_quality: n_pos {self.n_pos} and n_neg {self.n_neg}; both kinds of labelled cases are needed"
            )

    @property
    def usable(self) -> bool:
        """False where the judge is so near to guessing (TPR + TNR <= 1.1) that no correction can be trusted."""
        return self.tpr + self.tnr > MIN_YOUDEN


def rogan_gladen(rate: Array, tpr: Array | float, tnr: Array | float) -> Array:
    """True rate behind a judged one: (rate + TNR - 1) / (TPR + TNR - 1), kept in [0, 1] (Rogan & Gladen 1978)."""
    return np.clip((rate + tnr - 1) / (np.asarray(tpr) + tnr - 1), 0.0, 1.0)


def refuse(quality: JudgeQuality) -> None:
    """Raise ConfigError for a judge whose error rates admit no correction."""
    if not quality.usable:
        raise ConfigError(
            f"judge_quality: TPR {quality.tpr:.2f} + TNR {quality.tnr:.2f} = {quality.tpr + quality.tnr:.2f}; "
            f"a corrected rate needs more than {MIN_YOUDEN}: use a better judge, or label more cases"
        )


def corrected_interval(
    rate: Array, boot: Array, quality: JudgeQuality, *, seed: int = 0, level: float = 0.95
) -> tuple[Array, Array]:
    """Corrected rates (points,) and their intervals (2, points), with the uncertainty of the judge's own error rates.

    Each resample of the questions meets one resample of the labelled cases. Resampled rates at which the judge
    would be no better than a guess say nothing and are drawn again; refused judges make those rare.

    Args:
        rate: judged rates, shape (points,).
        boot: the same resampled over clusters, shape (resamples, points).
        quality: the judge's measured rates; refused at TPR + TNR <= 1.1 (ConfigError).
        seed: of the resampled error rates.
        level: coverage wanted.
    """
    refuse(quality)
    tpr, tnr = _resampled_quality(quality, len(boot), np.random.default_rng(seed))
    corrected = rogan_gladen(boot, tpr[:, None], tnr[:, None])
    return rogan_gladen(rate, quality.tpr, quality.tnr), percentile_interval(corrected, level)


def _resampled_quality(quality: JudgeQuality, resamples: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Beta draws (Jeffreys): a rate of 1.00 on 20 cases is not certain."""

    def draw(rate: float, n: int, size: int) -> Array:
        return np.asarray(rng.beta(rate * n + 0.5, (1 - rate) * n + 0.5, size))

    tpr, tnr = draw(quality.tpr, quality.n_pos, resamples), draw(quality.tnr, quality.n_neg, resamples)
    while (bad := tpr + tnr <= 1.02).any():
        tpr[bad] = draw(quality.tpr, quality.n_pos, int(bad.sum()))
        tnr[bad] = draw(quality.tnr, quality.n_neg, int(bad.sum()))
    return tpr, tnr


def vote_bootstrap(
    scores: Scores,
    point: int,
    votes: Mapping[int, Array],
    drawn: Array,
    *,
    seed: int = 0,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Array:
    """Resample documents, and within each question the judge's votes: means of one point, shape (resamples, 1).

    A question's resampled score is its recorded one, moved by how far its resampled votes stand from its votes.
    Slightly wide on purpose: the spread between questions holds part of the votes' spread already.

    Args:
        scores: the matrix; only questions scored for the point count.
        point: its column.
        votes: repeated verdicts by row of the matrix; a row without them keeps its score.
        drawn: how often each cluster is drawn, shape (resamples, clusters).
        seed: of the vote draws.
        bounds: least and greatest value of the measure; no resampled mean leaves them.
    """
    rng = np.random.default_rng(seed)
    total, count = np.zeros(len(drawn)), np.zeros(len(drawn))
    for row in np.flatnonzero(scores.scored[:, point]):
        times = drawn[:, scores.clusters[row]]
        total += times * scores.values[row, point]
        count += times
        own = votes.get(int(row), np.zeros(1))
        for repeat in range(int(times.max()) if np.ptp(own) > 0 else 0):
            live = times > repeat
            picked = rng.integers(0, len(own), (int(live.sum()), len(own)))
            total[live] += own[picked].mean(axis=1) - own.mean()
    return np.clip(total / np.maximum(count, 1), *bounds)[:, None]
