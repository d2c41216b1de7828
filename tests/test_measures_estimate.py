"""From scores to means: states are counted, never averaged away."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.measures import Measure, aggregate, estimates, estimates_by_category
from bench.types import GoldenQuestion, Score

SHARE = Measure("share_of_something")
FAILED = Score(None, "failed", "no reply")
UNDEFINED = Score(None, "undefined", "no gold")
DECLINED = Score(None, "declined", "refused")


def test_failed_questions_leave_the_mean_and_widen_its_bounds() -> None:
    found = aggregate([Score(1.0), FAILED], SHARE)
    assert (found.mean, found.n_scored, found.n_failed, found.low, found.high) == (1.0, 1, 1, 0.5, 1.0)


def test_undefined_and_declined_questions_do_not_widen_them() -> None:
    found = aggregate([Score(0.5), Score(1.0), UNDEFINED, DECLINED], SHARE)
    assert (found.mean, found.low, found.high) == (0.75, 0.75, 0.75)
    assert (found.n_undefined, found.n_declined, found.n_failed) == (1, 1, 0)
    assert found.sd == pytest.approx(0.5 / 2**0.5)


def test_without_a_scored_question_there_is_no_mean() -> None:
    assert asdict(aggregate([UNDEFINED], SHARE)) == {
        "mean": None, "n_scored": 0, "n_undefined": 1, "n_failed": 0, "n_declined": 0,
        "low": None, "high": None, "sd": None,
    }  # fmt: skip
    failed = aggregate([FAILED, FAILED], SHARE)
    assert (failed.mean, failed.low, failed.high) == (None, 0.0, 1.0)


def test_a_measure_without_range_has_no_bound_once_something_failed() -> None:
    tokens = Measure("some_tokens", unit="tokens", high=None)
    assert aggregate([Score(10.0), FAILED], tokens).high is None
    assert aggregate([Score(10.0), FAILED], tokens).low == 5.0
    assert aggregate([Score(10.0)], tokens).high == 10.0


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None])
def test_a_value_that_is_no_number_counts_as_failed(value: float | None) -> None:
    found = aggregate([Score(1.0), Score(value)], SHARE)
    assert (found.mean, found.n_scored, found.n_failed) == (1.0, 1, 1)


@given(st.lists(st.sampled_from([Score(0.0), Score(0.3), Score(1.0), FAILED, UNDEFINED, DECLINED])))
def test_bounds_hold_the_mean_and_nothing_is_lost(scores: list[Score]) -> None:
    found = aggregate(scores, SHARE)
    counted = found.n_scored + found.n_undefined + found.n_failed + found.n_declined
    assert counted == len(scores)
    json.dumps(asdict(found), allow_nan=False)
    if found.mean is not None and found.low is not None and found.high is not None:
        assert found.low - 1e-12 <= found.mean <= found.high + 1e-12


def test_estimates_of_a_point_and_of_its_categories() -> None:
    scores = {"a": {"RR": Score(1.0)}, "b": {"RR": Score(0.0)}, "c": {"RR": UNDEFINED}}
    questions = [GoldenQuestion(name, "?", category=category) for name, category in zip("abc", "xyx", strict=True)]
    assert estimates(scores)["RR"].mean == 0.5
    by_category = estimates_by_category(scores, questions)
    assert list(by_category) == ["x", "y"]
    assert (by_category["x"]["RR"].mean, by_category["x"]["RR"].n_undefined) == (1.0, 1)
    assert by_category["y"]["RR"].mean == 0.0
