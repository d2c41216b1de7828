"""Statistics against scipy, closed forms, brute force and known tables."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bench.errors import ConfigError
from bench.stats.effects import effects
from bench.stats.flips import compare, holm, paired_p
from bench.stats.judge import JudgeQuality, corrected_interval, rogan_gladen, vote_bootstrap
from bench.stats.pareto import dominators, front, front_probability
from bench.stats.power import detectable, questions_needed, standard_error, too_small
from bench.stats.resample import bootstrap_means, jackknife_means, mean_intervals, weights
from bench.stats.scores import Scores, against, all_pairs, cluster_sums
from bench.stats.select import can_split, nested, selection_frequency, split
from tests.records import normal_scores

PAIR = np.array([[0, 1]], dtype=np.int64)


def made(questions: int, points: int, documents: int, seed: int = 0) -> Scores:
    rng = np.random.default_rng(seed)
    return Scores.of(rng.beta(2, 1, (questions, points)), rng.integers(0, documents, questions))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_are_those_of_scipy(method: str) -> None:
    column = np.random.default_rng(3).beta(1, 3, 80)
    scores = Scores.of(column[:, None], [f"{i:03d}" for i in range(80)])
    ours = mean_intervals(scores, weights(80, 2000, seed=7), method=method)[:, 0]
    theirs = stats.bootstrap(
        (column,), np.mean, n_resamples=2000, method=method.replace("bca", "BCa"), rng=np.random.default_rng(7)
    )
    assert ours == pytest.approx(list(theirs.confidence_interval), abs=1e-12)


def test_interval_of_a_normal_mean_is_near_the_closed_form() -> None:
    column = np.random.default_rng(1).normal(0.5, 0.3, 400)
    low, high = mean_intervals(Scores.of(column[:, None], range(400)), weights(400, 10_000, 0))[:, 0]
    half = 1.96 * column.std(ddof=1) / 20
    assert (low, high) == pytest.approx((column.mean() - half, column.mean() + half), abs=0.1 * half)


def test_clustered_bootstrap_is_that_of_whole_documents() -> None:
    scores = made(40, 3, 7)
    drawn = weights(7, 50, seed=2)
    for row, times in enumerate(drawn):
        picked = np.concatenate([np.flatnonzero(scores.clusters == c) for c in range(7) for _ in range(int(times[c]))])
        assert bootstrap_means(scores, drawn)[row] == pytest.approx(scores.values[picked].mean(axis=0))


def test_clustered_standard_error_against_statsmodels() -> None:
    import statsmodels.api as sm

    scores = made(60, 1, 9)
    fit = sm.OLS(scores.values[:, 0], np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": scores.clusters, "use_correction": False}
    )
    assert standard_error(scores)[0] == pytest.approx(float(fit.bse[0]) * math.sqrt(9 / 8))


def test_questions_of_one_document_are_worth_less() -> None:
    values, documents = normal_scores([0.5, 0.5], 200, per_document=10, icc=0.1)
    clustered = standard_error(Scores.of(values, documents).minus(0))[1]
    independent = standard_error(Scores.of(values, range(200)).minus(0))[1]
    assert clustered > 1.15 * independent


def test_failed_scores_leave_the_pair_not_the_count() -> None:
    values = np.array([[1.0, 0.0], [np.nan, 1.0], [0.5, 0.5], [1.0, 0.0]])
    family = compare(Scores.of(values, range(4)), PAIR)
    assert family.n[0] == 3
    assert family.difference[0] == pytest.approx(2 / 3)
    assert Scores.of(values, range(4)).means() == pytest.approx([2.5 / 3, 0.375])


def test_resample_without_a_score_repeats_the_observed_mean() -> None:
    scores = Scores.of(np.array([[1.0], [np.nan], [np.nan]]), range(3))
    assert bootstrap_means(scores, np.array([[0.0, 2.0, 1.0]])) == pytest.approx(np.array([[1.0]]))
    assert np.isfinite(jackknife_means(scores)).all()


def test_three_questions_all_won_have_p_one_quarter() -> None:
    assert paired_p(np.ones(3), np.zeros(3)) == 0.25
    assert paired_p(np.ones(1), np.zeros(1)) == 1.0
    assert paired_p(np.ones(6), np.zeros(6)) == 2 / 64


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9))
def test_exact_p_is_the_share_of_sign_patterns(differences: list[int]) -> None:
    column = np.array(differences, dtype=np.float64)
    patterns = itertools.product((1, -1), repeat=len(column))
    share = np.mean([abs(np.dot(signs, column)) >= abs(column.sum()) for signs in patterns])
    assert paired_p(column, np.zeros(len(column))) == pytest.approx(share)


def test_p_values_agree_with_scipy_permutation_test() -> None:
    first, second = np.random.default_rng(5).normal((0.2, 0), 1, (10, 2)).T
    theirs = stats.permutation_test(
        (first, second), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", n_resamples=np.inf
    )
    assert paired_p(first, second) == pytest.approx(theirs.pvalue)


def brute_max_t(scores: Scores, pairs: np.ndarray) -> np.ndarray:
    """Step-down maxT by its definition: every sign pattern, a set of hypotheses that shrinks."""
    sums = cluster_sums(scores.values[:, pairs[:, 0]] - scores.values[:, pairs[:, 1]], scores.clusters)
    size = np.sqrt((sums**2).sum(axis=0))
    observed = np.abs(sums.sum(axis=0)) / size
    flipped = np.array([np.abs(s @ sums) / size for s in itertools.product((1, -1), repeat=len(sums))])
    order, adjusted, floor = np.argsort(-observed), np.empty(len(pairs)), 0.0
    for step, pair in enumerate(order):
        floor = max(floor, float(np.mean(flipped[:, order[step:]].max(axis=1) >= observed[pair] - 1e-9)))
        adjusted[pair] = floor
    return adjusted


@pytest.mark.parametrize("seed", range(3))
def test_step_down_max_t_is_its_definition(seed: int) -> None:
    scores = made(30, 5, 8, seed)
    assert compare(scores, all_pairs(5)).p_adjusted == pytest.approx(brute_max_t(scores, all_pairs(5)))


def test_scores_with_gaps_go_the_long_way_to_the_same_numbers() -> None:
    whole = made(60, 6, 30)
    gap = Scores(whole.values, whole.scored.copy(), whole.clusters)
    gap.scored[0, 5] = False
    ours, gapped = compare(whole, all_pairs(6), seed=1), compare(gap, all_pairs(6), seed=1)
    untouched = (all_pairs(6) < 5).all(axis=1)
    assert gapped.p[untouched] == pytest.approx(ours.p[untouched])
    assert (gapped.n == np.where(untouched, 60, 59)).all()


def test_family_p_is_never_below_the_pair_p_and_random_p_is_never_zero() -> None:
    values, documents = normal_scores([0.9, 0.5, 0.5, 0.5], 100)
    family = compare(Scores.of(values, documents), all_pairs(4), resamples=500)
    assert (family.p_adjusted >= family.p).all()
    assert family.p.min() == 1 / 501


def test_points_without_any_difference_have_p_one() -> None:
    family = compare(Scores.of(np.full((20, 3), 0.5), range(20)), all_pairs(3))
    assert (family.p == 1).all()
    assert (family.p_adjusted == 1).all()


def test_single_precision_of_large_families_changes_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = made(80, 12, 40)
    exact = compare(scores, all_pairs(12), resamples=1000)
    monkeypatch.setattr("bench.stats.flips.SINGLE_PRECISION_ABOVE", 0)
    assert compare(scores, all_pairs(12), resamples=1000).p_adjusted == pytest.approx(exact.p_adjusted, abs=0.003)


def test_holm() -> None:
    from statsmodels.stats.multitest import multipletests

    p = np.array([0.01, 0.04, 0.03, 0.5, 0.005])
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_against_leaves_out_the_reference() -> None:
    assert against(4, 2).tolist() == [[0, 2], [1, 2], [3, 2]]


@pytest.mark.parametrize(("n", "points"), [(50, 11.9), (100, 8.4), (200, 5.9), (500, 3.8)])
def test_detectable_difference_is_the_known_table(n: int, points: float) -> None:
    assert 100 * detectable(0.30 / math.sqrt(n)) == pytest.approx(points, abs=0.05)


def test_questions_needed_is_the_inverse() -> None:
    error = 0.30 / math.sqrt(50)
    needed = questions_needed(error, 50, 0.04)
    assert detectable(0.30 / math.sqrt(needed)) <= 0.04 < detectable(0.30 / math.sqrt(needed - 1))


@pytest.mark.parametrize(("questions", "documents", "names"), [(14, 14, "15"), (15, 4, "5"), (15, 5, "")])
def test_small_sets_are_named(questions: int, documents: int, names: str) -> None:
    assert (names in too_small(questions, documents)) if names else not too_small(questions, documents)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 60), st.integers(0, 9))
def test_split_parts_no_document_and_is_seeded(seed: int, documents: int, again: int) -> None:
    rng = np.random.default_rng(seed)
    clusters = np.unique(rng.integers(0, documents, 120), return_inverse=True)[1]
    kinds = [("fact", "broad", "none")[i] for i in rng.integers(0, 3, 120)]
    chosen = split(clusters, kinds, seed=again)
    assert not set(clusters[chosen]) & set(clusters[~chosen])
    assert (chosen == split(clusters, kinds, seed=again)).all()


def test_split_keeps_the_share_of_each_category() -> None:
    kinds = np.array(["rare" if i % 10 == 0 else "fact" for i in range(400)])
    chosen = split(np.arange(400) // 4, kinds, confirm=0.25)
    for kind in ("rare", "fact"):
        assert chosen[kinds == kind].mean() == pytest.approx(0.75, abs=0.03)


def test_only_large_sets_are_split() -> None:
    assert can_split(60, 20)
    assert not can_split(59, 20)
    assert not can_split(60, 19)


def test_selection_frequency_shares_ties() -> None:
    assert selection_frequency(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])) == pytest.approx([0.25, 0.75, 0.0])


def test_the_best_of_equals_looks_too_good_and_a_lone_point_does_not() -> None:
    values, documents = normal_scores([0.5] * 10, 100)
    many = nested(Scores.of(values, documents))
    lone = nested(Scores.of(values[:, :1], documents))
    assert many.optimism > 0.03
    assert abs(lone.optimism) < 0.01
    assert many.chosen.sum() == pytest.approx(1)


def test_rogan_gladen_by_hand_and_its_interval_by_the_delta_method() -> None:
    assert rogan_gladen(np.array([0.7]), 0.9, 0.8) == pytest.approx([0.5 / 0.7])
    quality, rate, n = JudgeQuality(0.9, 0.8, 200, 200), 0.7, 400
    boot = np.random.default_rng(0).binomial(n, rate, (20_000, 1)) / n
    mean, bounds = corrected_interval(np.array([rate]), boot, quality)
    true, gain = mean[0], 0.7
    variance = rate * (1 - rate) / n + true**2 * 0.9 * 0.1 / 200 + (1 - true) ** 2 * 0.8 * 0.2 / 200
    assert (bounds[1] - bounds[0])[0] == pytest.approx(2 * 1.96 * math.sqrt(variance) / gain, rel=0.03)


def test_a_judge_near_guessing_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"more than 1\.1"):
        corrected_interval(np.array([0.5]), np.full((10, 1), 0.5), JudgeQuality(0.6, 0.5, 50, 50))
    with pytest.raises(ConfigError, match="tpr"):
        JudgeQuality(1.2, 0.5, 50, 50)
    with pytest.raises(ConfigError, match="labelled"):
        JudgeQuality(0.9, 0.9, 0, 50)


def test_votes_widen_the_interval_and_agreement_does_not() -> None:
    scores = Scores.of(np.random.default_rng(0).integers(0, 2, (60, 1)).astype(float), range(60))
    drawn = weights(60, 4000, 0)
    agreed = {i: np.repeat(scores.values[i, 0], 3) for i in range(60)}
    split_votes = {i: np.array([0.0, 1.0, scores.values[i, 0]]) for i in range(60)}
    base = bootstrap_means(scores, drawn).std()
    assert vote_bootstrap(scores, 0, agreed, drawn).std() == pytest.approx(base)
    spread = 2 / 9 / 3 / 60
    assert vote_bootstrap(scores, 0, split_votes, drawn).std() == pytest.approx(math.sqrt(base**2 + spread), rel=0.05)


def test_front_and_dominators() -> None:
    values = np.array([[0.9, -2.0], [0.8, -1.0], [0.7, -1.0], [0.9, -3.0], [0.8, -1.0]])
    assert front(values).tolist() == [True, True, False, False, True]
    assert dominators(values) == [None, None, 1, 0, None]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_front_is_what_nothing_dominates(rows: list[tuple[int, int]]) -> None:
    expected = [not any(a >= x and b >= y and (a, b) != (x, y) for a, b in rows) for x, y in rows]
    assert front(np.array(rows, dtype=np.float64)).tolist() == expected


def test_place_on_the_front_is_uncertain_between_equals() -> None:
    boot = np.random.default_rng(0).normal([0.5, 0.5, 0.1], 0.01, (1000, 3))
    probability, used = front_probability([boot, np.array([[-1.0, -1.0, -1.0]])])
    assert used == 1000
    assert probability == pytest.approx([0.5, 0.5, 0.0], abs=0.06)


def grid() -> list[tuple[str, int, float]]:
    return list(itertools.product(["recursive", "markdown"], [64, 128, 256], [0.0, 0.15]))


def swept() -> dict[str, list[object]]:
    rows = grid()
    return {"strategy": [r[0] for r in rows], "size": [r[1] for r in rows], "overlap": [r[2] for r in rows]}


def test_main_effect_and_interaction_are_found_with_their_size() -> None:
    means = [0.5 + 0.10 * (r[1] == 256) + 0.08 * (r[1] == 64) * (r[0] == "markdown") for r in grid()]
    values, documents = normal_scores(means, 300, per_document=5, sd=0.1)
    found = {effect.name: effect for effect in effects(Scores.of(values, documents), swept())}
    assert found["size"].p_adjusted is not None
    assert found["size"].p_adjusted < 0.001
    assert found["size"].spread == pytest.approx(0.10, abs=0.02)
    assert found["strategy × size"].p_adjusted is not None
    assert found["strategy × size"].p_adjusted < 0.001
    assert found["overlap"].p is not None
    assert found["overlap"].p > 0.01
    assert list(found["size"].levels) == ["64", "128", "256"]


def test_effect_of_two_levels_is_a_paired_t_test_over_documents() -> None:
    values, documents = normal_scores([0.5] * 12, 60, per_document=5, icc=0.2, seed=4)
    found = {effect.name: effect.p for effect in effects(Scores.of(values, documents), swept())}
    by_document = values.reshape(12, 5, 12).mean(axis=1)
    markdown = np.array([r[0] == "markdown" for r in grid()])
    gap = by_document[:, markdown].mean(axis=1) - by_document[:, ~markdown].mean(axis=1)
    assert found["strategy"] == pytest.approx(stats.ttest_1samp(gap, 0).pvalue)


def test_parameters_that_change_together_are_not_told_apart() -> None:
    values, documents = normal_scores([0.5, 0.6, 0.5, 0.6], 40)
    axes = {"size": [64, 128, 64, 128], "model": ["a", "b", "a", "b"]}
    found = {effect.name: effect for effect in effects(Scores.of(values, documents), axes)}
    assert found["model"].p is None
    assert "cannot be told" in found["model"].note


def test_nothing_varied_or_one_document_has_no_effects() -> None:
    values, documents = normal_scores([0.5, 0.6], 20)
    assert effects(Scores.of(values, documents), {"size": [64, 64]}) == []
    assert effects(Scores.of(values, ["one"] * 20), {"size": [64, 128]}) == []
