"""Rank measures against trec_eval on random runs without ties."""

from __future__ import annotations

import random

import pytest

from bench.measures.rank import Judged, average_precision, ndcg, precision_at, reciprocal_rank

pytrec_eval = pytest.importorskip("pytrec_eval")

KS = (1, 3, 5, 10, 20)


def random_run(seed: int) -> tuple[list[int], set[int]]:
    """Return a ranking of up to 40 of 60 chunks, and up to 25 relevant ones, some of them not ranked."""
    rng = random.Random(seed)
    ranked = rng.sample(range(60), rng.randint(1, 40))
    return ranked, set(rng.sample(range(60), rng.randint(1, 25)))


@pytest.mark.parametrize("seed", range(60))
def test_rank_measures_are_those_of_trec_eval(seed: int) -> None:
    ranked, relevant = random_run(seed)
    wanted = {"map", "recip_rank", "P", "ndcg_cut", "success"}
    wanted = {f"{name}.{','.join(map(str, KS))}" if name in ("P", "ndcg_cut", "success") else name for name in wanted}
    run = {"q": {f"c{chunk}": 1.0 - rank / 100 for rank, chunk in enumerate(ranked)}}
    theirs = pytrec_eval.RelevanceEvaluator({"q": {f"c{chunk}": 1 for chunk in relevant}}, wanted).evaluate(run)["q"]
    judged = Judged.of(ranked, {chunk: [0] for chunk in relevant}, 1)
    assert average_precision(judged.gains, len(relevant)) == pytest.approx(theirs["map"], abs=1e-9)
    assert reciprocal_rank(judged.gains) == pytest.approx(theirs["recip_rank"], abs=1e-9)
    for k in KS:
        assert precision_at(judged, k) == pytest.approx(theirs[f"P_{k}"], abs=1e-9)
        assert ndcg(judged.gains, len(relevant), k) == pytest.approx(theirs[f"ndcg_cut_{k}"], abs=1e-9)
        assert float(any(judged.gains[:k])) == theirs[f"success_{k}"]


def test_rank_order_is_the_callers_and_ties_are_broken_before() -> None:
    """trec_eval breaks ties by the id, descending; ours come ranked, so the two agree once scores differ."""
    tied = {"q": {"c1": 0.5, "c2": 0.5}}
    theirs = pytrec_eval.RelevanceEvaluator({"q": {"c1": 1}}, {"recip_rank"}).evaluate(tied)["q"]
    assert theirs["recip_rank"] == 0.5
    assert reciprocal_rank(Judged.of([1, 2], {1: [0]}, 1).gains) == 1.0
