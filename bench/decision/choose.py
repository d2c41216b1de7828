"""The choice itself, on a matrix of scores and an order of cost: no files, no words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.stats.flips import Family, compare
from bench.stats.power import detectable, questions_needed, standard_error, too_small
from bench.stats.resample import RESAMPLES, bootstrap_means, mean_intervals, weights
from bench.stats.scores import Array, Mask, Scores, against, all_pairs
from bench.stats.select import Nested, can_split, nested, selection_frequency, split


@dataclass(frozen=True, slots=True)
class Rules:
    """How a choice is made: level, power, resamples, seed, the share of the questions kept for confirmation.

    ``give_up`` is the most that a cheaper point may score below the best, a share of 1 (of the best score, where scores
    are not shares); None sets no limit beyond that the two cannot be told apart.
    """

    alpha: float = 0.05
    power: float = 0.8
    resamples: int = RESAMPLES
    seed: int = 0
    confirm: float = 1 / 3
    give_up: float | None = 0.02


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen among the points (numbers are columns of the scores) and how sure that is.

    ``refused`` says why no choice is made; everything else is still there to look at. ``alike`` holds the best point of
    the selection part and all that cannot be told from it there; ``chosen`` is the cheapest of them. ``winner`` is
    true where the best stands alone. ``family`` tests all pairs on all questions. ``average`` is the mean of all points
    on the selection part and on the confirmation part.
    """

    refused: str
    best: int
    alike: tuple[int, ...]
    chosen: int | None
    winner: bool
    selection: Mask
    means: Array
    intervals: Array
    family: Family
    frequency: Array
    selected: float | None
    confirmed: tuple[float, float, float] | None
    nested: Nested | None
    detectable: float | None
    average: tuple[float, float] | None = None

    @property
    def optimism(self) -> float | None:
        """How much the score at selection is above the confirmed one; None where neither split nor repeats ran."""
        if self.nested is not None:
            return self.nested.optimism
        if self.confirmed is None or self.selected is None:
            return None
        return self.selected - self.confirmed[0]

    @property
    def optimism_relative(self) -> float | None:
        """Optimism beside the average point on the same parts: free of how hard the questions of each part are."""
        if self.average is None or self.optimism is None:
            return None
        return self.optimism - (self.average[0] - self.average[1])

    def against(self, first: int, second: int) -> tuple[float, float]:
        """Mean difference first minus second on all questions, and its p adjusted over all pairs."""
        if first == second:
            return 0.0, 1.0
        low, high = sorted((first, second))
        row = int(np.flatnonzero((self.family.pairs == (low, high)).all(axis=1))[0])
        sign = 1.0 if first == low else -1.0
        return sign * float(self.family.difference[row]), float(self.family.p_adjusted[row])


def choose(scores: Scores, order: Sequence[int], categories: Sequence[str], rules: Rules | None = None) -> Choice:
    """Choose the cheapest point that cannot be told from the best.

    With at least 20 documents and 60 questions the choice is made on a selection part of the documents and scored once
    on the rest; with fewer it is made on all, and repeated splits tell how much the best score is too high.

    Args:
        scores: questions x points, higher is better; questions that no point was scored on left out.
        order: points from the cheapest on.
        categories: category of each question.
        rules: level, seeds and shares.
    """
    rules = rules or Rules()
    refused = too_small(scores.n_questions, scores.n_clusters) or _unreachable(scores.n_clusters, rules.alpha)
    family = compare(scores, all_pairs(scores.n_points), resamples=rules.resamples, seed=rules.seed)
    drawn = weights(scores.n_clusters, rules.resamples, rules.seed)
    parted = not refused and can_split(scores.n_questions, scores.n_clusters)
    selection = np.ones(scores.n_questions, dtype=np.bool_)
    if parted:
        selection = split(scores.clusters, categories, confirm=rules.confirm, seed=rules.seed)
    seen = scores.rows(selection)
    best, alike = indistinguishable(seen, family if not parted else None, rules)
    chosen = None if refused else _cheapest(order, alike, seen.means(), best, rules)
    return Choice(
        refused=refused,
        best=best,
        alike=alike,
        chosen=chosen,
        winner=not refused and len(alike) == 1 and scores.n_points > 1,
        selection=selection,
        means=scores.means(),
        intervals=mean_intervals(scores, drawn, level=1 - rules.alpha),
        family=family,
        frequency=selection_frequency(bootstrap_means(scores, drawn)),
        selected=None if chosen is None else float(seen.means()[chosen]),
        confirmed=_confirm(scores.rows(~selection), chosen, rules) if parted and chosen is not None else None,
        nested=nested(scores, seed=rules.seed) if not parted and scores.n_clusters > 1 else None,
        detectable=smallest_difference(scores, best, rules),
        average=(float(np.nanmean(seen.means())), float(np.nanmean(scores.rows(~selection).means())))
        if parted
        else None,
    )


def _cheapest(order: Sequence[int], alike: Sequence[int], means: Array, best: int, rules: Rules) -> int:
    """The first of ``order`` that is like the best and, where a limit is set, not too far below it.

    That two points cannot be told apart does not say that they are equal: with few questions the gap may be large.
    """
    limit = math.inf if rules.give_up is None else rules.give_up * max(1.0, abs(float(means[best])))
    return next(p for p in order if p in alike and means[best] - means[p] <= limit + 1e-12)


def _unreachable(clusters: int, alpha: float) -> str:
    """Too few documents for any sign pattern to reach the level, whatever the scores."""
    smallest = 2.0 ** (1 - clusters)
    if smallest <= alpha:
        return ""
    return (
        f"the questions stand on {clusters} documents, where the smallest possible p is {smallest:.4g}: "
        f"no difference can reach {alpha:g}; at least {math.ceil(1 - math.log2(alpha))} documents are needed"
    )


def indistinguishable(scores: Scores, family: Family | None, rules: Rules) -> tuple[int, tuple[int, ...]]:
    """The best point, and every point that no test over the whole family tells from it, the best included."""
    family = family or compare(scores, all_pairs(scores.n_points), resamples=rules.resamples, seed=rules.seed)
    means = scores.means()
    best = int(np.nanargmax(means))
    worse = set()
    for (first, second), p in zip(family.pairs, family.p_adjusted, strict=True):
        if best in (first, second) and p <= rules.alpha:
            worse.add(int(second if first == best else first))
    return best, tuple(point for point in range(scores.n_points) if point not in worse and not np.isnan(means[point]))


def _confirm(scores: Scores, chosen: int, rules: Rules) -> tuple[float, float, float]:
    one = scores.columns([chosen])
    low, high = mean_intervals(one, weights(one.n_clusters, rules.resamples, rules.seed + 1), level=1 - rules.alpha)
    return float(one.means()[0]), float(low[0]), float(high[0])


def smallest_difference(scores: Scores, best: int, rules: Rules) -> float | None:
    """Difference from the best that these questions would show for a typical point, at the level and power given.

    From the median standard error of the paired differences; None where that cannot be known.
    """
    if scores.n_points < 2 or scores.n_clusters < 2:
        return None
    others = against(scores.n_points, best)[:, 0]
    errors = standard_error(scores.minus(best).columns(others))
    errors = errors[np.isfinite(errors) & (errors > 0)]
    if not len(errors):
        return None
    return detectable(float(np.median(errors)), rules.alpha, rules.power, scores.n_clusters - 1)


def more_questions(scores: Scores, found: float, difference: float) -> int:
    """Further questions, on like documents, that bring the detectable difference from ``found`` to ``difference``."""
    return max(0, questions_needed(found / detectable(1.0), scores.n_questions, difference) - scores.n_questions)
