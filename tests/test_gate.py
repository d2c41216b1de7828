"""The gate: thresholds, bands, paired regressions, what is not comparable, and its files."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from bench import gate
from bench.__main__ import main
from bench.decision.baseline import Baseline
from bench.decision.table import Table
from bench.errors import BenchError, ConfigError, StoreError
from bench.gating.check import run_gate
from bench.gating.point import pick
from bench.gating.render import lines, markdown
from bench.gating.thresholds import Bound, Thresholds, read_thresholds
from tests.records import HEADLINE, Synthetic, normal_scores

CATEGORIES = ["fact" if i % 3 else "multi" for i in range(120)]


def scores(mean: float, *, seed: int = 0, questions: int = 120) -> np.ndarray:
    values, _ = normal_scores([mean], questions, sd=0.1, seed=seed)
    return values


def sweep(folder: Path, values: np.ndarray, **more: Any) -> Path:
    documents = [f"doc{i // 4:03d}" for i in range(len(values))]
    categories = CATEGORIES[: len(values)]
    return Synthetic({HEADLINE: values, **more.pop("others", {})}, documents, categories, **more).write(folder)


def call(*arguments: object) -> int:
    parser = argparse.ArgumentParser()
    gate.configure(parser)
    return gate.run(parser.parse_args([str(a) for a in arguments]))


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    path = tmp_path / "baseline.json"
    assert call(sweep(tmp_path / "base", scores(0.9)), "--save-baseline", path) == 0
    return path


def test_the_same_scores_pass(tmp_path: Path, baseline: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(sweep(tmp_path / "now", scores(0.9)), "--baseline", baseline) == 0
    assert "+0.000" in capsys.readouterr().out


def test_a_real_drop_fails_and_names_the_questions(
    tmp_path: Path, baseline: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = scores(0.9)
    values[40:70] -= 0.3
    assert call(sweep(tmp_path / "now", values), "--baseline", baseline) == 1
    out = capsys.readouterr().out
    assert f"FAIL  regression {HEADLINE}: -0.075" in out
    assert "q0040" in out


def test_a_significant_drop_below_the_minimum_effect_passes(tmp_path: Path, baseline: Path) -> None:
    folder = sweep(tmp_path / "now", scores(0.9) - 0.015)
    outcome = run_gate(Table.read(folder), 0, read_thresholds("default"), Baseline.read(baseline))
    drop = next(c for c in outcome.checks if c.kind == "regression" and not c.category)
    assert drop.p is not None
    assert drop.p <= 0.05
    assert drop.status == "pass"
    assert "no more than 0.02" in drop.text


def test_a_large_drop_within_noise_passes_and_says_so(tmp_path: Path, baseline: Path) -> None:
    noisy = scores(0.9) + np.random.default_rng(3).normal(-0.03, 0.3, (120, 1))
    values = noisy - noisy.mean() + 0.87
    outcome = run_gate(
        Table.read(sweep(tmp_path / "now", values)), 0, read_thresholds("default"), Baseline.read(baseline)
    )
    drop = next(c for c in outcome.checks if c.kind == "regression" and not c.category)
    assert drop.status == "pass"
    assert "not beyond chance" in drop.text


def test_one_ruined_category_fails_under_an_unchanged_mean(tmp_path: Path, baseline: Path) -> None:
    values, multi = scores(0.9), np.array(CATEGORIES) == "multi"
    values[multi] -= 0.10
    values[~multi] += 0.05
    folder = sweep(tmp_path / "now", values)
    outcome = run_gate(Table.read(folder), 0, read_thresholds("default"), Baseline.read(baseline))
    assert [c.category for c in outcome.failures] == ["multi"]


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"corpus": {"sha256": "c" * 64, "golden_sha256": "other"}}, "golden questions"),
        ({"corpus": {"sha256": "d" * 64, "golden_sha256": "g" * 64}}, "documents"),
        ({"tokenizer": "cl100k"}, "tokenizer"),
        ({"measures_version": 9}, "version of the measures"),
        ({"rules": "chroma"}, "scoring rules"),
    ],
)
def test_what_differs_is_named(tmp_path: Path, baseline: Path, change: dict[str, Any], names: str) -> None:
    folder = sweep(tmp_path / "now", scores(0.9), header=change)
    with pytest.raises(StoreError, match=names):
        call(folder, "--baseline", baseline)


def test_not_comparable_is_exit_code_two_on_the_command_line(
    tmp_path: Path, baseline: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = sweep(tmp_path / "now", scores(0.9), header={"tokenizer": "cl100k"})
    assert main(["gate", str(folder), "--baseline", str(baseline)]) == 2
    error = capsys.readouterr().err
    assert "baseline minilm, this sweep cl100k" in error
    assert error.count("\n") == 1


def test_thresholds_bands_and_noise_of_the_threshold(tmp_path: Path) -> None:
    table = Table.read(sweep(tmp_path / "now", scores(0.755)))
    check = run_gate(table, 0, read_thresholds("default")).checks[1]
    assert (check.status, check.band) == ("pass", "acceptable")
    assert "within noise of the threshold" in check.text
    low = run_gate(Table.read(sweep(tmp_path / "low", scores(0.5))), 0, read_thresholds("default"))
    assert [(c.status, c.band) for c in low.failures] == [("fail", "needs work")]
    assert len(low.failures[0].cases) == 10


def test_regulated_asks_for_more(tmp_path: Path) -> None:
    others = {"faithfulness": np.clip(scores(0.9, seed=2), 0, 1)}
    table = Table.read(sweep(tmp_path / "now", scores(0.9), others=others))
    assert run_gate(table, 0, read_thresholds("default")).passed
    failures = run_gate(table, 0, read_thresholds("regulated")).failures
    assert [check.measure for check in failures] == ["faithfulness"]


def test_lost_scores_fail_instead_of_lifting_the_mean(tmp_path: Path) -> None:
    values = scores(0.9)
    values[:6] = np.nan
    failures = run_gate(Table.read(sweep(tmp_path / "now", values)), 0, read_thresholds("default")).failures
    assert [(c.kind, c.text) for c in failures] == [("lost", "6 of 120 scores lost; at most 2% allowed")]


def test_a_measure_that_vanished_fails(tmp_path: Path) -> None:
    first = sweep(tmp_path / "base", scores(0.9), others={"faithfulness": np.full((120, 1), 0.95)})
    kept = Baseline.of(Table.read(first), 0)
    outcome = run_gate(Table.read(sweep(tmp_path / "now", scores(0.9))), 0, read_thresholds("default"), kept)
    assert [c.measure for c in outcome.failures] == ["faithfulness"]


def test_lower_is_better_measures_regress_upwards(tmp_path: Path) -> None:
    gate_file = Thresholds("own", {"false_refusal": Bound(most=0.1)})
    first = sweep(tmp_path / "base", scores(0.9), others={"false_refusal": np.full((120, 1), 0.02)})
    now = sweep(tmp_path / "now", scores(0.9), others={"false_refusal": np.full((120, 1), 0.2)})
    outcome = run_gate(Table.read(now), 0, gate_file, Baseline.of(Table.read(first), 0))
    overall = [c.kind for c in outcome.failures if not c.category]
    assert overall == ["threshold", "regression"]


def test_five_documents_say_that_no_drop_can_be_shown(tmp_path: Path) -> None:
    documents = [f"d{i % 5}" for i in range(40)]
    first = Synthetic({HEADLINE: scores(0.9, questions=40)}, documents).write(tmp_path / "base")
    now = Synthetic({HEADLINE: scores(0.9, questions=40) - 0.1}, documents).write(tmp_path / "now")
    kept = Baseline.of(Table.read(first), 0)
    outcome = run_gate(Table.read(now), 0, read_thresholds("default"), kept)
    assert "on 5 documents no drop can be shown" in next(c.text for c in outcome.checks if c.kind == "regression")
    by_question = Thresholds("own", {"span_recall": Bound()}, cluster="question")
    assert not run_gate(Table.read(now), 0, by_question, kept).passed


def test_nothing_measured_is_no_pass(tmp_path: Path) -> None:
    outcome = run_gate(
        Table.read(sweep(tmp_path / "now", scores(0.9))), 0, Thresholds("own", {"faithfulness": Bound(least=0.8)})
    )
    assert not outcome.passed
    assert "nothing that it asks for was measured" in lines(outcome)[-1]


def test_files_for_the_build_server_and_the_pull_request(tmp_path: Path, baseline: Path) -> None:
    folder = sweep(tmp_path / "now", scores(0.7))
    junit, summary = tmp_path / "out" / "gate.xml", tmp_path / "out" / "gate.md"
    files = ["--junit", junit, "--markdown", summary, "--json", tmp_path / "out" / "gate.json"]
    assert call(folder, "--baseline", baseline, *files) == 1
    result = json.loads((tmp_path / "out" / "gate.json").read_text(encoding="utf-8"))
    assert not result["passed"]
    assert len(result["failed_cases"]) >= 10
    assert result["provenance"]["tokenizer"] == "minilm"
    assert len(result["configuration"]) == 12
    suite = ElementTree.parse(junit).getroot()[0]
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert int(suite.get("failures", "")) == len(failed) == 4
    assert int(suite.get("tests", "")) == len(suite)
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("### Gate failed: 4 of")
    assert all(line.count("|") == 4 for line in text.splitlines() if line.startswith("| "))


def test_markdown_escapes_the_bar(tmp_path: Path) -> None:
    table = Table.read(sweep(tmp_path / "now", scores(0.9), others={"a|b": scores(0.9)}))
    assert "a\\|b" in markdown(run_gate(table, 0, Thresholds("own", {"a|b": Bound(least=0.5)})))


def test_saving_needs_a_pass_where_there_is_something_to_pass(tmp_path: Path, baseline: Path) -> None:
    new = tmp_path / "new.json"
    assert call(sweep(tmp_path / "bad", scores(0.6)), "--baseline", baseline, "--save-baseline", new) == 1
    assert not new.exists()
    assert call(sweep(tmp_path / "good", scores(0.9)), "--baseline", baseline, "--save-baseline", new) == 0
    assert json.loads(new.read_text(encoding="utf-8"))["point"]["sweep"] == "good"


def test_which_point(tmp_path: Path) -> None:
    values, _ = normal_scores([0.8, 0.9], 120)
    table = Table.read(sweep(tmp_path / "two", values))
    with pytest.raises(ConfigError, match="--point"):
        pick(table)
    assert pick(table, "recursive 128") == 1
    assert pick(table, baseline=Baseline.of(table, 1)) == 1
    with pytest.raises(ConfigError, match="did you mean 'recursive 128'"):
        pick(table, "recursive 12")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("minimum_efect: 0.1", "did you mean 'minimum_effect'"),
        ("alpha: 2", "above 0 and below 1"),
        ("alpha: yes", "one float"),
        ("per_category: 1", "one bool"),
        ("cluster: doc", "allowed: document, question"),
        ("measures: {faithfulness: {lest: 1}}", "did you mean 'least'"),
        ("measures: {faithfulness: high}", "allowed: a mapping"),
        ("measures: {faithfulness: {least: high}}", "allowed: a number"),
        ("- a", "allowed: a mapping"),
        ("a: [", "is not YAML"),
    ],
)
def test_a_wrong_gate_file_is_named(tmp_path: Path, text: str, names: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=names):
        read_thresholds(str(path))


def test_gates_have_names(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="did you mean 'regulated'"):
        read_thresholds("regulatd")
    (tmp_path / "b.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BenchError, match="is not a baseline"):
        Baseline.read(tmp_path / "b.json")
