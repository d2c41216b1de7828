"""Figure 5, faithfulness against context tokens, and recall beside what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bench.report.data import Interval, SweepData
from bench.report.figures.answers import generator_note
from bench.report.figures.base import Kind, Numbers, bars, caption, cells, families, mean_of
from bench.report.figures.tradeoff import RING, RINGS
from bench.report.style import empty, new_figure, note, series_style, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COSTS = {
    "context": "context tokens at k = 5",
    "index": "index, MB",
    "seconds": "seconds to embed the corpus",
    "tokens": "tokens to embed the corpus",
}
FIELDS = {"index": "index_bytes", "seconds": "embedding_s", "tokens": "embedding_tokens"}


def cost_of(data: SweepData, index: int, cost: str) -> float | None:
    """One cost of a point; None where it was not recorded."""
    point = data.points[index]
    if cost == "context":
        return point.mean("context_tokens@k=5")
    value = point.cost.get(FIELDS[cost])
    return None if value is None else float(value) / (1e6 if cost == "index" else 1.0)


def draw_scatter(axes: Axes, data: SweepData, x: Sequence[float | None], y: Sequence[Interval | None]) -> bool:
    """Draw points by family with 95 % bars upwards, marks ringed; False where nothing has both values."""
    known = [i for i in range(len(data.points)) if x[i] is not None and y[i] is not None]
    if not known:
        empty(axes, "no point has both values")
        return False
    names = families(data, known)
    for number, name in enumerate(names):
        members = [i for i in known if (own := data.family(i)) == name or (own not in names and name == "others")]
        style = series_style(number)
        where = [x[i] or 0.0 for i in members], [mean_of(y[i]) for i in members]
        axes.errorbar(
            *where, bars([y[i] for i in members]), fmt="none", ecolor=style["color"], elinewidth=0.7, alpha=0.35
        )
        marker: dict[str, Any] = {"color": style["color"], "marker": style["marker"], "linestyle": "none"}
        axes.plot(*where, markersize=6, markeredgecolor="white", markeredgewidth=0.5, label=shorten(name, 30), **marker)
    for index, mark in ((data.marks.chosen, "chosen"), (data.marks.baseline, "baseline")):
        if index in known and index is not None:
            axes.plot([x[index] or 0.0], [mean_of(y[index])], label=mark, **RING, **RINGS[mark])
    return True


def _log_scale(axes: Axes, values: Sequence[float | None]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    known = [value for value in values if value is not None and value > 0]
    if known and max(known) > 3 * min(known):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())


def draw_cost(axes: Axes, data: SweepData, cost: str = "context") -> None:
    """Draw recall against one cost: "context" (recall at k = 5), "index", "seconds" or "tokens" (at the budget)."""
    measure = "span_recall@k=5" if cost == "context" else data.headline
    values = [cost_of(data, i, cost) for i in range(len(data.points))]
    where = "k = 5" if cost == "context" else f"{data.budget_tokens:,} tokens"
    if draw_scatter(axes, data, values, data.intervals(measure)):
        axes.set(xlabel=COSTS[cost], ylabel=f"evidence recall at {where}")
        _log_scale(axes, values)


def cost_figure(data: SweepData) -> Figure:
    """Recall beside context tokens, index size and embedding time (tokens, where vectors came from the cache)."""
    from matplotlib.figure import Figure

    timed = all(cost_of(data, i, "seconds") is not None for i in range(len(data.points)))
    shown = ("context", "index", "seconds" if timed else "tokens")
    figure = Figure(figsize=(11.5, 4.4), layout="constrained")
    all_axes = figure.subplots(1, len(shown))
    for axes, cost in zip(all_axes, shown, strict=True):
        draw_cost(axes, data, cost)
    handles, labels = all_axes[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper left", ncols=6, frameon=False, fontsize=8.5, markerscale=0.7)
    note(all_axes[0], caption(data, f"Bars: 95 % bootstrap by {data.unit}. Left and low costs are better."))
    return figure


def cost_numbers(data: SweepData) -> Numbers:
    """Every recorded cost of every point."""
    names = list(dict.fromkeys(name for point in data.points for name in point.cost))
    rows = [
        [data.points[i].label, data.points[i].mean(data.headline), data.points[i].mean("context_tokens@k=5")]
        + [data.points[i].cost.get(name) for name in names]
        for i in data.best_first()
    ]
    return Numbers(["point", data.headline, "context_tokens@k=5", *names], rows)


def draw_faithfulness(axes: Axes, data: SweepData) -> None:
    """Draw faithfulness against the context tokens that the generator was given."""
    if not data.has("faithfulness"):
        empty(axes, "No answers were judged in this sweep: choose a generator and a judge to see faithfulness.")
        return
    axes.set_title("Faithfulness of the answers", loc="left", fontsize=11)
    found = data.intervals("faithfulness")
    values, label = _context_axis(data)
    values = [value if found[i] is not None else None for i, value in enumerate(values)]
    if draw_scatter(axes, data, values, found):
        axes.set(xlabel=label, ylabel="faithfulness")
        _log_scale(axes, values)
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.9), 1.02 if high >= 1 else high)


def _context_axis(data: SweepData) -> tuple[list[float | None], str]:
    """Context tokens of each point; where all were given as many, the size of their chunks tells them apart."""
    given = [_given_tokens(data, i) for i in range(len(data.points))]
    known = [value for value in given if value is not None]
    if not known or max(known) - min(known) > 0.02 * max(known):
        return given, "context tokens of a question, mean"
    sizes = [point.realised.get("tokens_per_chunk_median") for point in data.points]
    return sizes, f"tokens of a chunk, median (context: {max(known):,.0f} tokens at every setting)"


def _given_tokens(data: SweepData, index: int) -> float | None:
    point = data.points[index]
    value = point.mean("answer_context_tokens")
    return value if value is not None else point.cost.get("context_tokens")


def faithfulness_figure(data: SweepData) -> Figure:
    """Figure 5 on its own."""
    figure, axes = new_figure(8.4, 4.8)
    draw_faithfulness(axes, data)
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper left", ncols=4, frameon=False, fontsize=8.5, markerscale=0.7)
        said = f"Declined answers are not scored. Bars: 95 % bootstrap by {data.unit}."
        note(
            axes,
            caption(data, said + generator_note(data), "faithfulness"),
        )
    return figure


def faithfulness_numbers(data: SweepData) -> Numbers:
    """Faithfulness and context tokens of every point."""
    rows = [
        [data.points[i].label, _given_tokens(data, i), *cells(data.intervals("faithfulness")[i])]
        for i in data.best_first()
        if data.has("faithfulness")
    ]
    return Numbers(["point", "context tokens", "faithfulness", "low", "high", "n"], rows)


COST = Kind(
    "cost",
    "Quality beside cost",
    "What recall costs in context tokens, in index size and in time to embed.",
    cost_figure,
    cost_numbers,
)
FAITHFULNESS = Kind(
    "faithfulness",
    "Faithfulness against context",
    "Whether more context makes answers more faithful, or only longer.",
    faithfulness_figure,
    faithfulness_numbers,
)
