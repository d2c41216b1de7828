"""The decision: what is chosen, what is refused, what is said, and that every number can be traced."""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import decide as verb
from bench.decision.baseline import Baseline
from bench.decision.build import decide
from bench.decision.choose import Rules, choose, indistinguishable
from bench.decision.options import Options
from bench.decision.table import Table
from bench.decision.words import words
from bench.errors import BenchError, ConfigError, StoreError
from bench.stats.scores import Scores
from tests.records import HEADLINE, Synthetic, normal_scores, point_name

FAST = Rules(resamples=2000, give_up=None)


def sweep(folder: Path, means: list[float], questions: int = 200, **more: Any) -> Path:
    values, documents = normal_scores(
        means, questions, per_document=more.pop("per_document", 4), sd=more.pop("sd", 0.2)
    )
    return Synthetic({HEADLINE: values, **more.pop("others", {})}, documents, **more).write(folder)


def decided(folder: Path, **options: Any) -> dict[str, Any]:
    return decide(Table.read(folder), Options(rules=options.pop("rules", FAST), **options))


def said(decision: dict[str, Any]) -> str:
    decision["selection"].setdefault("openings", [{}])
    return "\n".join(words(decision))


def call(*arguments: object) -> int:
    parser = argparse.ArgumentParser()
    verb.configure(parser)
    return verb.run(parser.parse_args(["--resamples", "1000", *(str(a) for a in arguments)]))


def test_a_clear_winner_is_named_although_it_costs_more(tmp_path: Path) -> None:
    decision = decided(sweep(tmp_path / "s", [0.4, 0.4, 0.8]))
    assert (decision["verdict"], decision["chosen"]["label"]) == ("winner", "recursive 192")
    assert "better than every other setting" in said(decision)


def test_among_equals_the_cheapest_is_chosen(tmp_path: Path) -> None:
    decision = decided(sweep(tmp_path / "s", [0.6, 0.6, 0.3]))
    assert (decision["verdict"], decision["chosen"]["label"]) == ("alike", "recursive 64")
    assert {one["label"] for one in decision["alike"]} == {"recursive 64", "recursive 128"}
    text = said(decision)
    assert "of 2 settings that cannot be told from the best" in text or "of the 2 that cannot be told apart" in text
    assert "Cannot be told from it:\n  recursive 128" in text


@pytest.mark.parametrize(
    ("prefer", "label"), [("cheap", "recursive 128"), ("small", "recursive 64"), ("fast", "recursive 192")]
)
def test_cost_is_what_the_user_prefers(tmp_path: Path, prefer: str, label: str) -> None:
    costs = [
        {"context_tokens": 2000, "index_bytes": 1, "retrieval_p50_ms": 9.0},
        {"context_tokens": 500, "index_bytes": 9, "retrieval_p50_ms": 8.0},
        {"context_tokens": 2000, "index_bytes": 5, "retrieval_p50_ms": 1.0},
    ]
    decision = decided(sweep(tmp_path / "s", [0.6, 0.6, 0.6], costs=costs), prefer=prefer)
    assert decision["chosen"]["label"] == label


def test_cost_differences_within_measuring_noise_do_not_choose(tmp_path: Path) -> None:
    costs = [{"context_tokens": 2000.4, "index_bytes": 1}, {"context_tokens": 1999.8, "index_bytes": 9}]
    assert decided(sweep(tmp_path / "s", [0.6, 0.6], costs=costs))["chosen"]["label"] == "recursive 64"


def test_what_may_be_given_up_can_be_limited(tmp_path: Path) -> None:
    values, documents = normal_scores([0.5, 0.5], 60, sd=0.4, per_document=4)
    values[:, 1] += 0.05 - (values[:, 1] - values[:, 0]).mean()
    folder = Synthetic({HEADLINE: values}, documents).write(tmp_path / "s")
    free, bound = decided(folder), decided(folder, rules=Rules(resamples=2000))
    assert (free["chosen"]["label"], bound["chosen"]["label"]) == ("recursive 64", "recursive 128")
    assert "WARNING: too few questions to rule out a loss" in said(free)


def test_a_difference_of_nothing_has_no_sign(tmp_path: Path) -> None:
    decision = decided(sweep(tmp_path / "s", [0.4, 0.8]))
    assert decision["given_up"]["to"] == decision["chosen"]["label"]
    assert [str(decision["given_up"][name]) for name in ("difference", "low", "high")] == ["0.0"] * 3


def test_limits_leave_points_out_and_say_why(tmp_path: Path) -> None:
    faithful = np.tile([0.9, 0.9, 0.5], (200, 1))
    folder = sweep(tmp_path / "s", [0.6, 0.8, 0.9], others={"faithfulness": faithful})
    decision = decided(folder, max_index_mb=2, minimums={"faithfulness": 0.85})
    assert decision["chosen"]["label"] == "recursive 128"
    assert decision["excluded"] == [
        {"label": "recursive 192", "reason": "3e+06 index bytes, over 2e+06, faithfulness 0.500, under 0.85"}
    ]
    with pytest.raises(ConfigError, match="no point meets the limits"):
        decided(folder, max_context_tokens=100)
    with pytest.raises(ConfigError, match="retrieval p99 ms are not known"):
        decided(folder, max_latency_ms=5)


@pytest.mark.parametrize(
    ("questions", "per_document", "reason"),
    [(14, 1, "14 scored questions"), (40, 10, "4 documents"), (40, 8, "smallest possible p is 0.0625")],
)
def test_too_small_names_no_winner_but_a_detectable_difference(
    tmp_path: Path, questions: int, per_document: int, reason: str
) -> None:
    decision = decided(sweep(tmp_path / "s", [0.2, 0.9], questions, per_document=per_document))
    assert (decision["verdict"], decision["chosen"]) == ("none", None)
    text = said(decision)
    assert reason in text
    assert "more questions" in text


def test_questions_as_the_unit_is_said(tmp_path: Path) -> None:
    decision = decided(sweep(tmp_path / "s", [0.2, 0.9], 40, per_document=8), cluster="question")
    assert decision["chosen"]["label"] == "recursive 128"
    assert "holds for these documents only" in said(decision)


def test_confirmation_is_kept_apart_and_optimism_is_reported(tmp_path: Path) -> None:
    folder = sweep(tmp_path / "s", [0.6] * 8)
    decision = decided(folder)
    part, table = decision["selection"], Table.read(folder)
    assert part["method"] == "split"
    assert len(part["confirmation_ids"]) == part["confirmation_questions"]
    documents = dict(zip(table.question_ids, table.clusters, strict=True))
    kept = {documents[q] for q in part["confirmation_ids"]}
    assert not kept & {c for q, c in documents.items() if q not in part["confirmation_ids"]}
    rows = [table.question_ids.index(q) for q in part["confirmation_ids"]]
    column = table.find(decision["chosen"]["label"])
    assert part["confirmed_score"] == pytest.approx(table.values(HEADLINE)[rows, column].mean())
    assert part["optimism"] == pytest.approx(part["selected_score"] - part["confirmed_score"])


def test_few_documents_are_split_many_times_and_it_says_so(tmp_path: Path) -> None:
    decision = decided(sweep(tmp_path / "s", [0.6] * 8, 80, per_document=8))
    assert decision["selection"]["method"] == "repeated splits"
    assert decision["selection"]["optimism"] > 0
    assert "too few documents for a part set aside" in said(decision)


def test_failed_scores_are_counted_with_bounds(tmp_path: Path) -> None:
    values, documents = normal_scores([0.5, 0.5], 100, sd=0.1)
    values[:7, 1] = np.nan
    decision = decided(Synthetic({HEADLINE: np.clip(values, 0, 1)}, documents).write(tmp_path / "s"))
    row = next(row for row in decision["points"] if row["failed"])
    assert (row["scored"], row["failed"]) == (93, 7)
    assert decision["pairs"][0]["n"] == 93
    assert "7 questions failed; they could move its mean to between" in said(decision)


def test_unanswerable_questions_are_not_asked(tmp_path: Path) -> None:
    values, documents = normal_scores([0.5, 0.5], 100)
    values[:10] = np.nan
    decision = decided(Synthetic({HEADLINE: values}, documents, missing="undefined").write(tmp_path / "s"))
    assert (decision["questions"]["scored"], decision["questions"]["of"]) == (90, 100)


def test_lower_is_better_objectives_are_shown_as_they_are(tmp_path: Path) -> None:
    values, documents = normal_scores([0.9, 0.2], 100, sd=0.1)
    folder = Synthetic({HEADLINE: 1 - values, "false_refusal": values}, documents).write(tmp_path / "s")
    decision = decided(folder, objective="false_refusal")
    row = decision["points"][0]
    assert (decision["chosen"]["label"], decision["objective"]["better"]) == ("recursive 128", "lower")
    assert row["low"] < row["mean"] < row["high"]
    assert row["mean"] == pytest.approx(0.2, abs=0.05)
    assert decision["pairs"][0]["difference"] == pytest.approx(0.7, abs=0.05)


def test_a_size_that_ruins_a_category_is_warned_of(tmp_path: Path) -> None:
    values, documents = normal_scores([0.5, 0.5, 0.5], 240, sd=0.1)
    kinds = ["multi" if i % 4 == 0 else "fact" for i in range(240)]
    multi = np.array(kinds) == "multi"
    values += np.where(multi[:, None], [0.0, 0.3, 0.3], [0.3, 0.1, 0.1])
    decision = decided(Synthetic({HEADLINE: values}, documents, kinds).write(tmp_path / "s"))
    rows = {row["category"]: row for row in decision["categories"]}
    assert decision["chosen"]["label"] == "recursive 64"
    assert rows["multi"]["chosen_is_worse"]
    assert rows["fact"]["best"] == "recursive 64"
    assert "WARNING: on multi questions the chosen setting is worse than recursive" in said(decision)


def test_baseline_by_name_and_by_file(tmp_path: Path) -> None:
    folder = sweep(tmp_path / "s", [0.4, 0.8])
    by_name = decided(folder, baseline="recursive 64")["baseline"]
    assert by_name["compared"]["all"]["difference"] == pytest.approx(0.4, abs=0.05)
    assert by_name["compared"]["confirmation"]["p"] < 0.01
    Baseline.of(Table.read(folder), 0).save(tmp_path / "base.json")
    assert decided(folder, baseline=str(tmp_path / "base.json"))["baseline"]["compared"] == by_name["compared"]
    other = sweep(tmp_path / "o", [0.4, 0.8], header={"tokenizer": "cl100k"})
    with pytest.raises(StoreError, match="budget tokenizer differ"):
        decided(other, baseline=str(tmp_path / "base.json"))


def test_what_mattered_and_robustness(tmp_path: Path) -> None:
    rows = list(itertools.product(["recursive", "markdown"], [64, 256]))
    axes = [{"strategy": s, "chunker.alias": s[0], "size": n, "embedder": "minilm"} for s, n in rows]
    means = [0.4 + 0.2 * (n == 256) for _, n in rows]
    reverse = np.tile(1 - np.array(means) - [0, 0.01, 0.02, 0.03], (200, 1))
    folder = sweep(tmp_path / "s", means, axes=axes, others={"span_recall@k=5": reverse})
    decision = decided(folder)
    effects = {row["name"]: row for row in decision["effects"]}
    assert set(effects) == {"strategy", "size", "strategy × size"}
    assert effects["size"]["spread"] == pytest.approx(0.2, abs=0.03)
    assert decision["robustness"][0]["kendall_tau"] < 0
    assert "The ranking is another at span_recall@k=5" in said(decision)


def test_trade_off_names_what_dominates(tmp_path: Path) -> None:
    decision = decided(sweep(tmp_path / "s", [0.8, 0.5]), trade_off=("span_recall", "index_bytes"))
    assert decision["trade_offs"]["points"][1]["dominated_by"] == "recursive 64"
    assert decision["trade_offs"]["points"][0]["probability"] == 1
    with pytest.raises(ConfigError, match="did you mean 'index_bytes'"):
        decided(sweep(tmp_path / "t", [0.8, 0.5]), trade_off=("index_byte",))


def test_judge_errors_and_votes_are_carried_into_the_interval(tmp_path: Path) -> None:
    values = np.random.default_rng(0).binomial(1, 0.7, (100, 2)).astype(float)
    documents = [f"d{i // 4}" for i in range(100)]
    quality = {"tpr": 0.9, "tnr": 0.8, "n_pos": 40, "n_neg": 40}
    made = Synthetic({HEADLINE: values, "faithfulness": values}, documents, header={"judge_quality": quality})
    decision = decided(made.write(tmp_path / "s"), objective="faithfulness")
    judged, plain = decision["judge"]["points"][0], decision["points"]
    raw = next(row for row in plain if row["label"] == judged["label"])
    assert judged["mean"] == pytest.approx((raw["mean"] - 0.2) / 0.7)
    assert judged["high"] - judged["low"] > (raw["high"] - raw["low"]) / 0.7
    assert decided(made.write(tmp_path / "r"))["judge"] is None
    assert "corrected for the judge's measured errors" in said(decision)

    made.header = {}
    rates = decided(made.write(tmp_path / "f"), objective="faithfulness", judge_quality={"faithfulness": quality})
    assert rates["judge"]["points"] == decision["judge"]["points"]
    with pytest.raises(ConfigError, match="has no 'n_neg'"):
        decided(tmp_path / "f", objective="faithfulness", judge_quality={"tpr": 1, "tnr": 1, "n_pos": 9})

    made.header = {"judge_quality": {"faithfulness": quality | {"tnr": 0.2}}}
    weak = decided(made.write(tmp_path / "w"), objective="faithfulness")
    assert "more than 1.1" in weak["judge"]["refused"]

    made.header, made.votes = {}, {"faithfulness": [[[0, 1, v] for v in row] for row in values]}
    voted = decided(made.write(tmp_path / "v"), objective="faithfulness")["judge"]
    assert voted["votes"]
    assert voted["points"][0]["high"] - voted["points"][0]["low"] > raw["high"] - raw["low"]


def test_every_number_is_traceable(tmp_path: Path) -> None:
    folder = sweep(tmp_path / "s", [0.4, 0.8])
    assert call(folder) == 0
    decision = json.loads((folder / "decision.json").read_text(encoding="utf-8"))
    first = next(r for r in decision["records"] if r["point_id"] == point_name(0))
    rows = (folder / "points" / point_name(0) / "questions.jsonl").read_bytes()
    assert first["questions_sha256"] == hashlib.sha256(rows).hexdigest()
    assert decision["options"]["rules"] == {
        "alpha": 0.05, "power": 0.8, "resamples": 1000, "seed": 0, "confirm": pytest.approx(1 / 3), "give_up": 0.02
    }  # fmt: skip
    assert decision["questions"]["headers"]["golden_sha256"] == "g" * 64
    assert decision["provenance"]["packages"] == {"numpy": "2"}


def test_the_same_seed_decides_the_same(tmp_path: Path) -> None:
    folder = sweep(tmp_path / "s", [0.5, 0.55, 0.6])
    first, second = decided(folder), decided(folder)
    first.pop("created")
    second.pop("created")
    assert first == second


def test_a_second_look_at_the_confirmation_questions_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sweep(tmp_path / "s", [0.6, 0.6], sd=0.05)
    for _ in range(2):
        assert call(folder) == 0
        assert "opened" not in capsys.readouterr().out
    sweep(folder, [0.6, 0.6], sd=0.05, costs=[{"index_bytes": 9}, {"index_bytes": 1}])
    assert call(folder) == 0
    assert "opened 2 times" in capsys.readouterr().out


def test_no_winner_is_exit_code_one_and_leaves_no_production_file(tmp_path: Path) -> None:
    folder = sweep(tmp_path / "s", [0.2, 0.9], 12)
    (folder / "production.yaml").write_text("old", encoding="utf-8")
    assert call(folder) == 1
    assert not (folder / "production.yaml").exists()
    assert json.loads((folder / "decision.json").read_text(encoding="utf-8"))["verdict"] == "none"


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--objective", "span_recal@tokens=2000"], "did you mean"),
        (["--min", "faithfulness"], "MEASURE=VALUE"),
        (["--min", "faithfulnes=.8"], "--min: the sweep has no measure"),
        (["--alpha", "1"], "--alpha"),
        (["--baseline", "recursive 65"], "did you mean"),
    ],
)
def test_wrong_arguments_are_named(tmp_path: Path, arguments: list[str], names: str) -> None:
    folder = sweep(tmp_path / "s", [0.5, 0.6])
    with pytest.raises(BenchError, match=names):
        call(folder, *arguments)


def test_points_on_different_questions_are_refused(tmp_path: Path) -> None:
    folder = sweep(tmp_path / "s", [0.5, 0.6])
    path = folder / "points" / point_name(1) / "questions.jsonl"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[1:]), encoding="utf-8")
    with pytest.raises(StoreError, match="199 of 200 questions"):
        Table.read(folder)


def test_one_point_is_chosen_without_a_family(tmp_path: Path) -> None:
    decision = decided(sweep(tmp_path / "s", [0.6]))
    assert (decision["verdict"], decision["chosen"]["label"]) == ("alike", "recursive 64")
    assert decision["detectable"] is None
    assert said(decision)


def test_identical_points_have_no_spread_and_no_winner(tmp_path: Path) -> None:
    decision = decided(
        Synthetic({HEADLINE: np.full((80, 3), 0.5)}, [f"d{i // 4}" for i in range(80)]).write(tmp_path / "s")
    )
    assert len(decision["alike"]) == 3
    assert "nothing can be told" in said(decision)


def test_null_sweeps_rarely_name_a_winner_or_any_difference() -> None:
    named = different = 0
    for seed in range(30):
        values, documents = normal_scores([0.5] * 20, 100, seed=seed)
        choice = choose(Scores.of(values, documents), range(20), ["fact"] * 100, Rules(resamples=400, seed=seed))
        named += choice.winner
        different += bool((choice.family.p_adjusted <= 0.05).any())
    assert named == 0
    assert different <= 4


def test_a_true_difference_is_found() -> None:
    found = 0
    for seed in range(40):
        values, documents = normal_scores([0.5, 0.58], 200, seed=seed)
        best, alike = indistinguishable(Scores.of(values, documents), None, Rules(resamples=500, seed=seed))
        found += (best, alike) == (1, (1,))
    assert found >= 32
