"""Figure 6: selection against confirmation: how much of the best score is luck."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bench.report.data import SweepData
from bench.report.figures.base import Kind, Numbers, caption
from bench.report.style import empty, new_figure, note
from bench.stats.scores import Mask
from bench.stats.select import can_split, nested, split

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CONFIRM = 1 / 3


@dataclass(frozen=True, slots=True)
class Halves:
    """Means of each point on the questions that select and on those that confirm, and the optimism of the best."""

    points: list[int]
    selected: list[float]
    confirmed: list[float]
    questions: tuple[int, int]
    optimism: float
    how: str


def halves(data: SweepData) -> Halves | None:
    """Split the questions by ``data.unit``, as the decision did if there is one; None where they cannot be split."""
    if not data.points:
        return None
    scores = data.scores(data.headline)
    asked = np.asarray(scores.scored.any(axis=1))
    scores = scores.rows(asked)
    if scores.n_clusters < 2:
        return None
    selection = _selection(data, asked)
    first, second = scores.rows(selection).means(), scores.rows(~selection).means()
    known = [i for i in range(len(data.points)) if first[i] == first[i] and second[i] == second[i]]
    if not known:
        return None
    best = max(known, key=lambda i: first[i])
    repeated = nested(scores, seed=int(data.header["seed"]))
    large = can_split(scores.n_questions, scores.n_clusters)
    optimism = float(first[best] - second[best]) if large else repeated.optimism
    few = f"{repeated.rounds} random halves, too few {data.unit}s for one split"
    how = f"one split by {data.unit}" if large else few
    sizes = int(selection.sum()), int((~selection).sum())
    return Halves(known, [float(first[i]) for i in known], [float(second[i]) for i in known], sizes, optimism, how)


def _selection(data: SweepData, asked: Mask) -> Mask:
    table = data.table
    ids = [name for name, keep in zip(table.question_ids, asked, strict=True) if keep]
    kept = set((data.decision or {}).get("selection", {}).get("confirmation_ids", []))
    if kept & set(ids) and not set(ids) <= kept:
        return np.array([name not in kept for name in ids], dtype=np.bool_)
    categories = [name for name, keep in zip(table.categories, asked, strict=True) if keep]
    clusters = data.scores(data.headline).rows(asked).clusters
    share = CONFIRM if can_split(len(ids), int(clusters.max()) + 1) else 0.5
    chosen = split(clusters, categories, confirm=share, seed=int(data.header["seed"]))
    return chosen if chosen.any() and not chosen.all() else np.asarray(clusters < max(1, int(clusters.max() + 1) // 2))


def draw_optimism(axes: Axes, data: SweepData) -> None:
    """Draw each point: its score where points were chosen against its score on questions that did not choose."""
    found = data.once("halves", halves)
    if found is None:
        empty(axes, "too few documents: the questions cannot be split")
        return
    axes.set(xlabel=f"recall on the {found.questions[0]} selecting questions")
    axes.set(ylabel=f"recall on the {found.questions[1]} confirming questions")
    values = [*found.selected, *found.confirmed]
    low, high = min(values), max(values)
    edge = max(0.01, 0.06 * (high - low))
    axes.set(xlim=(low - edge, high + edge), ylim=(low - edge, high + edge), aspect="equal")
    axes.axline((low, low), slope=1, color="#777777", linewidth=1, linestyle=(0, (3, 2)))
    axes.plot(found.selected, found.confirmed, "o", color="#0072B2", markersize=5.5, markeredgecolor="white")
    best = max(range(len(found.points)), key=found.selected.__getitem__)
    marked = [(found.points[best], "best at selection")]
    if data.marks.chosen in found.points and data.marks.chosen != found.points[best]:
        marked.append((int(data.marks.chosen or 0), "chosen"))
    for index, name in marked:
        place = found.points.index(index)
        x, y = found.selected[place], found.confirmed[place]
        axes.plot([x, x], [y, x], color="#D55E00", linewidth=1.4)
        axes.plot([x], [y], "D", color="#D55E00", markersize=7, label=f"{name}: {data.points[index].label}")
    axes.legend(loc="upper left", frameon=False, fontsize=8.5)


def optimism_figure(data: SweepData) -> Figure:
    """Figure 6 on its own."""
    figure, axes = new_figure(6.6, 6.0)
    draw_optimism(axes, data)
    axes.set_title("Selection against confirmation", loc="left", fontsize=11)
    found = data.once("halves", halves)
    if found is not None:
        text = f"On the line: the score holds. Optimism of the best: {100 * found.optimism:+.1f} points ({found.how})."
        note(axes, caption(data, f"At {data.budget_tokens:,} tokens. {text}"))
    return figure


def optimism_numbers(data: SweepData) -> Numbers:
    """Both means of every point."""
    found = data.once("halves", halves)
    columns = ["point", "selection", "confirmation", "difference", "n selecting", "n confirming"]
    if found is None:
        return Numbers(columns, [])
    rows = [
        [data.points[i].label, a, b, a - b, *found.questions]
        for i, a, b in zip(found.points, found.selected, found.confirmed, strict=True)
    ]
    return Numbers(columns, sorted(rows, key=lambda row: -float(row[1])))


OPTIMISM = Kind(
    "optimism",
    "Selection against confirmation",
    "The best of many settings is partly lucky: how its score holds on questions that did not choose it.",
    optimism_figure,
    optimism_numbers,
)
