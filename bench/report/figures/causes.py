"""Why evidence was missed, by strategy: whether to change the chunker, the embedder, k or the prompt."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from bench.report.causes import BY_NAME, NAMES
from bench.report.data import SweepData
from bench.report.diagnosis import diagnosis_of
from bench.report.figures.base import Kind, Numbers
from bench.report.style import COLOURS, empty, new_figure, note, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_ROWS = 12
HATCHES = ("", "///", "...", "\\\\\\", "xx", "--")
REST = "other causes"


def shares(data: SweepData) -> dict[str, dict[str, float]]:
    """Strategy to cause to the share of its questions (all of its points together) that fail for it."""
    found = diagnosis_of(data)
    sizes = Counter(data.family(i) for i in range(len(data.points)))
    return {
        name: {cause: counts[cause] / max(1, sizes[name] * found.n) for cause in NAMES if counts[cause]}
        for name, counts in found.by_family(data).items()
    }


def draw_causes(axes: Axes, data: SweepData) -> None:
    """Draw a stacked bar a strategy: share of the questions that fail, by cause; at most six causes are told apart."""
    found = shares(data)
    total: Counter[str] = Counter()
    for causes in found.values():
        total.update(causes)
    if not total:
        empty(axes, "nothing missed, or nothing that can be told: the sweep keeps no documents or no evidence")
        return
    many = len(total) > len(COLOURS)
    named = sorted(
        [cause for cause, _ in total.most_common(len(COLOURS) - 1 if many else len(COLOURS))], key=NAMES.index
    )
    rows = sorted(found, key=lambda name: -sum(found[name].values()))[:MAX_ROWS]
    left = [0.0] * len(rows)
    for number, cause in enumerate([*named, REST] if many else named):
        values = [_value(found[row], cause, named) for row in rows]
        title = BY_NAME[cause].title if cause in BY_NAME else REST
        axes.barh(
            range(len(rows)), values, left=left, label=title, color=COLOURS[number], hatch=HATCHES[number],
            edgecolor="white", linewidth=0.8, height=0.62,
        )  # fmt: skip
        _write_shares(axes, values, left)
        left = [a + b for a, b in zip(left, values, strict=True)]
    axes.set_yticks(range(len(rows)), [shorten(row, 34) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, max(left) * 1.04)
    axes.set(xlabel="share of the questions, %")
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g}")
    axes.grid(visible=False, axis="y")


def _value(causes: dict[str, float], cause: str, named: list[str]) -> float:
    if cause == REST:
        return sum(value for name, value in causes.items() if name not in named)
    return causes.get(cause, 0.0)


def _write_shares(axes: Axes, values: list[float], left: list[float]) -> None:
    for row, (value, start) in enumerate(zip(values, left, strict=True)):
        if value >= 0.012:
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2, "alpha": 0.85}
            axes.text(start + value / 2, row, f"{100 * value:.1f}", ha="center", va="center", fontsize=7.5, bbox=box)


def causes_figure(data: SweepData) -> Figure:
    """The causes on their own."""
    rows = min(MAX_ROWS, max(2, len({data.family(i) for i in range(len(data.points))})))
    figure, axes = new_figure(9.4, 2.0 + 0.42 * rows)
    draw_causes(axes, data)
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper left", ncols=3, frameon=False, fontsize=8.5)
        text = f"At {data.budget_tokens:,} tokens, all settings of a strategy together; one cause a miss."
        answered = sum(point.mean("faithfulness") is not None for point in data.points)
        if 0 < answered < len(data.points):
            text += f" Answers were looked at in {answered} of {len(data.points)} settings only."
        note(axes, f"{data.header['corpus']['name']}, n = {len(data.question_ids)} questions. {text}")
    return figure


def causes_numbers(data: SweepData) -> Numbers:
    """Counts of every cause by strategy."""
    found = diagnosis_of(data).by_family(data)
    present = [cause for cause in NAMES if any(counts[cause] for counts in found.values())]
    rows = [[name, *[counts[cause] for cause in present], sum(counts.values())] for name, counts in found.items()]
    return Numbers(["strategy", *[BY_NAME[cause].title for cause in present], "all"], rows)


CAUSES_KIND = Kind(
    "causes",
    "Why evidence was missed",
    "Which part to change: the chunker, the embedder, k or the prompt.",
    causes_figure,
    causes_numbers,
)
