"""A judge errs: its error rates and the spread of its votes, carried into the interval of a judged rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.errors import ConfigError
from bench.stats.resample import percentile_interval
from bench.stats.scores import Array, Index, Scores

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
    """True rate behind a judged one: (rate + TNR - 1) / (TPR + TNR - 1), within [0, 1]. Source: Rogan & Gladen (1978)."""
    return np.clip((rate + tnr - 1) / (np.asarray(tpr) + tnr - 1), 0.0, 1.0)


def refuse(quality: JudgeQuality) -> None:
    """Raise ConfigError for a judge whose error rates admit no correction."""
    if not quality.usable:
        raise ConfigError(
            f"judge_quality: TPR {quality.tpr:.2f} + TNR {quality.tnr:.2f} = {quality.tpr + quality.tnr:.2f}; a corrected rate "
            f"needs more than {MIN_YOUDEN}: use a better judge, or label more cases"
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


def vote_bootstrap(votes: list[Array], clusters: Index, drawn: Array, *, seed: int = 0) -> Array:
    """Resample clusters, and within each question its votes: means of one point, shape (resamples, 1).

    Slightly wide on purpose: the spread between questions holds part of the votes' spread already.

    Args:
        votes: for each question the values of its repeated verdicts, each of shape (votes,).
        clusters: document number of each question.
        drawn: how often each cluster is drawn, shape (resamples, clusters).
        seed: of the vote draws.
    """
    rng = np.random.default_rng(seed)
    total, count = np.zeros(len(drawn)), np.zeros(len(drawn))
    for cluster, values in zip(clusters, votes, strict=True):
        picked = rng.integers(0, len(values), (len(drawn), len(values)))
        total += drawn[:, cluster] * values[picked].mean(axis=1)
        count += drawn[:, cluster]
    return (total / np.maximum(count, 1))[:, None]


def judged_boot(scores: Scores, point: int, votes: dict[int, Array], drawn: Array, *, seed: int = 0) -> Array:
    """Resampled means of one point, shape (resamples, 1); a question without ``votes`` keeps its one score."""
    rows = np.flatnonzero(scores.scored[:, point])
    values = [votes.get(int(row), scores.values[row : row + 1, point]) for row in rows]
    return vote_bootstrap(values, scores.clusters[rows], drawn, seed=seed)
