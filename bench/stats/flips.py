"""Paired sign-flip permutation by cluster, with step-down maxT over a whole family of comparisons."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.stats.resample import RESAMPLES
from bench.stats.scores import Array, Index, Scores, cluster_sums

EXACT_CLUSTERS = 12
SINGLE_PRECISION_ABOVE = 20_000
BLOCK = 512


@dataclass(frozen=True, slots=True)
class Family:
    """Tests of a family of paired comparisons; every array has one entry a pair.

    ``difference`` is the mean of first minus second over the ``n`` questions scored in both. ``p`` is two-sided and
    for the pair alone, ``p_adjusted`` holds over the family. ``exact`` tells that every sign pattern was tried.
    """

    pairs: Index
    difference: Array
    n: Index
    p: Array
    p_adjusted: Array
    exact: bool


def signs(clusters: int, resamples: int, seed: int) -> tuple[Array, bool]:
    """Sign patterns, shape (patterns, clusters), and whether they are all there are (up to 12 clusters)."""
    if clusters <= EXACT_CLUSTERS:
        every = list(itertools.product((1.0, -1.0), repeat=clusters))
        return np.asarray(every, dtype=np.float64).reshape(-1, clusters), True
    drawn = np.random.default_rng(seed).integers(0, 2, (resamples, clusters), dtype=np.int8)
    return np.asarray(drawn * 2.0 - 1.0, dtype=np.float64), False


def compare(scores: Scores, pairs: Index, *, resamples: int = RESAMPLES, seed: int = 0) -> Family:
    """Test each pair of points for a difference; p-values are adjusted over all pairs by step-down maxT.

    The statistic of a pair is the sum of its cluster sums over the root of the sum of their squares: a monotone
    function of the paired t over clusters whose denominator no sign flip can change. All pairs see the same flips.

    Args:
        scores: the matrix.
        pairs: column numbers, shape (pairs, 2).
        resamples: random sign patterns where there are more than 12 clusters.
        seed: of the patterns.

    Source: Westfall & Young (1993), algorithm 2.8; the +1 of Phipson & Smyth (2010) for random patterns.
    """
    kind = np.float32 if len(pairs) > SINGLE_PRECISION_ABOVE else np.float64
    flips, exact = signs(scores.n_clusters, resamples, seed)
    difference, n, statistic, scale = _observed(scores, pairs)
    order = np.argsort(statistic, kind="stable")
    slack = 1 - (1e-4 if kind is np.float32 else 1e-9)
    raw, family = np.zeros(len(pairs)), np.zeros(len(pairs))
    highest = np.zeros(len(flips), dtype=kind)
    for pair, flipped in zip(order, _flipped(scores, pairs[order], flips.astype(kind)), strict=True):
        size = np.abs(flipped, out=flipped)
        size *= kind(scale[pair])
        bar = kind(statistic[pair] * slack)
        raw[pair] = np.count_nonzero(size >= bar)
        np.maximum(highest, size, out=highest)
        family[pair] = np.count_nonzero(highest >= bar)
    extra = 0 if exact else 1
    adjusted = np.empty(len(pairs))
    adjusted[order[::-1]] = np.maximum.accumulate((family[order[::-1]] + extra) / (len(flips) + extra))
    return Family(pairs, difference, n, (raw + extra) / (len(flips) + extra), adjusted, exact)


def _cluster_differences(scores: Scores, pairs: Index) -> tuple[Array, Index]:
    """Cluster sums of paired differences, shape (clusters, pairs), and questions scored in both."""
    first, second = pairs[:, 0], pairs[:, 1]
    both = scores.scored[:, first] & scores.scored[:, second]
    difference = np.where(both, scores.values[:, first] - scores.values[:, second], 0.0)
    return cluster_sums(difference, scores.clusters), both.sum(axis=0)


def _observed(scores: Scores, pairs: Index) -> tuple[Array, Index, Array, Array]:
    """Mean difference, n, statistic and its scale of each pair."""
    total, n, squares = np.zeros(len(pairs)), np.zeros(len(pairs), dtype=np.int64), np.zeros(len(pairs))
    for block in _blocks(len(pairs)):
        sums, n[block] = _cluster_differences(scores, pairs[block])
        total[block], squares[block] = sums.sum(axis=0), (sums**2).sum(axis=0)
    squares[squares < 1e-18] = np.inf
    scale = 1 / np.sqrt(squares)
    return total / np.maximum(n, 1), n, np.abs(total) * scale, scale


def _flipped(scores: Scores, pairs: Index, flips: NDArray[np.floating]) -> Iterator[NDArray[np.floating]]:
    """For each pair in turn, its total under every sign pattern, shape (patterns,).

    Where both points were scored on the same questions, the difference of their totals is the total of their
    differences; only other pairs need a product of their own.
    """
    same = np.unique(scores.scored, axis=1, return_inverse=True)[1].reshape(-1)
    moved = np.ascontiguousarray((flips @ scores.sums()[0].astype(flips.dtype)).T)
    for block in _blocks(len(pairs)):
        part = pairs[block]
        odd = same[part[:, 0]] != same[part[:, 1]]
        sums, _ = _cluster_differences(scores, part[odd])
        own = iter(np.ascontiguousarray(sums.T.astype(flips.dtype) @ flips.T))
        for (first, second), apart in zip(part, odd, strict=True):
            yield next(own) if apart else moved[first] - moved[second]


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, count, BLOCK))


def holm(p: Array) -> Array:
    """Holm's adjustment of independent or unlike tests that share no sign patterns. Source: Holm (1979)."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def paired_p(first: Array, second: Array, clusters: Index | None = None, *, seed: int = 0) -> float:
    """Two-sided sign-flip p of two columns of scores (questions,), clustered where ``clusters`` is given."""
    groups = np.arange(len(first)) if clusters is None else clusters
    scores = Scores.of(np.stack((first, second), axis=1), groups)
    return float(compare(scores, np.array([[0, 1]], dtype=np.int64), seed=seed).p[0])
