"""Print each strategy's recall at the budget and its paired difference from ``recursive``, a column a sweep.

Usage: ``python -m tests.benchmarks.strategy_table SIZE SWEEP[:question] ...``; ``:question`` resamples questions in
place of documents, where there are so few documents that nothing could be said otherwise (it holds for these alone).
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.report.data import SweepData
from bench.stats.resample import RESAMPLES, mean_intervals, weights
from bench.stats.scores import Scores

BASE = "recursive"


def column(folder: Path, size: int, by_question: bool) -> dict[str, str]:
    """Strategy to "recall, difference [95 % interval]", of the points of one size (duplicates by their twin)."""
    data = SweepData.read(folder)
    scores = data.scores(data.headline)
    if by_question:
        scores = Scores(scores.values, scores.scored, scores.clusters * 0 + range(scores.n_questions))
    scores = scores.rows(scores.scored.any(axis=1))
    ids = [point.point_id for point in data.points]
    wanted = [p for p in (*data.points, *data.duplicates) if p.axes.get("size") == size]
    place = {str(p.axes["strategy"]): ids.index(p.duplicate_of or p.point_id) for p in wanted}
    drawn = weights(scores.n_clusters, RESAMPLES, 0)
    means, difference = scores.means(), scores.minus(place[BASE])
    low, high = mean_intervals(difference, drawn)
    gaps = difference.means()
    return {
        name: f"{100 * means[i]:.1f}"
        + ("" if i == place[BASE] else f", {100 * gaps[i]:+.1f} [{100 * low[i]:.1f}, {100 * high[i]:.1f}]")
        for name, i in place.items()
    }


def main(arguments: list[str]) -> None:
    """Print the table as Markdown."""
    size, sweeps = int(arguments[0]), arguments[1:]
    columns = [column(Path(s.removesuffix(":question")), size, s.endswith(":question")) for s in sweeps]
    names = sorted(columns[0], key=lambda name: -float(columns[0][name].split(",")[0]))
    print(f"| strategy | {' | '.join(Path(s).name for s in sweeps)} |")
    print("|---" * (len(sweeps) + 1) + "|")
    for name in names:
        print(f"| `{name}` | {' | '.join(found.get(name, '') for found in columns)} |")


if __name__ == "__main__":
    main(sys.argv[1:])
