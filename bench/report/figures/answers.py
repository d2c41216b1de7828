"""The answers of every setting beside what it found: a column a measure, a row a setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.report.data import Interval, SweepData
from bench.report.figures.base import Kind, Numbers, caption, cells
from bench.report.style import empty, new_figure, note, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_ROWS = 24
NONE = "No answers were judged in this sweep: choose a generator and a judge to see them beside recall."
JUDGED = {
    "faithfulness": "faithfulness",
    "answer_correctness": "correctness",
    "decline_rate": "declined where\nnothing answers",
    "false_refusal": "declined where\nan answer exists",
}


def columns(data: SweepData) -> dict[str, str]:
    """Measures that the sweep has, with their titles: recall and precision at the budget, then those of the answers."""
    cut = data.headline.partition("@")[2]
    found = {data.headline: "evidence recall", f"span_precision@{cut}": "evidence precision", **JUDGED}
    return {name: title for name, title in found.items() if data.has(name)}


def generator_note(data: SweepData) -> str:
    """What the records say of generator and judge that a reader must know; "" for nothing."""
    described = [point.provenance.get("answers") or {} for point in data.points]
    notes = {str((one.get("generator") or {}).get("note") or "") for one in described}
    said = " ".join(sorted(notes - {""}))
    same = " The judge is the model that answered." if any(one.get("judge_is_generator") for one in described) else ""
    return (f" Generator: {said}." if said else "") + same


def draw_answers(axes: Axes, data: SweepData, measure: str = "faithfulness", title: str = "") -> None:
    """Draw one measure of the best settings with 95 % bars, best recall on top; the chosen one is a diamond."""
    if not data.has(measure):
        empty(axes, NONE)
        return
    known = data.intervals(measure)
    rows = _rows(data)
    for row, index in enumerate(rows):
        one = known[index]
        if one is not None:
            _draw(axes, row, one, chosen=index == data.marks.chosen)
    axes.set_title(f"{title or measure}\n(n = {scored([known[i] for i in rows])})", loc="left", fontsize=9.5)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.locator_params(axis="x", nbins=3)
    low, high = axes.get_xlim()
    edge = 0.04 * (high - low)
    axes.set_xlim(max(low, -edge), min(high, 1 + edge))  # every one of them is a share
    axes.grid(visible=False, axis="y")


def _draw(axes: Axes, row: int, one: Interval, *, chosen: bool) -> None:
    colour = "#D55E00" if chosen else "#0072B2"
    axes.plot([one.low, one.high], [row, row], color=colour, linewidth=1.5, solid_capstyle="butt")
    axes.plot(one.mean, row, marker="D" if chosen else "o", markersize=5.5, color=colour, linestyle="none")


def _rows(data: SweepData) -> list[int]:
    ordered = data.best_first()
    best = ordered[:MAX_ROWS]
    return best + [i for i in ordered[MAX_ROWS:] if i == data.marks.chosen]


def scored(known: list[Interval | None]) -> str:
    """How many questions were scored, from the fewest to the most of any setting."""
    counts = {one.n for one in known if one is not None}
    return "0" if not counts else f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"


def answers_figure(data: SweepData) -> Figure:
    """All columns side by side, over one list of settings."""
    from matplotlib.figure import Figure

    shown = columns(data)
    if not any(name in shown for name in JUDGED):
        figure, axes = new_figure(8.4, 2.4)
        empty(axes, NONE)
        return figure
    rows = _rows(data)
    figure = Figure(figsize=(2.6 + 1.75 * len(shown), 1.7 + 0.26 * max(4, len(rows))), layout="constrained")
    panels = list(figure.subplots(1, len(shown), sharey=True, squeeze=False).ravel())
    for axes, (measure, title) in zip(panels, shown.items(), strict=True):
        draw_answers(axes, data, measure, title)
    panels[0].set_yticks(range(len(rows)), [shorten(data.short_labels[i], 38) for i in rows], fontsize=8.5)
    left = f" {len(data.points) - len(rows)} more are in the table." if len(data.points) > len(rows) else ""
    bars = f"Answers from {data.budget_tokens:,} tokens. Bars: 95 % bootstrap by {data.unit}. Diamond: chosen.{left}"
    note(panels[0], caption(data, bars + generator_note(data)))
    return figure


def answers_numbers(data: SweepData) -> Numbers:
    """Every column of every setting, with the number of questions that have it."""
    shown = columns(data)
    names = ["point", *(cell for name in shown for cell in (name, "low", "high", "n"))]
    rows = [
        [data.points[i].label, *(cell for name in shown for cell in cells(data.intervals(name)[i]))]
        for i in data.best_first()
    ]
    return Numbers(names, rows)


ANSWERS = Kind(
    "answers",
    "Answers beside retrieval",
    "Whether what is found becomes right, faithful answers, and whether refusals are right.",
    answers_figure,
    answers_numbers,
)
