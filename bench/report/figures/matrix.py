"""Which setting beats which: every pair, adjusted over all pairs of the sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.report.data import SweepData
from bench.report.figures.base import Kind, Numbers, caption
from bench.report.style import empty, new_figure, note, shorten
from bench.stats.flips import compare
from bench.stats.resample import RESAMPLES
from bench.stats.scores import Array, all_pairs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_SHOWN = 16
MANY = 100
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Pairs:
    """All pairs of points, best first: ``difference[i, j]`` is i minus j, ``p[i, j]`` adjusted over all pairs."""

    points: list[int]
    difference: Array
    p: Array


def pairs_of(data: SweepData) -> Pairs:
    """Test every pair of scored points on the headline."""
    scored = [i for i in data.best_first() if data.points[i].mean(data.headline) is not None]
    size = len(scored)
    difference, p = np.zeros((size, size)), np.ones((size, size))
    if size < 2:
        return Pairs(scored, difference, p)
    scores = data.scores(data.headline).columns(scored)
    scores = scores.rows(np.asarray(scores.scored.any(axis=1)))
    resamples = RESAMPLES if size <= MANY else RESAMPLES // 5
    family = compare(scores, all_pairs(size), resamples=resamples, seed=int(data.header["seed"]))
    first, second = family.pairs[:, 0], family.pairs[:, 1]
    difference[first, second], difference[second, first] = family.difference, -family.difference
    p[first, second] = p[second, first] = family.p_adjusted
    return Pairs(scored, difference, p)


def draw_matrix(axes: Axes, data: SweepData) -> None:
    """Draw the pairs of the best points: a row beats (+), loses to (−) or cannot be told from (·) a column."""
    pairs = data.once("pairs", pairs_of)
    size = min(MAX_SHOWN, len(pairs.points))
    if size < 2:
        empty(axes, "fewer than two settings with a score: no pair to compare")
        return
    real = np.where(pairs.p <= ALPHA, np.sign(pairs.difference), 0.0)[:size, :size]
    axes.imshow(real, cmap=_three_colours(), vmin=-1, vmax=1)
    axes.grid(visible=False)
    for row in range(size):
        for column in range(size):
            if row != column:
                _write_cell(axes, row, column, float(real[row, column]), float(pairs.difference[row, column]))
    names = [shorten(data.short_labels[i], 30) for i in pairs.points[:size]]
    axes.set_yticks(range(size), [f"{n}  {name}" for n, name in enumerate(names, 1)], fontsize=8)
    axes.set_xticks(range(size), [str(n) for n in range(1, size + 1)], fontsize=8)
    axes.xaxis.tick_top()


def _write_cell(axes: Axes, row: int, column: int, sign: float, difference: float) -> None:
    mark = {1.0: "+", -1.0: "−"}.get(sign, "·")
    weight, colour = ("bold", "#000000") if sign else ("normal", "#555555")
    axes.text(column, row - 0.13, mark, ha="center", va="center", fontsize=11, weight=weight, color=colour)
    axes.text(column, row + 0.27, f"{100 * difference:+.1f}", ha="center", va="center", fontsize=6.5, color=colour)


def _three_colours() -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap(["#f3c9a5", "#ffffff", "#a9cfe8"])


def matrix_figure(data: SweepData) -> Figure:
    """The matrix on its own."""
    pairs = data.once("pairs", pairs_of)
    size = max(3, min(MAX_SHOWN, len(pairs.points)))
    figure, axes = new_figure(3.6 + 0.42 * size, 1.8 + 0.42 * size)
    draw_matrix(axes, data)
    axes.set_title("Row against column", loc="left", fontsize=11)
    count = len(pairs.points) * (len(pairs.points) - 1) // 2
    text = (
        f"At {data.budget_tokens:,} tokens. + beats, − loses, · cannot be told apart (p > .05 adjusted over {count:,} "
        f"pairs, by {data.unit}); differences in points."
    )
    left = f" The best {size} of {len(pairs.points)}." if len(pairs.points) > size else ""
    note(axes, caption(data, text + left))
    return figure


def matrix_numbers(data: SweepData) -> Numbers:
    """The pairs that are drawn."""
    pairs = data.once("pairs", pairs_of)
    size = min(MAX_SHOWN, len(pairs.points))
    label = [data.points[i].label for i in pairs.points]
    rows = [
        [label[i], label[j], float(pairs.difference[i, j]), float(pairs.p[i, j]), bool(pairs.p[i, j] <= ALPHA)]
        for i in range(size)
        for j in range(i + 1, size)
    ]
    return Numbers(["first", "second", "difference", "p adjusted", "beyond chance"], rows)


MATRIX = Kind(
    "matrix",
    "Which setting beats which",
    "Pairs that these questions can tell apart. Many dots mean: choose by cost.",
    matrix_figure,
    matrix_numbers,
)
