"""Gates in a user's own pytest suite."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.testing import GateFailure, assert_gate
from tests.records import HEADLINE, Synthetic

pytest_plugins = ["pytester"]

DOCUMENTS = [f"doc{i // 4:02d}" for i in range(80)]
SUITE = """
def test_holds(bench_gate):
    assert bench_gate().passed

def test_regulated(bench_gate):
    bench_gate(thresholds="regulated")
"""


def sweep(folder: Path, level: float) -> Path:
    return Synthetic({HEADLINE: np.full((80, 1), level)}, DOCUMENTS).write(folder)


def test_assert_gate_passes_and_fails_with_its_checks(tmp_path: Path) -> None:
    assert assert_gate(sweep(tmp_path / "good", 0.9)).passed
    with pytest.raises(GateFailure, match=r"0\.500 .* at least 0\.75"):
        assert_gate(sweep(tmp_path / "bad", 0.5))


def test_the_plugin_judges_the_folder_of_the_command_line(
    pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(SUITE)
    good, bad = sweep(tmp_path / "good", 0.9), sweep(tmp_path / "bad", 0.5)
    plugin = ["-p", "bench.testing", "-p", "no:cacheprovider"]
    pytester.syspathinsert(Path(__file__).parent.parent)
    pytester.runpytest_subprocess(*plugin, f"--bench-results={good}").assert_outcomes(passed=2)
    pytester.runpytest_subprocess(*plugin, f"--bench-results={bad}").assert_outcomes(failed=2)
    pytester.runpytest_subprocess(*plugin).assert_outcomes(skipped=2)
