"""Faults met in other tools, each with the input that showed it and with inputs of the same kind."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bench.measures import Measure, aggregate
from bench.types import Cuts, Score
from tests.measuring import question, values_of


def load(shared: Path, case: str) -> Any:
    return json.loads((shared / "cases" / case / "input.json").read_text(encoding="utf-8"))


def scores(values: list[float | None]) -> list[Score]:
    return [Score(None, "failed", "no reply") if value is None else Score(value) for value in values]


def test_case_31_failed_rows_do_not_lift_a_mean(shared: Path) -> None:
    given = load(shared, "31-nan-mean")
    a, b = (aggregate(scores(given[name]), Measure("anything")) for name in ("A", "B"))
    assert (a.mean, a.n_scored, a.n_failed, a.low, a.high) == (1.0, 1, 1, 0.5, 1.0)
    assert (b.mean, b.n_scored, b.low, b.high) == (0.5, 2, 0.5, 0.5)
    assert a.low is not None
    assert b.mean is not None
    assert not a.low > b.mean
    assert "NaN" not in json.dumps([asdict(a), asdict(b)], allow_nan=False)


@pytest.mark.parametrize("failures", [1, 3, 9])
def test_the_more_fails_the_wider_the_bounds(failures: int) -> None:
    found = aggregate(scores([1.0, *[None] * failures]), Measure("anything"))
    assert (found.low, found.high) == (1 / (1 + failures), 1.0)


def test_case_43_equal_k_favours_large_chunks_and_an_equal_budget_shows_it(shared: Path) -> None:
    given = load(shared, "43-same-k-budget")
    budget, k = given["budget_tokens"], given["k"]
    found = {name: at_both_cuts(config, k, budget) for name, config in given["configs"].items()}
    assert found == {"s128": (0.5, 1.0), "s1024": (1.0, 0.0)}


def at_both_cuts(config: dict[str, Any], k: int, budget: int) -> tuple[float | None, float | None]:
    """Recall of a run in which every character is a token and every relevant chunk holds one gold item."""
    size, relevant = config["size"], config["relevant_ranks"]
    ranks = range(max(*relevant, budget // size, k))
    pairs = [(rank * size, (rank + 1) * size) for rank in ranks]
    asked = question(*(pairs[rank - 1] for rank in relevant))
    text = "x" * (len(pairs) * size)
    values = values_of(asked, pairs, list(ranks), text, cuts=Cuts(ks=(k,), tokens=(budget,)))
    return values[f"span_recall@k={k}"], values[f"span_recall@tokens={budget}"]


def test_case_45_the_same_words_elsewhere_are_not_the_evidence(shared: Path) -> None:
    given = load(shared, "45-substring-hit")
    text, (start, end) = given["text"], given["gold_span"]
    assert given["gold_answer"] == text[start:end]
    pairs = [tuple(pair) for pair in given["chunks"]]
    assert given["gold_answer"] in text[slice(*pairs[given["hits"][0]])]
    values = values_of(question((start, end)), pairs, given["hits"], text)
    assert values["span_recall@k=1"] == values["P@k=1"] == values["Success@k=1"] == 0.0
    assert values["context_recall_containment@k=5"] == 1.0  # what the naive form says; it is marked unsafe


@pytest.mark.parametrize("hit", [0, 1, 2])
def test_only_the_occurrence_that_is_gold_counts(hit: int) -> None:
    values = values_of(question((14, 16)), [(0, 7), (7, 14), (14, 21)], [hit], "12 a b 12 c d 12 e f ")
    assert values["span_recall@k=1"] == float(hit == 2)


def test_case_11_stripped_indentation_loses_no_recall(shared: Path) -> None:
    text = (shared / "cases" / "11-indent-stripped" / "input.txt").read_bytes().decode("utf-8")
    stripped = [(0, 19), (28, 36), (41, 49)]
    assert [text[slice(*pair)] for pair in stripped] == ["def f(x):\n    if x:", "return 1", "return 2"]
    values = values_of(question((20, 36)), stripped, [1], text)
    assert values["span_recall@k=1"] == values["evidence_hit@k=1"] == values["precision_omega"] == 1.0


@pytest.mark.parametrize("pad", [" ", "\t", "\r\n", "\u00a0", "\u3000", "\x0c"])
def test_blanks_kept_at_the_edges_lose_no_precision(pad: str) -> None:
    text = pad * 3 + "gold" + pad * 3 + "rest"
    start, rest = text.index("gold"), text.index("rest")
    values = values_of(question((start, start + 4)), [(0, rest), (rest, len(text))], [0], text)
    assert values["span_precision@k=1"] == values["span_recall@k=1"] == 1.0
