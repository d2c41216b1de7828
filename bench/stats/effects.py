"""What mattered: main effects and two-way interactions of the swept parameters, tested across documents."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench.stats.flips import holm
from bench.stats.scores import Array, Index, Scores

MAX_GROUPS = 60


@dataclass(frozen=True, slots=True)
class Effect:
    """One parameter, or a pair of parameters, and what it moves.

    ``spread`` is the largest minus the smallest adjusted level (of a pair: of the deviations from adding up), in the
    unit of the measure. ``share`` is the part of the variance between points that it explains beyond the rest.
    ``p`` is None where it cannot be tested: parameters that always change together, or too few documents.
    """

    name: str
    spread: float
    share: float
    p: float | None
    p_adjusted: float | None
    levels: Mapping[str, float] = field(default_factory=dict)
    note: str = ""


def effects(scores: Scores, axes: Mapping[str, Sequence[object]], *, seed: int = 0) -> list[Effect]:
    """Main effects, then interactions by size, of the swept ``axes`` (name to the value of each point).

    Works on the questions that every point was scored on, centred by question, with covariance clustered by document
    (Hotelling's correction for few documents); p is adjusted over all terms by Holm. More than 60 documents are
    pooled into 60 random groups, which stay independent. Fitted with statsmodels.
    """
    varied = {n: [str(v) for v in values] for n, values in axes.items() if len({str(v) for v in values}) > 1}
    table = _Table.of(scores, seed)
    if not varied or table is None:
        return []
    base, owners = _main_design(varied)
    found = [_main(name, values, base, owners, table) for name, values in varied.items()]
    pairs = [_pair(one, other, varied, base, table) for one, other in itertools.combinations(varied, 2)]
    found += sorted((pair for pair in pairs if pair is not None), key=lambda effect: -effect.share)
    tested = [i for i, effect in enumerate(found) if effect.p is not None]
    adjusted = dict(zip(tested, holm(np.array([found[i].p for i in tested], dtype=np.float64)), strict=True))
    return [_adjust(effect, adjusted.get(i)) for i, effect in enumerate(found)]


def _adjust(effect: Effect, p: float | None) -> Effect:
    adjusted = None if p is None else float(p)
    return Effect(effect.name, effect.spread, effect.share, effect.p, adjusted, effect.levels, effect.note)


@dataclass(frozen=True, slots=True)
class _Table:
    """Group means of each point, centred by group, shape (groups, points); questions of each group."""

    values: Array
    weight: Array

    @classmethod
    def of(cls, scores: Scores, seed: int) -> _Table | None:
        shared = scores.rows(np.asarray(scores.scored.all(axis=1)))
        if shared.n_clusters < 2:
            return None
        total, count = Scores(shared.values, shared.scored, _pool(shared.clusters, seed)).sums()
        means = total / count
        return cls(means - means.mean(axis=1, keepdims=True), count[:, 0])

    @property
    def points(self) -> Array:
        """Centred mean of each point over the questions."""
        return np.asarray(self.weight @ self.values / self.weight.sum())


def _pool(clusters: Index, seed: int) -> Index:
    count = int(clusters.max()) + 1
    if count <= MAX_GROUPS:
        return clusters
    return np.random.default_rng(seed).permutation(count)[clusters] % MAX_GROUPS


def _coded(values: Sequence[str]) -> Array:
    """Sum-to-zero columns of a factor, shape (points, levels - 1)."""
    levels = sorted(set(values))
    identity = np.vstack((np.eye(len(levels) - 1), -np.ones(len(levels) - 1)))
    return np.asarray(identity[[levels.index(v) for v in values]])


def _main_design(varied: Mapping[str, Sequence[str]]) -> tuple[Array, list[str]]:
    """Columns of all main effects that are not a combination of earlier ones, and the parameter each belongs to."""
    kept, owners = np.ones((len(next(iter(varied.values()))), 1)), [""]
    for name, values in varied.items():
        kept, added = _extend(kept, _coded(values))
        owners += [name] * added
    return kept, owners


def _extend(base: Array, columns: Array) -> tuple[Array, int]:
    """Append the columns that raise the rank; how many did."""
    added = 0
    for column in columns.T:
        wider = np.column_stack((base, column))
        if np.linalg.matrix_rank(wider) == wider.shape[1]:
            base, added = wider, added + 1
    return base, added


def _fitted(design: Array, table: _Table) -> Array:
    return np.asarray(design @ np.linalg.lstsq(design, table.points, rcond=None)[0])


def _share(smaller: Array, larger: Array, table: _Table) -> float:
    total = float(((table.points - table.points.mean()) ** 2).sum())
    gained = float(((_fitted(larger, table) - _fitted(smaller, table)) ** 2).sum())
    return gained / total if total > 0 else 0.0


def _p_value(design: Array, tested: list[int], table: _Table) -> float | None:
    """Clustered Wald test that the ``tested`` coefficients are all zero."""
    import statsmodels.api as sm
    from scipy.stats import f

    groups, points = table.values.shape
    if not tested or groups <= len(tested) + 1:
        return None
    rows = np.tile(design, (groups, 1))
    fit = sm.WLS(table.values.ravel(), rows, weights=np.repeat(table.weight, points)).fit(
        cov_type="cluster", cov_kwds={"groups": np.repeat(np.arange(groups), points), "use_correction": False}
    )
    coefficients, covariance = fit.params[tested], fit.cov_params()[np.ix_(tested, tested)]
    if np.linalg.matrix_rank(covariance, tol=1e-16) < len(tested):
        return None
    hotelling = float(coefficients @ np.linalg.solve(covariance, coefficients)) * (groups - 1) / groups
    q = len(tested)
    return float(f.sf(hotelling * (groups - q) / (q * (groups - 1)), q, groups - q))


def _main(name: str, values: Sequence[str], base: Array, owners: list[str], table: _Table) -> Effect:
    own = [i for i, owner in enumerate(owners) if owner == name]
    rest = np.delete(base, own, axis=1)
    contribution = _coded(values) @ _level_coefficients(name, values, base, owners, table)
    levels = {v: float(contribution[values.index(v)]) for v in sorted(set(values), key=_natural)}
    spread = max(levels.values()) - min(levels.values())
    whole = len(own) == len(set(values)) - 1
    note = "" if whole else "changes together with other parameters: its own part cannot be told"
    p = _p_value(base, own, table) if whole else None
    return Effect(name, spread, _share(rest, base, table), p, None, levels, note)


def _level_coefficients(name: str, values: Sequence[str], base: Array, owners: list[str], table: _Table) -> Array:
    """Coefficients of the factor's columns; where some were dropped, those of the factor alone."""
    own = [i for i, owner in enumerate(owners) if owner == name]
    if len(own) == len(set(values)) - 1:
        return np.asarray(np.linalg.lstsq(base, table.points, rcond=None)[0][own])
    alone = np.column_stack((np.ones(len(values)), _coded(values)))
    return np.asarray(np.linalg.lstsq(alone, table.points, rcond=None)[0][1:])


def _pair(one: str, other: str, varied: Mapping[str, Sequence[str]], base: Array, table: _Table) -> Effect | None:
    first, second = _coded(varied[one]), _coded(varied[other])
    product = (first[:, :, None] * second[:, None, :]).reshape(len(first), -1)
    wider, added = _extend(base, product)
    if not added:
        return None
    deviation = _fitted(wider, table) - _fitted(base, table)
    tested = list(range(base.shape[1], wider.shape[1]))
    spread = float(deviation.max() - deviation.min())
    return Effect(f"{one} × {other}", spread, _share(base, wider, table), _p_value(wider, tested, table), None)


def _natural(value: str) -> tuple[int, float, str]:
    try:
        return 0, float(value), value
    except ValueError:
        return 1, 0.0, value
