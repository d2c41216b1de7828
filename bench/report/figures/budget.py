"""Figure 1: recall against retrieved tokens, a line a strategy, bands, the production budget marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.report.data import SweepData
from bench.report.figures.base import Kind, Numbers, best_of_each, caption, cells
from bench.report.style import empty, new_figure, note, series_style, shorten, spread, text_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABEL_GAP = 0.055


def draw_budget(axes: Axes, data: SweepData) -> None:
    """Draw recall at every token budget: the best point of each strategy, with 95 % bands."""
    budgets = sorted(int(budget) for budget in data.header["cuts"]["tokens"])
    axes.set(xlabel="retrieved tokens (log scale)", ylabel="evidence recall", ylim=(0, 1.02))
    axes.set_title("Evidence recall at equal context", loc="left", fontsize=11)
    ends = [end for number, i in enumerate(best_of_each(data)) for end in _draw_line(axes, data, i, number, budgets)]
    if not ends:
        empty(axes, "no point has a recall to show")
        return
    axes.set_xscale("log", base=2)
    axes.set_xticks(budgets, [f"{budget:,}" for budget in budgets])
    axes.minorticks_off()
    axes.set_xlim(budgets[0] * 0.9, budgets[-1] * 1.06)
    _mark_budget(axes, data.budget_tokens)
    heights = spread([height for height, _, _ in ends], LABEL_GAP, (0.0, 1.0))
    for (_, name, colour), height in zip(ends, heights, strict=True):
        axes.annotate(
            name, (1.01, height), xycoords=("axes fraction", "data"), color=colour, fontsize=8.5,
            va="center", weight="bold",
        )  # fmt: skip
    shown = f"Best setting of each strategy at {data.budget_tokens:,} tokens; bands: 95 % bootstrap by {data.unit}."
    note(axes, caption(data, shown))


def _draw_line(
    axes: Axes, data: SweepData, index: int, number: int, budgets: list[int]
) -> list[tuple[float, str, str]]:
    curve = [(b, data.intervals(f"span_recall@tokens={b}")[index]) for b in budgets]
    known = [(b, it) for b, it in curve if it is not None]
    if not known:
        return []
    style = series_style(number)
    x = [b for b, _ in known]
    axes.plot(x, [it.mean for _, it in known], markersize=5, linewidth=1.8, **style)
    low, high = [it.low for _, it in known], [it.high for _, it in known]
    axes.fill_between(x, low, high, color=style["color"], alpha=0.08, linewidth=0)
    mark = data.marks.named(index).partition(",")[0]
    name = shorten(data.short_labels[index], 34) + (f" ({mark})" if mark in ("chosen", "baseline") else "")
    return [(known[-1][1].mean, name, text_colour(number))]


def _mark_budget(axes: Axes, budget: int) -> None:
    axes.axvline(budget, color="#444444", linewidth=1, linestyle=(0, (2, 2)))
    text = f"budget {budget:,}"
    axes.annotate(
        text, (budget, 0.02), xytext=(-4, 0), textcoords="offset points", fontsize=8, color="#444444", ha="right"
    )


def budget_figure(data: SweepData) -> Figure:
    """Figure 1 on its own."""
    figure, axes = new_figure(9.4, 4.6)
    draw_budget(axes, data)
    return figure


def budget_numbers(data: SweepData) -> Numbers:
    """Recall of each drawn point at each budget."""
    rows = [
        [data.points[i].label, data.family(i), budget, *cells(data.intervals(f"span_recall@tokens={budget}")[i])]
        for i in best_of_each(data)
        for budget in sorted(data.header["cuts"]["tokens"])
    ]
    return Numbers(["point", "strategy", "tokens", "recall", "low", "high", "n"], rows)


BUDGET = Kind(
    "budget",
    "Recall against retrieved tokens",
    "How much of the evidence reaches the generator when every setting may hand over the same number of tokens.",
    budget_figure,
    budget_numbers,
)
