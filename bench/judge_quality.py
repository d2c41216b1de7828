"""How well a judge agrees with people: areas under the curve, accuracy, kappa, error rates, all with intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LABELS = ("not_supported", "partially_supported", "supported")
RESAMPLES = 1000
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A claim, what it is held against, and what people said: 0 not supported, 1 partially, 2 supported."""

    claim: str
    passages: tuple[str, ...]
    label: int
    split: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """Labels of people beside a judge's probabilities and three-way verdicts, each of shape (n,)."""

    labels: NDArray[np.int64]
    scores: Array
    verdicts: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> Judged:
        """Return the given rows."""
        return Judged(self.labels[rows], self.scores[rows], self.verdicts[rows])


@dataclass(frozen=True, slots=True)
class Rate:
    """A figure with its 95 % interval (stratified percentile bootstrap); None where one of the classes is missing."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "-"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def auc(positive: NDArray[np.bool_], scores: Array) -> float:
    """Area under the ROC curve: the chance that a positive scores above a negative, ties half (Mann-Whitney)."""
    from scipy.stats import rankdata

    n_pos, n_neg = int(positive.sum()), int((~positive).sum())
    ranks = rankdata(scores)
    return float((ranks[positive].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg))


def auc_not(judged: Judged) -> float:
    """Supported against not supported; partially supported claims are left out."""
    kept = judged.labels != 1
    return auc(judged.labels[kept] == 2, judged.scores[kept])


def auc_rest(judged: Judged) -> float:
    """Supported against all others."""
    return auc(judged.labels == 2, judged.scores)


def accuracy(judged: Judged) -> float:
    """Share of equal three-way verdicts."""
    return float((judged.labels == judged.verdicts).mean())


def kappa(judged: Judged) -> float:
    """Cohen's kappa of the three-way verdicts."""
    agreed = accuracy(judged)
    chance = sum(float((judged.labels == k).mean() * (judged.verdicts == k).mean()) for k in range(3))
    return (agreed - chance) / (1 - chance) if chance < 1 else 0.0


def tpr(judged: Judged) -> float:
    """Share of the supported claims that the judge calls supported."""
    return float((judged.verdicts[judged.labels == 2] == 2).mean())


def tnr(judged: Judged) -> float:
    """Share of the other claims that the judge does not call supported."""
    return float((judged.verdicts[judged.labels != 2] != 2).mean())


FIGURES: dict[str, tuple[Callable[[Judged], float], tuple[int, ...]]] = {
    "AUC supported/not": (auc_not, (0, 2)),
    "AUC supported/rest": (auc_rest, (2,)),
    "accuracy": (accuracy, ()),
    "kappa": (kappa, ()),
    "TPR": (tpr, (2,)),
    "TNR": (tnr, (2,)),
}


def agreement(judged: Judged, *, verdicts: bool = True, seed: int = 0) -> dict[str, Rate]:
    """Return every figure with its interval; claims are resampled within each label.

    Args:
        judged: labels, scores and verdicts.
        verdicts: False for a score that comes without verdicts: only its areas under the curve are given.
        seed: of the resamples.
    """
    present = set(judged.labels.tolist())
    rest = bool(present - {2})
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(judged.labels == k) for k in sorted(present)]
    draws = [judged.take(np.concatenate([rng.choice(g, len(g)) for g in groups])) for _ in range(RESAMPLES)]
    figures = {}
    for name, (figure, needs) in FIGURES.items():
        meaningful = verdicts or name.startswith("AUC")
        if not meaningful or not set(needs) <= present or (name != "accuracy" and not rest):
            figures[name] = Rate(None)
            continue
        low, high = np.quantile([figure(draw) for draw in draws], (0.025, 0.975))
        figures[name] = Rate(figure(judged), float(low), float(high))
    return figures


def table(rows: Sequence[tuple[str, int, dict[str, Rate]]]) -> str:
    """Return a Markdown table of (name, n, figures)."""
    names = list(FIGURES)
    lines = [f"| judge | n | {' | '.join(names)} |", f"|---|---|{'---|' * len(names)}"]
    lines += [f"| {name} | {n} | {' | '.join(str(figures[f]) for f in names)} |" for name, n, figures in rows]
    return "\n".join(lines)
