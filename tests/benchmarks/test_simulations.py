"""What the statistics promise, held against simulated sweeps with known truth. Slow; seeds are fixed.

Run: python -m pytest tests/benchmarks/test_simulations.py -q -s
"""

from __future__ import annotations

import numpy as np
import pytest

from bench.decision.choose import Rules, choose, indistinguishable
from bench.stats.effects import effects
from bench.stats.flips import compare
from bench.stats.resample import mean_intervals, weights
from bench.stats.scores import Scores, all_pairs
from bench.stats.select import nested
from tests.records import normal_scores

RESAMPLES = 2000


def skewed(points: int, questions: int, seed: int) -> Scores:
    """Recall-like scores: many zeros and ones, 20 equal points with something in common."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, 1, (questions, 1))
    return Scores.of(np.clip(0.6 + 0.5 * (ease + rng.normal(0, 1, (questions, points))), 0, 1), range(questions))


@pytest.mark.parametrize("kind", ["normal", "skewed"])
def test_null_sweeps_name_a_winner_in_at_most_five_percent(kind: str) -> None:
    winners = pairs = 0
    for seed in range(200):
        scores = Scores.of(*normal_scores([0.5] * 20, 100, seed=seed)) if kind == "normal" else skewed(20, 100, seed)
        choice = choose(scores, range(20), ["fact"] * 100, Rules(resamples=RESAMPLES, seed=seed))
        winners += choice.winner
        pairs += bool((choice.family.p_adjusted <= 0.05).any())
    print(
        f"\n{kind}: winner named in {winners / 2} %, any of 190 pairs significant in {pairs / 2} % of 200 null sweeps"
    )
    assert winners <= 10


@pytest.mark.parametrize("kind", ["normal", "skewed"])
def test_no_pair_of_equals_is_told_apart_in_95_percent(kind: str) -> None:
    runs, wrong = 1500, 0
    for seed in range(1000, 1000 + runs):
        scores = Scores.of(*normal_scores([0.5] * 20, 100, seed=seed)) if kind == "normal" else skewed(20, 100, seed)
        wrong += bool((compare(scores, all_pairs(20), resamples=1000, seed=seed).p_adjusted <= 0.05).any())
    print(f"\n{kind}: some pair of 190 significant in {100 * wrong / runs:.1f} % of {runs} null sweeps")
    assert wrong / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5


def test_a_true_difference_of_eight_points_is_found() -> None:
    found = 0
    for seed in range(300):
        scores = Scores.of(*normal_scores([0.50, 0.58], 200, sd=0.30, seed=seed))
        found += indistinguishable(scores, None, Rules(resamples=RESAMPLES, seed=seed)) == (1, (1,))
    print(f"\n8 points, SD .30, n = 200: found in {found / 3:.1f} % of 300")
    assert found >= 0.8 * 300


def test_the_detectable_difference_is_found_as_often_as_it_says() -> None:
    found = 0
    for seed in range(300):
        scores = Scores.of(*normal_scores([0.50, 0.559], 200, sd=0.30, seed=seed))
        found += bool(compare(scores, all_pairs(2), resamples=RESAMPLES, seed=seed).p[0] <= 0.05)
    print(f"\n5.9 points, SD .30, n = 200: found in {found / 3:.1f} % of 300 (80 % promised)")
    assert 0.74 * 300 <= found <= 0.86 * 300


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize(("questions", "per_document"), [(200, 1), (400, 8)])
def test_interval_coverage(method: str, questions: int, per_document: int) -> None:
    covered = 0
    for seed in range(1000):
        values, documents = normal_scores([0.5], questions, sd=0.4, per_document=per_document, icc=0.2, seed=seed)
        scores = Scores.of(values, documents)
        drawn = weights(scores.n_clusters, 1000, seed)
        low, high = mean_intervals(scores, drawn, method=method)[:, 0]
        covered += bool(low <= 0.5 <= high)
    print(f"\n{method}, {questions} questions on {questions // per_document} documents: coverage {covered / 10} %")
    assert 930 <= covered <= 970


def test_confirmed_score_is_unbiased_and_selection_score_is_too_high() -> None:
    selected, confirmed = [], []
    for seed in range(300):
        truth = 0.5 + 0.02 * np.random.default_rng(10_000 + seed).normal(size=20)
        scores = Scores.of(*normal_scores(list(truth), 120, seed=seed, per_document=2))
        best_first = [int(i) for i in np.argsort(-scores.means())]
        choice = choose(scores, best_first, ["fact"] * 120, Rules(resamples=200, seed=seed, give_up=0.0))
        assert choice.chosen is not None
        assert choice.confirmed is not None
        assert choice.selected is not None
        selected.append(choice.selected - truth[choice.chosen])
        confirmed.append(choice.confirmed[0] - truth[choice.chosen])
    print(
        f"\nselection score {100 * np.mean(selected):+.2f}, confirmed score {100 * np.mean(confirmed):+.2f} points off"
    )
    assert abs(np.mean(confirmed)) < 0.01
    assert np.mean(selected) > 0.03


def test_repeated_splits_tell_the_optimism_of_their_half() -> None:
    told, true = [], []
    for seed in range(100):
        scores = Scores.of(*normal_scores([0.5] * 20, 100, seed=seed, per_document=10))
        result = nested(scores, seed=seed)
        told.append(result.optimism)
        half = scores.rows(scores.clusters < 5)
        true.append(half.means().max() - 0.5)
    print(
        f"\nrepeated splits tell {100 * np.mean(told):.2f} points of optimism; "
        f"true for a half {100 * np.mean(true):.2f}"
    )
    assert np.mean(told) == pytest.approx(np.mean(true), abs=0.01)


def test_effects_keep_their_level() -> None:
    strategies, sizes = ["a"] * 6 + ["b"] * 6, [64, 64, 128, 128, 256, 256] * 2
    axes = {"strategy": strategies, "size": sizes, "overlap": [0, 0.15] * 6}
    any_found = 0
    for seed in range(300):
        scores = Scores.of(*normal_scores([0.5] * 12, 60, seed=seed, per_document=3, icc=0.2))
        any_found += any(e.p_adjusted is not None and e.p_adjusted <= 0.05 for e in effects(scores, axes))
    print(f"\nany of 6 effects significant in {any_found / 3:.1f} % of 300 null sweeps")
    assert any_found <= 0.08 * 300
