"""Seeded cluster bootstrap of means and paired differences: percentile and BCa intervals."""

from __future__ import annotations

import numpy as np

from bench.stats.scores import Array, Scores

RESAMPLES = 10_000


def weights(clusters: int, resamples: int, seed: int) -> Array:
    """How often each cluster is drawn in each resample, shape (resamples, clusters); every row sums to ``clusters``.

    The draws are those of ``scipy.stats.bootstrap`` for the same seed.
    """
    draws = np.random.default_rng(seed).integers(0, clusters, (resamples, clusters))
    draws += np.arange(resamples)[:, None] * clusters
    return np.bincount(draws.ravel(), minlength=resamples * clusters).reshape(resamples, clusters).astype(np.float64)


def bootstrap_means(scores: Scores, drawn: Array) -> Array:
    """Mean of each point in each resample, shape (resamples, points).

    A resample that holds no scored question of a point repeats that point's observed mean.
    """
    total, count = scores.sums()
    result = drawn @ total
    scored = np.all(count == count[:, :1])
    divisor = (drawn @ count[:, 0])[:, None] if scored else drawn @ count
    with np.errstate(invalid="ignore", divide="ignore"):
        result /= divisor
    return np.where(np.isfinite(result), result, scores.means()) if not np.all(divisor > 0) else result


def jackknife_means(scores: Scores) -> Array:
    """Mean of each point with one cluster left out, shape (clusters, points)."""
    total, count = scores.sums()
    with np.errstate(invalid="ignore", divide="ignore"):
        left = (total.sum(axis=0) - total) / (count.sum(axis=0) - count)
    return np.where(np.isfinite(left), left, scores.means())


def percentile_interval(boot: Array, level: float = 0.95) -> Array:
    """Percentile interval of each column of ``boot`` (resamples, points), shape (2, points)."""
    tail = (1 - level) / 2
    return np.asarray(np.quantile(boot, (tail, 1 - tail), axis=0))


def bca_interval(observed: Array, boot: Array, jackknife: Array, level: float = 0.95) -> Array:
    """Bias-corrected and accelerated interval of each column, shape (2, points).

    A column without spread gets its observed value twice. Source: Efron (1987), as in ``scipy.stats.bootstrap``.

    Args:
        observed: estimates, shape (points,).
        boot: resampled estimates, shape (resamples, points).
        jackknife: leave-one-cluster-out estimates, shape (clusters, points).
        level: coverage wanted.
    """
    from scipy.special import ndtr, ndtri

    below = ((boot < observed).sum(axis=0) + (boot <= observed).sum(axis=0)) / (2 * len(boot))
    bias = ndtri(np.clip(below, 0.5 / len(boot), 1 - 0.5 / len(boot)))
    inner = jackknife.mean(axis=0) - jackknife
    spread = (inner**2).sum(axis=0)
    acceleration = (inner**3).sum(axis=0) / (6 * np.where(spread > 0, spread, 1.0) ** 1.5)
    bounds = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        shifted = bias + ndtri(tail)
        share = ndtr(bias + shifted / np.maximum(1 - acceleration * shifted, 1e-9))
        ordered = [np.quantile(boot[:, j], share[j]) for j in range(boot.shape[1])]
        bounds.append(np.where(spread > 0, ordered, observed))
    return np.array(bounds)


def mean_intervals(scores: Scores, drawn: Array, *, method: str = "bca", level: float = 0.95) -> Array:
    """Interval of the mean of each point, shape (2, points): ``method`` is "bca" or "percentile".

    With ``scores.minus(reference)`` these are intervals of paired differences.
    """
    boot = bootstrap_means(scores, drawn)
    if method == "percentile":
        return percentile_interval(boot, level)
    return bca_interval(scores.means(), boot, jackknife_means(scores), level)
