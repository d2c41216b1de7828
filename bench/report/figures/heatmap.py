"""Figure 4: size x overlap, a panel for each strategy and embedder, all on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bench.report.data import SweepData
from bench.report.figures.base import Kind, Numbers, axis_number, caption, cells
from bench.report.style import empty, new_figure, note, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_PANELS = 12


def draw_heatmap(
    axes: Axes, data: SweepData, members: Sequence[int] | None = None, limits: tuple[float, float] | None = None
) -> None:
    """Draw headline recall over size (rows) and overlap (columns); several points of one cell show their mean.

    Args:
        axes: where to draw.
        data: the sweep.
        members: the points of this panel; None: those of the first strategy.
        limits: ends of the colour scale; None: those of the whole sweep.
    """
    panels = panels_of(data)
    chosen = members if members is not None else next(iter(panels.values()), [])
    if not chosen:
        empty(axes, "no swept sizes to show")
        return
    low, high = limits or scale_of(data, panels)
    sizes = sorted({axis_number(data.points[i].axes.get("size")) for i in chosen})
    overlaps = sorted({axis_number(data.points[i].axes.get("overlap")) for i in chosen})
    found: dict[tuple[int, int], list[float]] = {}
    for i in chosen:
        mean, values = data.points[i].mean(data.headline), data.points[i].axes
        place = sizes.index(axis_number(values.get("size"))), overlaps.index(axis_number(values.get("overlap")))
        found.setdefault(place, []).extend([] if mean is None else [mean])
    grid = [[_average(found.get((row, column), [])) for column in range(len(overlaps))] for row in range(len(sizes))]
    axes.imshow(grid, cmap="cividis", vmin=low, vmax=high, aspect="auto")
    axes.grid(visible=False)
    axes.set_xticks(range(len(overlaps)), [f"{o:g}" for o in overlaps])
    axes.set_yticks(range(len(sizes)), [f"{s:g}" for s in sizes])
    _write_values(axes, grid, (low + high) / 2)
    _frame_marks(axes, data, chosen, sizes, overlaps)


def _average(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _write_values(axes: Axes, grid: Sequence[Sequence[float]], middle: float) -> None:
    small = max(len(grid), len(grid[0])) > 8
    for row, values in enumerate(grid):
        for column, value in enumerate(values):
            if value == value:
                colour = "white" if value < middle else "black"
                text = f"{100 * value:.0f}" if small else f"{100 * value:.1f}"
                axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=6 if small else 9)


def _frame_marks(
    axes: Axes, data: SweepData, members: Sequence[int], sizes: Sequence[float], overlaps: Sequence[float]
) -> None:
    from matplotlib.patches import Rectangle

    for index, line in ((data.marks.chosen, "-"), (data.marks.baseline, ":")):
        if index in members and index is not None:
            values = data.points[index].axes
            column, row = (
                overlaps.index(axis_number(values.get("overlap"))),
                sizes.index(axis_number(values.get("size"))),
            )
            for colour, width in (("white", 4.0), ("black", 1.8)):
                place = (column - 0.47, row - 0.47)
                axes.add_patch(
                    Rectangle(place, 0.94, 0.94, fill=False, edgecolor=colour, linewidth=width, linestyle=line)
                )


def panels_of(data: SweepData) -> dict[str, list[int]]:
    """Points with a size and a score, by strategy (and embedder)."""
    panels: dict[str, list[int]] = {}
    for i, point in enumerate(data.points):
        if "size" in point.axes and point.mean(data.headline) is not None:
            panels.setdefault(data.family(i), []).append(i)
    return panels


def scale_of(data: SweepData, panels: dict[str, list[int]]) -> tuple[float, float]:
    """Ends of the one colour scale; a hair apart where all values are equal."""
    values = [data.points[i].mean(data.headline) or 0.0 for members in panels.values() for i in members]
    low, high = min(values), max(values)
    return (low, high) if high - low > 1e-9 else (low - 0.01, high + 0.01)


def heatmap_figure(data: SweepData) -> Figure:
    """Figure 4: at most twelve panels, the strategies with the best points first."""
    from matplotlib.figure import Figure

    panels = panels_of(data)
    if not panels:
        figure, axes = new_figure(6, 3)
        empty(axes, "no swept sizes to show")
        return figure
    limits = scale_of(data, panels)
    best = sorted(panels, key=lambda name: -max(data.points[i].mean(data.headline) or 0.0 for i in panels[name]))
    shown = best[:MAX_PANELS]
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(1.4 + 3.0 * columns, 1.2 + 2.5 * rows), layout="constrained")
    all_axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, name in zip(all_axes, shown, strict=False):
        draw_heatmap(axes, data, panels[name], limits)
        axes.set_title(shorten(name, 32), fontsize=9.5, loc="left")
        axes.set(xlabel="overlap", ylabel="size")
    for axes in all_axes[len(shown) :]:
        axes.set_axis_off()
    figure.suptitle(f"Evidence recall (%) at {data.budget_tokens:,} tokens", fontsize=11, x=0.01, ha="left")
    left = f" {len(best) - len(shown)} more strategies are in the table." if len(best) > len(shown) else ""
    frames = " Framed: the chosen setting (dotted: today's)." if data.marks.chosen is not None else ""
    note(all_axes[0], caption(data, f"One colour scale for all panels.{frames}{left}"))
    return figure


def heatmap_numbers(data: SweepData) -> Numbers:
    """Recall of each size and overlap."""
    rows: list[list[Any]] = []
    for name, members in panels_of(data).items():
        for i in members:
            point = data.points[i]
            interval = data.intervals(data.headline)[i]
            rows.append([name, point.axes.get("size"), point.axes.get("overlap"), point.label, *cells(interval)])
    return Numbers(["strategy", "size", "overlap", "point", "recall", "low", "high", "n"], rows)


HEATMAP = Kind(
    "heatmap",
    "Size and overlap",
    "Where in the grid of sizes and overlaps recall is high: a broad plateau is a safe choice, a lone peak is not.",
    heatmap_figure,
    heatmap_numbers,
)
