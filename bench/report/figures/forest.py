"""Figure 3: paired difference of every setting from today's production."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bench.report.data import SweepData
from bench.report.figures.base import Kind, Numbers, caption
from bench.report.figures.matrix import pairs_of
from bench.report.style import empty, new_figure, note, shorten
from bench.stats.resample import RESAMPLES, mean_intervals, weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_ROWS = 24
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """Paired difference of one point from the reference, its 95 % interval, its p over all pairs, and n."""

    point: int
    mean: float
    low: float
    high: float
    p: float
    n: int


def differences(data: SweepData) -> list[Difference]:
    """Every point against the reference of the sweep (today's setting, else the chosen one, else the best).

    The reference was often found on these questions: p is adjusted over all pairs, as in the matrix and the decision.
    """
    reference = data.marks.reference
    pairs = data.once("pairs", pairs_of)
    if reference is None or reference not in pairs.points:
        return []
    scores = data.scores(data.headline)
    shared = scores.scored & scores.scored[:, [reference]]
    points = [point for point in pairs.points if point != reference and shared[:, point].any()]
    if not points:
        return []
    changes = scores.rows(np.asarray(scores.scored[:, reference])).minus(reference).columns(points)
    low, high = mean_intervals(changes, weights(changes.n_clusters, RESAMPLES, int(data.header["seed"])))
    p = dict(zip(pairs.points, pairs.p[:, pairs.points.index(reference)], strict=True))
    found = [
        Difference(point, float(mean), float(low[i]), float(high[i]), float(p[point]), int(shared[:, point].sum()))
        for i, (point, mean) in enumerate(zip(points, changes.means(), strict=True))
    ]
    return sorted(found, key=lambda one: (-one.mean, one.point))


def draw_forest(axes: Axes, data: SweepData) -> None:
    """Draw the differences, largest gain on top; filled: beyond chance over all pairs."""
    found = differences(data)
    reference = data.marks.reference
    if not found or reference is None:
        empty(axes, "fewer than two settings with a score: nothing to compare")
        return
    shown = _shown(found, data)
    for row, one in enumerate(shown):
        real = one.p <= ALPHA
        mark = data.marks.named(one.point).partition(",")[0]
        colour = "#0072B2" if one.mean >= 0 else "#D55E00"
        axes.plot([100 * one.low, 100 * one.high], [row, row], color=colour, linewidth=1.6, solid_capstyle="butt")
        axes.plot(
            100 * one.mean, row, marker="D" if mark == "chosen" else "o", markersize=7 if mark == "chosen" else 5.5,
            color=colour, markerfacecolor=colour if real else "white", markeredgewidth=1.4,
        )  # fmt: skip
    names = [_name(data, one) for one in shown]
    axes.set_yticks(range(len(shown)), names, fontsize=8.5)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.axvline(0, color="#333333", linewidth=1)
    axes.set(xlabel=f"difference in evidence recall, points, from {shorten(data.short_labels[reference], 40)}")
    axes.grid(visible=False, axis="y")


def _name(data: SweepData, one: Difference) -> str:
    mark = data.marks.named(one.point).partition(",")[0]
    return shorten(data.short_labels[one.point], 38) + (f" ({mark})" if mark in ("chosen", "baseline") else "")


def _shown(found: list[Difference], data: SweepData) -> list[Difference]:
    """The best rows, and the chosen point wherever it stands."""
    best = found[:MAX_ROWS]
    return best + [one for one in found[MAX_ROWS:] if one.point == data.marks.chosen]


def forest_figure(data: SweepData) -> Figure:
    """Figure 3 on its own."""
    found = differences(data)
    shown = _shown(found, data)
    figure, axes = new_figure(9.0, 1.6 + 0.26 * max(4, len(shown)))
    draw_forest(axes, data)
    axes.set_title("Paired difference, question by question", loc="left", fontsize=11)
    left = f" {len(found) - len(shown)} more are in the table." if len(found) > len(shown) else ""
    bars = f"Bars: 95 % bootstrap by {data.unit}. Filled: p <= .05 over all pairs."
    text = f"At {data.budget_tokens:,} tokens. {bars}{left}"
    note(axes, caption(data, text))
    return figure


def forest_numbers(data: SweepData) -> Numbers:
    """Differences of all points."""
    rows = [
        [data.points[d.point].label, data.marks.named(d.point), d.mean, d.low, d.high, d.p, d.n]
        for d in differences(data)
    ]
    return Numbers(["point", "mark", "difference", "low", "high", "p adjusted", "n"], rows)


FOREST = Kind(
    "forest",
    "Paired differences",
    "What each setting gains or loses on the same questions against today's (where none is named: against the chosen "
    "one). A hollow mark may be chance.",
    forest_figure,
    forest_numbers,
)
