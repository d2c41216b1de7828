"""The figures of a sweep, each drawn into a Matplotlib Axes: budget, trade-off, heat map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.report.data import Interval, SweepData
from bench.report.style import MAX_SERIES, new_figure, note, save, series_style, shorten, spread, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_budget(axes: Axes, data: SweepData) -> None:
    """Recall against retrieved tokens: the best point of each strategy, 95 % bands, the production budget marked."""
    axes.set(xlabel="retrieved tokens (log scale)", ylabel="evidence recall", ylim=(0, 1.02))
    axes.set_title("Evidence recall at equal context", loc="left", fontsize=11)
    budgets = sorted(int(b) for b in data.header["cuts"]["tokens"])
    curves = {b: data.intervals(f"span_recall@tokens={b}") for b in budgets}
    chosen = best_of_each(data)
    ends, names = [], []
    for number, index in enumerate(chosen):
        known = [(b, it) for b in budgets if (it := curves[b][index]) is not None]
        if not known:
            continue
        style = series_style(number)
        axes.plot([b for b, _ in known], [it.mean for _, it in known], markersize=5, linewidth=1.8, **style)
        axes.fill_between(
            [b for b, _ in known],
            [it.low for _, it in known],
            [it.high for _, it in known],
            color=style["color"],
            alpha=0.10,
            linewidth=0,
        )
        ends.append(known[-1][1].mean)
        names.append((data.points[index].label, style["color"]))
    if not ends:
        _empty(axes, "no point has a recall to show")
        return
    axes.set_xscale("log", base=2)
    axes.set_xticks(budgets, [f"{b:,}" for b in budgets])
    axes.minorticks_off()
    axes.set_xlim(budgets[0] * 0.9, budgets[-1] * 1.06)
    axes.axvline(data.budget_tokens, color="#444444", linewidth=1, linestyle=(0, (2, 2)))
    axes.annotate(
        f"budget {data.budget_tokens:,}", (data.budget_tokens, 0.02), xytext=(-4, 0), textcoords="offset points",
        fontsize=8, color="#444444", ha="right",
    )  # fmt: skip
    for (name, colour), height in zip(names, spread(ends, 0.052), strict=True):
        axes.annotate(
            shorten(name, 34),
            (1.01, height),
            xycoords=("axes fraction", "data"),
            color=colour,
            fontsize=8.5,
            va="center",
        )
    note(axes, _caption(data, f"best setting of each strategy at {data.budget_tokens:,} tokens; bands"))


def draw_tradeoff(axes: Axes, data: SweepData) -> None:
    """Precision against recall at the headline budget cut of k: every point, error bars, the Pareto front joined."""
    recall_name, precision_name = data.headline, data.headline.replace("span_recall", "span_precision")
    recall, precision = data.intervals(recall_name), data.intervals(precision_name)
    axes.set(xlabel="evidence recall", ylabel="evidence precision")
    axes.set_title(f"Precision and recall at {data.budget_tokens:,} tokens", loc="left", fontsize=11)
    known = [i for i in range(len(data.points)) if recall[i] is not None and precision[i] is not None]
    if not known:
        _empty(axes, "no point has both measures")
        return
    pairs = {i: (_mean(recall[i]), _mean(precision[i])) for i in known}
    families = list(dict.fromkeys(_family(data, i) for i in known))
    for number, family in enumerate(families):
        members = [i for i in known if _family(data, i) == family]
        style = series_style(number) | {"linestyle": "none"}
        x, y = [pairs[i][0] for i in members], [pairs[i][1] for i in members]
        across, up = _bars([recall[i] for i in members]), _bars([precision[i] for i in members])
        axes.errorbar(x, y, up, across, markersize=6, elinewidth=0.7, alpha=0.85, label=shorten(family, 30), **style)
    front = pareto([pairs[i] for i in known])
    ordered = sorted((known[j] for j in front), key=lambda i: pairs[i])
    axes.plot([pairs[i][0] for i in ordered], [pairs[i][1] for i in ordered], color="#333333", linewidth=1, zorder=1)
    labelled = sorted(ordered, key=lambda i: -pairs[i][0])[:MAX_SERIES]
    for number, index in enumerate(labelled, 1):
        axes.annotate(str(number), pairs[index], xytext=(5, 5), textcoords="offset points", fontsize=9, weight="bold")
        text = f"{number}  {shorten(data.points[index].label, 32)}"
        axes.annotate(text, (1.02, 1 - 0.06 * number), xycoords="axes fraction", fontsize=8.5, va="center")
    axes.annotate("Front, by recall", (1.02, 1.0), xycoords="axes fraction", fontsize=8.5, color="#555555", va="center")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8.5, handletextpad=0.4)
    note(axes, _caption(data, "line: settings that no other beats on both; bars"))


def draw_heatmap(axes: Axes, data: SweepData, members: Sequence[int], limits: tuple[float, float]) -> None:
    """Headline recall over size (rows) and overlap (columns) of one strategy and embedder."""
    points = [data.points[i] for i in members]
    sizes = sorted({_number(p.axes.get("size")) for p in points})
    overlaps = sorted({_number(p.axes.get("overlap")) for p in points})
    grid = [[float("nan")] * len(overlaps) for _ in sizes]
    for point in points:
        mean = point.mean(data.headline)
        if mean is not None:
            grid[sizes.index(_number(point.axes.get("size")))][overlaps.index(_number(point.axes.get("overlap")))] = (
                mean
            )
    axes.imshow(grid, cmap="cividis", vmin=limits[0], vmax=limits[1], aspect="auto")
    axes.grid(visible=False)
    axes.set_xticks(range(len(overlaps)), [f"{o:g}" for o in overlaps])
    axes.set_yticks(range(len(sizes)), [f"{s:g}" for s in sizes])
    middle = (limits[0] + limits[1]) / 2
    for row, values in enumerate(grid):
        for column, value in enumerate(values):
            if value == value:
                colour = "white" if value < middle else "black"
                axes.text(column, row, f"{100 * value:.1f}", ha="center", va="center", color=colour, fontsize=9)


def budget_figure(data: SweepData, stem: Path) -> list[Path]:
    """Write figure 1: recall against retrieved tokens."""
    return _one(draw_budget, data, stem)


def tradeoff_figure(data: SweepData, stem: Path) -> list[Path]:
    """Write figure 2: precision against recall."""
    return _one(draw_tradeoff, data, stem)


def heatmap_figure(data: SweepData, stem: Path) -> list[Path]:
    """Write figure 4: size x overlap, a panel for each strategy and embedder, all on one scale."""
    from matplotlib.figure import Figure

    with styled():
        panels: dict[str, list[int]] = {}
        for i, point in enumerate(data.points):
            if "size" in point.axes and point.mean(data.headline) is not None:
                panels.setdefault(_family(data, i), []).append(i)
        if not panels:
            figure, axes = new_figure(6, 3)
            _empty(axes, "no swept sizes to show")
            return save(figure, stem)
        values = [data.points[i].mean(data.headline) or 0.0 for members in panels.values() for i in members]
        limits = (min(values), max(values)) if max(values) > min(values) else (min(values) - 0.01, max(values) + 0.01)
        columns = min(3, len(panels))
        rows = -(-len(panels) // columns)
        figure = Figure(figsize=(1.2 + 3.0 * columns, 0.9 + 2.7 * rows), layout="constrained")
        all_axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, (family, members) in zip(all_axes, panels.items(), strict=False):
            draw_heatmap(axes, data, members, limits)
            axes.set_title(shorten(family, 34), fontsize=9.5, loc="left")
            axes.set(xlabel="overlap", ylabel="size")
        for axes in all_axes[len(panels) :]:
            axes.set_axis_off()
        figure.suptitle(f"Evidence recall (%) at {data.budget_tokens:,} tokens", fontsize=11, x=0.01, ha="left")
        note(all_axes[0], f"{_questions(data)} questions; one colour scale for all panels")
        return save(figure, stem)


FIGURES: dict[str, Callable[[SweepData, Path], list[Path]]] = {
    "budget": budget_figure,
    "tradeoff": tradeoff_figure,
    "heatmap": heatmap_figure,
}


def pareto(pairs: Sequence[tuple[float, float]]) -> list[int]:
    """Indices of the pairs that no other pair equals or beats on both values while beating it on one."""
    return [i for i, (x, y) in enumerate(pairs) if not any(a >= x and b >= y and (a > x or b > y) for a, b in pairs)]


def best_of_each(data: SweepData) -> list[int]:
    """The best point by headline of each strategy and embedder, at most six, best first."""
    best: dict[str, int] = {}
    for index in data.best_first():
        best.setdefault(_family(data, index), index)
    return list(best.values())[:MAX_SERIES]


def _one(draw: Callable[[Axes, SweepData], None], data: SweepData, stem: Path) -> list[Path]:
    with styled():
        figure, axes = new_figure()
        draw(axes, data)
        return save(figure, stem)


def _family(data: SweepData, index: int) -> str:
    """Strategy of a point, with its embedder and retriever where the sweep has several."""
    names = ("strategy", "embedder", "retriever")
    varied = [n for n in names if n == "strategy" or len({p.axes.get(n) for p in data.points}) > 1]
    return " · ".join(str(data.points[index].axes.get(n, "")) for n in varied)


def _caption(data: SweepData, shown: str) -> str:
    name = data.header["corpus"]["name"]
    return f"{name}: {_questions(data)} questions; {shown}: 95 % bootstrap by document"


def _questions(data: SweepData) -> int:
    return max((p.estimates.get(data.headline, {}).get("n_scored", 0) for p in data.points), default=0)


def _mean(interval: Interval | None) -> float:
    return interval.mean if interval is not None else float("nan")


def _bars(intervals: Sequence[Interval | None]) -> list[list[float]]:
    known = [it for it in intervals if it is not None]
    return [[max(0.0, it.mean - it.low) for it in known], [max(0.0, it.high - it.mean) for it in known]]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _empty(axes: Axes, why: str) -> None:
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center", color="#555555")
