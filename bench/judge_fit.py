"""Fits the offline judge: a logistic model of few weights, on human labels of one split alone.

What it looks at is chosen by cross-validation inside that split, so that the other one stays unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.judge_quality import Array, Judged, Labelled, auc_not, auc_rest, kappa
from bench.judges.features import FEATURES, Embed, weigh
from bench.judges.offline import Weights
from bench.sentences import sentences

RIDGE_C = 0.1
FOLDS, REPEATS = 5, 10
Labels = NDArray[np.int64]


def features(rows: Sequence[Labelled], embed: Embed | None) -> Array:
    """Return the features of every claim, shape (n, len(FEATURES)); zeros where there is nothing to compare."""
    found = [weigh(row.claim, [s for p in row.passages for s in sentences(p)], embed) for row in rows]
    blank = np.zeros(len(FEATURES))
    values = [blank if one is None else one.values for one in found]
    return np.array(values, dtype=np.float64).reshape(len(found), len(FEATURES))


def without_support(rows: Sequence[Labelled], cut: Callable[[Labelled], str | None]) -> list[Labelled]:
    """Return each claim once more with its evidence taken away: not supported then, as when retrieval misses it."""
    shortened = ((row, cut(row)) for row in rows)
    return [replace(row, passages=(text,), label=0) for row, text in shortened if text is not None]


def fit(values: Array, labels: Labels, real: NDArray[np.bool_], count: int) -> Weights:
    """Return logistic weights on the first ``count`` features, and the cuts of greatest kappa.

    Args:
        values: shape (n, len(FEATURES)).
        labels: 0, 1 or 2, shape (n,). The model tells 2 from the rest.
        real: which claims people labelled; the cuts are chosen on them alone, shape (n,).
        count: 3 for the lexical features, 4 with likeness.
    """
    intercept, raw = _logistic(values[:, :count], labels == 2)
    scores = 1 / (1 + np.exp(-(intercept + values[:, :count] @ raw)))
    partial, supported = best_cuts(scores[real], labels[real])
    return Weights(intercept, tuple(float(w) for w in raw), partial, supported)


def cross_validated(
    rows: Sequence[Labelled], copies: Sequence[Labelled], embed: Embed | None, count: int
) -> dict[str, float]:
    """Return both areas under the curve inside one split: means over folds and repeats, each fold judged unseen.

    Args:
        rows: labelled claims of one split.
        copies: the same claims without their evidence; those of a held-out claim are held out with it.
        embed: vectors of sentences, or None.
        count: as for ``fit``.
    """
    from sklearn.model_selection import RepeatedStratifiedKFold

    values, extra = (features(some, embed)[:, :count] for some in (rows, copies))
    labels = np.array([row.label for row in rows])
    folds = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=0).split(values, labels)
    found = []
    for seen, unseen in folds:
        held_out = {rows[i].claim for i in unseen}
        kept = extra[np.array([copy.claim not in held_out for copy in copies], dtype=bool)]
        positive = np.concatenate([labels[seen] == 2, np.zeros(len(kept), dtype=bool)])
        intercept, raw = _logistic(np.concatenate([values[seen], kept]), positive)
        judged = Judged(labels[unseen], intercept + values[unseen] @ raw, labels[unseen])
        found.append((auc_not(judged), auc_rest(judged)))
    not_, rest = np.mean(found, axis=0)
    return {"AUC supported/not": float(not_), "AUC supported/rest": float(rest)}


def _logistic(values: Array, positive: NDArray[np.bool_]) -> tuple[float, Array]:
    """Return intercept and weights of a ridge logistic regression, in the units of ``values``."""
    from sklearn.linear_model import LogisticRegression

    mean, scale = values.mean(axis=0), values.std(axis=0) + 1e-12
    model = LogisticRegression(C=RIDGE_C, max_iter=5000).fit((values - mean) / scale, positive)
    raw = model.coef_[0] / scale
    return float(model.intercept_[0] - raw @ mean), raw


def best_cuts(scores: Array, labels: Labels) -> tuple[float, float]:
    """Return the scores from which a claim is partial, and supported, at the greatest three-way kappa."""
    grid = np.unique(np.quantile(scores, np.linspace(0.02, 0.98, 49)))
    pairs = [(float(low), float(high)) for i, low in enumerate(grid) for high in grid[i:]]

    def agreed(pair: tuple[float, float]) -> float:
        return kappa(Judged(labels, scores, (scores >= pair[0]).astype(np.int64) + (scores >= pair[1])))

    return max(pairs, key=agreed)


def as_json(weights: Weights) -> dict[str, Any]:
    """Return the weights as ``offline.json`` holds them."""
    names = FEATURES[: len(weights.coefficients)]
    return {
        "intercept": round(weights.intercept, 5),
        "coefficients": {name: round(w, 5) for name, w in zip(names, weights.coefficients, strict=True)},
        "partial": round(weights.partial, 4),
        "supported": round(weights.supported, 4),
    }
