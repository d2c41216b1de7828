"""Figure 2: precision against recall (and faithfulness where answers were judged), with error bars and the front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.report.data import Interval, SweepData
from bench.report.figures.answers import generator_note, scored
from bench.report.figures.base import Kind, Numbers, bars, caption, cells, families, mean_of, pareto
from bench.report.style import MAX_SERIES, empty, note, number_points, series_style, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

K_CUT = "k=5"
RING: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "none", "zorder": 5}
RINGS: dict[str, dict[str, Any]] = {
    "chosen": {"marker": "o", "markersize": 15, "markeredgewidth": 2.0, "markeredgecolor": "#000000"},
    "baseline": {"marker": "s", "markersize": 15, "markeredgewidth": 1.4, "markeredgecolor": "#000000"},
    "cannot be told apart": {"marker": "o", "markersize": 11, "markeredgewidth": 0.7, "markeredgecolor": "#777777"},
}


@dataclass(frozen=True, slots=True)
class Panel:
    """Two measures to hold against each other: full name and axis label of each."""

    x: str
    y: str
    x_label: str
    y_label: str
    title: str


def panels(data: SweepData) -> list[Panel]:
    """Precision at equal tokens and at k = 5; faithfulness and correctness where answers were judged and differ."""
    budget = f"{data.budget_tokens:,} tokens"
    cut = data.headline.partition("@")[2]
    equal = Panel(
        data.headline, f"span_precision@{cut}", "evidence recall", "evidence precision", f"At equal context: {budget}"
    )
    at_k = Panel(
        f"span_recall@{K_CUT}", f"span_precision@{K_CUT}", "evidence recall", "evidence precision",
        "At k = 5 chunks: context differs",
    )  # fmt: skip
    shown = [equal, at_k]
    for name, label in (("faithfulness", "faithfulness"), ("answer_correctness", "correctness")):
        if len({point.mean(name) for point in data.points} - {None}) > 1:
            title = f"Answers from {budget}: {label} (n = {scored(data.intervals(name))})"
            shown.append(Panel(data.headline, name, "evidence recall", label, title))
    return [panel for panel in shown if data.has(panel.x) and data.has(panel.y)]


def draw_tradeoff(axes: Axes, data: SweepData, panel: Panel | None = None) -> list[int]:
    """Draw every point of one panel, with error bars and the Pareto front; return the numbered points, in order."""
    shown = panel or next(iter(panels(data)), None)
    if shown is None:
        empty(axes, "no point has both a recall and a precision")
        return []
    axes.set(xlabel=shown.x_label, ylabel=shown.y_label)
    axes.set_title(shown.title, loc="left", fontsize=10.5)
    x, y = data.intervals(shown.x), data.intervals(shown.y)
    known = [i for i in range(len(data.points)) if x[i] is not None and y[i] is not None]
    if not known:
        empty(axes, "no point has both measures")
        return []
    pairs = {i: (mean_of(x[i]), mean_of(y[i])) for i in known}
    _draw_families(axes, data, known, x, y)
    ordered = sorted((known[j] for j in pareto([pairs[i] for i in known])), key=lambda i: pairs[i])
    axes.plot(*zip(*[pairs[i] for i in ordered], strict=True), color="#333333", linewidth=1, zorder=1)
    _draw_rings(axes, data, pairs)
    return ordered


def _draw_families(
    axes: Axes, data: SweepData, known: Sequence[int], x: Sequence[Interval | None], y: Sequence[Interval | None]
) -> None:
    names = families(data, known)
    for number, name in enumerate(names):
        members = [i for i in known if (own := data.family(i)) == name or (own not in names and name == "others")]
        style = series_style(number)
        across, up = bars([x[i] for i in members]), bars([y[i] for i in members])
        where = [mean_of(x[i]) for i in members], [mean_of(y[i]) for i in members]
        axes.errorbar(*where, up, across, fmt="none", ecolor=style["color"], elinewidth=0.7, alpha=0.3)
        marker: dict[str, Any] = {"color": style["color"], "marker": style["marker"], "linestyle": "none"}
        axes.plot(*where, markersize=6, markeredgecolor="white", markeredgewidth=0.5, label=shorten(name, 30), **marker)


def _draw_rings(axes: Axes, data: SweepData, pairs: dict[int, tuple[float, float]]) -> None:
    marks = data.marks
    groups = {
        "cannot be told apart": [i for i in marks.alike if i != marks.chosen],
        "baseline": [i for i in (marks.baseline,) if i is not None],
        "chosen": [i for i in (marks.chosen,) if i is not None],
    }
    for name, members in groups.items():
        places = [pairs[i] for i in members if i in pairs]
        if places:
            axes.plot(*zip(*places, strict=True), label=name, **RING, **RINGS[name])


def numbered(data: SweepData, fronts: Sequence[int]) -> list[int]:
    """Points that get a number: the chosen, today's, then those of the front, at most six."""
    wanted = [i for i in (data.marks.chosen, data.marks.baseline) if i is not None]
    by_score = {i: place for place, i in enumerate(data.best_first())}
    return list(dict.fromkeys([*wanted, *sorted(fronts, key=by_score.__getitem__)]))[:MAX_SERIES]


def tradeoff_figure(data: SweepData) -> Figure:
    """Figure 2: a panel at equal tokens, one at k = 5, one of answers; one list of the numbered points."""
    from matplotlib.figure import Figure

    shown = panels(data)
    rows, columns = (2 if len(shown) > 2 else 1), min(2, max(1, len(shown)))
    figure = Figure(figsize=(1.5 + 5 * columns, 1.4 + 4.2 * rows), layout="constrained")
    all_axes = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for axes in all_axes[len(shown) :]:
        axes.set_axis_off()
    if not shown:
        empty(all_axes[0], "no point has both a recall and a precision")
        return figure
    fronts = [draw_tradeoff(axes, data, panel) for axes, panel in zip(all_axes, shown, strict=False)]
    listed = numbered(data, [i for front in fronts for i in front])
    handles, labels = all_axes[0].get_legend_handles_labels()
    names = [f"{n}  {shorten(data.short_labels[i], 34)}" for n, i in enumerate(listed, 1)]
    _legend(figure, handles, labels, names)
    said = f"Line: settings that no other beats on both. Bars: 95 % bootstrap by {data.unit}."
    note(all_axes[0], caption(data, said + (generator_note(data) if len(shown) > 2 else "")))
    figure.draw_without_rendering()
    for axes, panel in zip(all_axes, shown, strict=False):
        x, y = data.intervals(panel.x), data.intervals(panel.y)
        here = [(n, i) for n, i in enumerate(listed, 1) if x[i] is not None and y[i] is not None]
        number_points(axes, [(mean_of(x[i]), mean_of(y[i])) for _, i in here], [str(n) for n, _ in here])
    return figure


def _legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], names: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    blank = [Line2D([], [], linestyle="none") for _ in names]
    columns = 3 if figure.get_size_inches()[0] > 9 else 2
    figure.legend(
        [*handles, *blank], [*labels, *names], loc="outside upper left", ncols=columns, frameon=False, fontsize=8.5,
        handletextpad=0.4, columnspacing=1.4, markerscale=0.65,
    )  # fmt: skip


def tradeoff_numbers(data: SweepData) -> Numbers:
    """Both measures of every panel for every point, with what the point is marked as."""
    measures = list(dict.fromkeys(name for panel in panels(data) for name in (panel.x, panel.y)))
    columns = ["point", "strategy", "mark"]
    for name in measures:
        columns += [name, "low", "high", "n"]
    rows = [
        [data.points[i].label, data.family(i), data.marks.named(i), *_cells(data, measures, i)]
        for i in data.best_first()
    ]
    return Numbers(columns, rows)


def _cells(data: SweepData, measures: Sequence[str], index: int) -> list[object]:
    return [cell for name in measures for cell in cells(data.intervals(name)[index])]


TRADEOFF = Kind(
    "tradeoff",
    "Trade-off",
    "Every setting: what it finds against how much else it brings. Ringed: the chosen setting, today's, and those "
    "that cannot be told from the best.",
    tradeoff_figure,
    tradeoff_numbers,
)
