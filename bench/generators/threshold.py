"""The threshold below which a question is declined, from questions of which it is known whether they have an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.generators.answerability import Array, auc

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Threshold:
    """A decline threshold and the evidence for it.

    Attributes:
        value: least probability of being answered here at which an answer is given.
        n_answerable: questions of the selection split that have an answer.
        n_unanswerable: those that have none.
        youden: share of right answers given plus share of right declines, less 1, on that split.
        auc: how well the probabilities order its questions; None where there is one kind only.
        weights: of the model that gives the probabilities, intercept first.
    """

    value: float
    n_answerable: int
    n_unanswerable: int
    youden: float
    auc: float | None = None
    weights: tuple[float, ...] = ()


def calibrate(
    scores: Sequence[float] | Array, answerable: Sequence[bool] | NDArray[np.bool_], max_false_refusal: float = 1.0
) -> Threshold:
    """Return the threshold of greatest Youden index, the lowest of equals, among those that refuse few good questions.

    Args:
        scores: of each question, the higher the likelier it is answered.
        answerable: whether it has an answer.
        max_false_refusal: greatest share of answerable questions that may fall below: of all such questions, with 95 %
            confidence, not only of these. A cut that refuses none of these is always allowed. Where one kind of
            question is missing, or none is told apart, the threshold is 0: nothing is declined.
    """
    values, good = np.asarray(scores, dtype=np.float64), np.asarray(answerable, dtype=np.bool_)
    n_good, n_bad = int(good.sum()), int((~good).sum())
    if not n_good or not n_bad:
        return Threshold(0.0, n_good, n_bad, 0.0)
    cuts = np.unique(values)
    kept = np.array([(values[good] >= cut).mean() for cut in cuts])
    youden = kept - np.array([(values[~good] >= cut).mean() for cut in cuts])
    refused = np.round(n_good * (1 - kept))
    youden[(refused > 0) & (_upper(refused, n_good) > max_false_refusal)] = -1.0
    best = int(np.argmax(youden))
    if youden[best] <= 0:
        return Threshold(0.0, n_good, n_bad, 0.0, auc(values, good))
    below = cuts[best - 1] if best else cuts[best] - 1e-6
    return Threshold(float((below + cuts[best]) / 2), n_good, n_bad, float(youden[best]), auc(values, good))


def _upper(counts: Array, n: int) -> Array:
    """Upper limit of each share ``counts / n`` (Clopper & Pearson 1934), one-sided."""
    from scipy.stats import beta

    limits: Array = np.where(counts < n, beta.ppf(CONFIDENCE, counts + 1, np.maximum(n - counts, 1)), 1.0)
    return limits
