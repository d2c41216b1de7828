"""Time and memory of the statistics at full size: 1,000 points, 500 questions, 10,000 resamples.

Run: python -m tests.benchmarks.bench_stats
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.stats.flips import compare
from bench.stats.resample import bootstrap_means, mean_intervals, weights
from bench.stats.scores import Scores, against, all_pairs
from bench.stats.select import nested, selection_frequency

POINTS, QUESTIONS, RESAMPLES, LIMIT_S, LIMIT_GB = 1000, 500, 10_000, 60.0, 2.0


def timed(name: str, work: Callable[[], Any]) -> float:
    """Run, print wall and CPU seconds and the process's peak memory so far, return the CPU seconds."""
    start, cpu = time.perf_counter(), time.process_time()
    work()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(f"{name:62} {wall:6.1f} s wall {cpu:6.1f} s CPU   peak {peak_gb():.2f} GB", flush=True)
    return cpu


def peak_gb() -> float:
    """Peak resident memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> int:
    """Run every step; 1 if time or memory is over the limit."""
    rng = np.random.default_rng(0)
    values = np.clip(rng.normal(0.6, 0.3, (QUESTIONS, 1)) + rng.normal(0, 0.2, (QUESTIONS, POINTS)), 0, 1)
    total = 0.0
    for name, clusters in (
        ("each question a document", np.arange(QUESTIONS)),
        ("50 documents", np.arange(QUESTIONS) // 10),
    ):
        scores = Scores.of(values, clusters)
        drawn = weights(scores.n_clusters, RESAMPLES, 0)
        seconds = timed(f"{name}: BCa intervals of all means", lambda s=scores, d=drawn: mean_intervals(s, d))
        seconds += timed(
            f"{name}: BCa intervals of all differences from one",
            lambda s=scores, d=drawn: mean_intervals(s.minus(0), d),
        )
        seconds += timed(f"{name}: step-down maxT, all against one", lambda s=scores: compare(s, against(POINTS, 0)))
        seconds += timed(f"{name}: step-down maxT, all 499,500 pairs", lambda s=scores: compare(s, all_pairs(POINTS)))
        lost = values.copy()
        lost[3, 7] = np.nan
        gaps = Scores.of(lost, clusters)
        timed(f"{name}: the same where one point lost a score", lambda s=gaps: compare(s, all_pairs(POINTS)))
        seconds += timed(
            f"{name}: selection frequencies", lambda s=scores, d=drawn: selection_frequency(bootstrap_means(s, d))
        )
        seconds += timed(f"{name}: 200 repeated splits", lambda s=scores: nested(s))
        print(f"{name}: {seconds:.1f} s CPU in all")
        total = max(total, seconds)
    print(f"limits: {LIMIT_S:.0f} s, {LIMIT_GB:.0f} GB; used: {total:.1f} s CPU, {peak_gb():.2f} GB")
    return int(total > LIMIT_S or peak_gb() > LIMIT_GB)


if __name__ == "__main__":
    raise SystemExit(main())
