"""What a golden set of this size can show: standard errors, detectable differences, questions needed."""

from __future__ import annotations

import math

import numpy as np

from bench.stats.scores import Array, Scores

MIN_QUESTIONS = 15
MIN_CLUSTERS = 5


def standard_error(scores: Scores) -> Array:
    """Clustered standard error of each column's mean, shape (points,); NaN below two clusters.

    Source: the linearised ratio estimator of cluster sampling (Cochran 1977, eq. 9A.4 without the finite correction).
    """
    total, count = scores.sums()
    clusters, n = len(total), count.sum(axis=0)
    if clusters < 2:
        return np.full(scores.n_points, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        residual = total - count * (total.sum(axis=0) / n)
        return np.asarray(np.sqrt(clusters / (clusters - 1) * (residual**2).sum(axis=0)) / n)


def reach(alpha: float = 0.05, power: float = 0.8, df: float = math.inf) -> float:
    """Standard errors that a true difference must span to be found: 2.80 for the defaults and many clusters."""
    from scipy.stats import norm, t

    law = norm if math.isinf(df) else t(df)
    return float(law.ppf(1 - alpha / 2) + law.ppf(power))


def detectable(error: float, alpha: float = 0.05, power: float = 0.8, df: float = math.inf) -> float:
    """Smallest true difference found with ``power`` at level ``alpha``, in the unit of ``error``, a standard error."""
    return reach(alpha, power, df) * error


def questions_needed(
    error: float, n: int, difference: float, alpha: float = 0.05, power: float = 0.8, df: float = math.inf
) -> int:
    """Questions in all that would find ``difference``, when n of them gave ``error`` and new ones are like these."""
    return math.ceil(n * (detectable(error, alpha, power, df) / difference) ** 2 - 1e-9)


def too_small(questions: int, clusters: int) -> str:
    """Why no winner may be named; empty where the set is large enough."""
    if questions < MIN_QUESTIONS:
        return f"{questions} scored questions; at least {MIN_QUESTIONS} are needed before a winner is named"
    if clusters < MIN_CLUSTERS:
        return (
            f"the questions stand on {clusters} documents; at least {MIN_CLUSTERS} are needed before a winner is named"
        )
    return ""
