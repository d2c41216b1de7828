"""Gates inside a pytest suite: ``assert_gate``, and a plugin with the option ``--bench-results`` and two fixtures.

from bench.testing import assert_gate

def test_retrieval_holds() -> None:
    assert_gate("results/production", baseline="baseline.json")
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from bench.gating.check import Outcome


class GateFailure(AssertionError):
    """The gate does not hold; the message lists every check."""


def assert_gate(
    results: str | Path, *, baseline: str | Path | None = None, thresholds: str | Path = "default", point: str = ""
) -> Outcome:
    """Judge one point of a sweep and return the outcome.

    Args:
        results: folder that ``bench sweep`` wrote.
        baseline: file that ``bench gate --save-baseline`` wrote; None checks the thresholds alone.
        thresholds: name of a gate of ``conf/gate``, or a file.
        point: label or id; by default the decided point, or the only one.

    Raises:
        GateFailure: a threshold is missed, or a measure has regressed.
        BenchError: the results cannot be read, or are not comparable with the baseline.
    """
    from bench.decision.baseline import Baseline
    from bench.decision.table import Table
    from bench.gating.check import run_gate
    from bench.gating.point import pick
    from bench.gating.render import lines
    from bench.gating.thresholds import read_thresholds

    table = Table.read(Path(results))
    kept = Baseline.read(Path(baseline)) if baseline is not None else None
    outcome = run_gate(table, pick(table, point, kept), read_thresholds(str(thresholds)), kept)
    if not outcome.passed:
        raise GateFailure("\n".join(lines(outcome)))
    return outcome


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("bench", "gates on the results of a chunking sweep")
    group.addoption("--bench-results", metavar="FOLDER", help="results/<sweep> that bench_gate judges")
    group.addoption("--bench-baseline", metavar="FILE", help="baseline that bench_gate compares with")
    group.addoption("--bench-thresholds", metavar="NAME|FILE", default="default", help="gate that bench_gate asks for")


@pytest.fixture
def bench_results(request: pytest.FixtureRequest) -> Path:
    """Folder given by ``--bench-results``; the test is skipped without it."""
    folder = request.config.getoption("--bench-results")
    if not folder:
        pytest.skip("no --bench-results given")
    return Path(folder)


@pytest.fixture
def bench_gate(request: pytest.FixtureRequest, bench_results: Path) -> Callable[..., Outcome]:
    """``assert_gate`` with the folder, baseline and thresholds of the command line; keywords override them."""
    baseline = request.config.getoption("--bench-baseline")
    thresholds = request.config.getoption("--bench-thresholds")
    return partial(assert_gate, bench_results, baseline=baseline, thresholds=thresholds)
