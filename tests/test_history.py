"""Measures over time."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from bench import history
from bench.errors import ConfigError, StoreError
from bench.trend.data import direction, find_sweeps
from bench.trend.data import history as read
from tests.records import HEADLINE, Synthetic, normal_scores

DOCUMENTS = [f"doc{i // 4:02d}" for i in range(100)]


def sweep(folder: Path, day: int, shift: float, seed: int = 0, **more: Any) -> Path:
    values = np.clip(normal_scores([0.6], 100, sd=0.1)[0] + shift, 0, 1)
    values += np.random.default_rng(seed + day).normal(0, 0.02, values.shape)
    created = f"2026-01-{day:02d}T00:00:00+00:00"
    return Synthetic({HEADLINE: values, "false_refusal": 1 - values}, DOCUMENTS, created=created, **more).write(folder)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    sweep(folder / "c", 3, 0.10)
    sweep(folder / "a", 1, 0.0)
    sweep(folder / "b", 2, 0.0)
    sweep(folder / "d", 4, 0.10, header={"tokenizer": "cl100k"})
    return folder


def test_order_of_time_changes_and_noise(runs: Path) -> None:
    found = read([runs], [HEADLINE, "false_refusal"])
    assert [run.sweep for run in found] == ["a", "b", "c", "d"]
    assert [direction(HEADLINE, run.values[HEADLINE]) for run in found] == ["", "", "better", ""]
    assert direction("false_refusal", found[2].values["false_refusal"]) == "better"
    assert found[0].values[HEADLINE].change is None
    assert "budget tokenizer differ" in found[3].values[HEADLINE].note
    assert found[2].models["numpy"] == "2"


def test_a_fall_is_worse(tmp_path: Path) -> None:
    folders = [sweep(tmp_path / "a", 1, 0.0), sweep(tmp_path / "b", 2, -0.1)]
    run = read(folders, [])[-1]
    assert direction(HEADLINE, run.values[HEADLINE]) == "worse"


def test_command_writes_table_and_figure(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    history.configure(parser)
    out = tmp_path / "out"
    assert history.run(parser.parse_args([str(runs), "-o", str(out)])) == 0
    printed = capsys.readouterr().out
    assert printed.count("within noise") == 1
    assert printed.count(": better") == 1
    rows = list(csv.DictReader((out / "history.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["verdict"] for row in rows] == ["", "", "better", ""]
    assert len({row["configuration"] for row in rows}) == 1
    assert ElementTree.parse(out / "history.svg").getroot().tag.endswith("svg")
    assert (out / "history.png").stat().st_size > 5000


def test_sweeps_are_found_once(runs: Path) -> None:
    assert len(find_sweeps([runs, runs / "a"])) == 4
    with pytest.raises(StoreError, match="holds no sweep"):
        find_sweeps([runs / "a" / "points"])
    with pytest.raises(ConfigError, match="--measures"):
        read([runs], ["span_recal"])
