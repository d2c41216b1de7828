"""The history as a figure: one panel a measure, intervals, changes beyond noise marked."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.trend.data import Run, direction

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = {"better": ("^", "#1b7837"), "worse": ("v", "#b2182b"), "": ("o", "#333333")}


def draw(runs: Sequence[Run], measures: Sequence[str], paths: Sequence[Path]) -> None:
    """Write the figure to each of ``paths``; the format follows the suffix."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 0.9 + 2.1 * len(measures)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(measures), 1, squeeze=False, sharex=True)[:, 0]
    for panel, measure in zip(axes, measures, strict=True):
        _panel(panel, runs, measure)
    axes[-1].set_xticks(range(len(runs)), [_tick(run) for run in runs], rotation=30, ha="right", fontsize=8)
    figure.suptitle(
        "Bars: 95 % intervals by document. Triangles: a change beyond noise.", fontsize=8.5, x=0.01, ha="left"
    )
    for path in paths:
        figure.savefig(path, dpi=150)


def _panel(axes: Axes, runs: Sequence[Run], measure: str) -> None:
    known = [(x, run.values[measure]) for x, run in enumerate(runs) if measure in run.values]
    for (before, old), (x, value) in itertools.pairwise(known):
        if value.change is not None:
            axes.plot([before, x], [old.mean, value.mean], color="#bbbbbb", linewidth=1, zorder=1)
    for x, value in known:
        mark, colour = MARKS[direction(measure, value)]
        axes.vlines(x, value.low, value.high, color=colour, linewidth=1.4)
        axes.plot(x, value.mean, marker=mark, color=colour, markersize=7, zorder=3)
    for x in range(1, len(runs)):
        changed = [name for name in ("configuration", "corpus", "golden") if _differs(runs, x, name)]
        now = runs[x].values.get(measure)
        if not changed and now is not None and now.note:
            changed = ["way of measuring"]
        if changed:
            axes.axvline(x - 0.5, color="#888888", linewidth=0.8, linestyle=(0, (2, 2)))
            axes.annotate(
                "new " + ", ".join(changed),
                (x - 0.48, 0.03),
                xycoords=("data", "axes fraction"),
                fontsize=7,
                rotation=90,
            )
    axes.set_ylabel(f"{measure}\n(n = {known[-1][1].n if known else 0})", fontsize=8)
    axes.set_xlim(-0.5, len(runs) - 0.5)
    axes.spines[["top", "right"]].set_visible(False)


def _differs(runs: Sequence[Run], x: int, name: str) -> bool:
    return bool(getattr(runs[x], name) != getattr(runs[x - 1], name))


def _tick(run: Run) -> str:
    return f"{run.created[:16].replace('T', ' ')}\n{run.sweep}"
