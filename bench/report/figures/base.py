"""What the figures share: the numbers behind a figure, series, captions, bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.report.data import Interval, SweepData
from bench.report.style import MAX_SERIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Numbers:
    """The table behind a figure: column names and rows of text and numbers (None: undefined)."""

    columns: list[str]
    rows: list[list[Any]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of figure: its title, what it says in a sentence, how it is drawn, the numbers behind it."""

    name: str
    title: str
    says: str
    figure: Callable[[SweepData], Figure]
    numbers: Callable[[SweepData], Numbers]


def families(data: SweepData, members: Sequence[int]) -> list[str]:
    """Families of the points in order of first use; beyond six the last is called "others"."""
    names = list(dict.fromkeys(data.family(i) for i in members))
    return names if len(names) <= MAX_SERIES else [*names[: MAX_SERIES - 1], "others"]


def best_of_each(data: SweepData) -> list[int]:
    """The best point by headline of each family, at most six, best first; the chosen one and today's among them."""
    best: dict[str, int] = {}
    for index in data.best_first():
        best.setdefault(data.family(index), index)
    wanted = [i for i in (data.marks.chosen, data.marks.baseline) if i is not None]
    order = [*wanted, *best.values()]
    return list(dict.fromkeys(order))[:MAX_SERIES]


def caption(data: SweepData, shown: str, measure: str = "") -> str:
    """Corpus, number of questions, and what is shown."""
    return f"{data.header['corpus']['name']}, n = {questions(data, measure)} questions. {shown}"


def questions(data: SweepData, measure: str = "") -> int:
    """Most questions that any point was scored on."""
    name = measure or data.headline
    return max((p.estimates.get(name, {}).get("n_scored", 0) for p in data.points), default=0)


def mean_of(interval: Interval | None) -> float:
    """Its mean; NaN for none."""
    return interval.mean if interval is not None else float("nan")


def bars(intervals: Sequence[Interval | None]) -> list[list[float]]:
    """Distances from the mean to both ends, as Matplotlib wants them; intervals that are None are left out."""
    known = [it for it in intervals if it is not None]
    return [[max(0.0, it.mean - it.low) for it in known], [max(0.0, it.high - it.mean) for it in known]]


def pareto(pairs: Sequence[tuple[float, float]]) -> list[int]:
    """Indices of the pairs that no other pair equals or beats on both values while beating it on one."""
    return [i for i, (x, y) in enumerate(pairs) if not any(a >= x and b >= y and (a > x or b > y) for a, b in pairs)]


def axis_number(value: Any) -> float:
    """A swept value as a number; 0 where it is none."""
    return float(value) if isinstance(value, int | float) else 0.0


def cells(interval: Interval | None) -> list[Any]:
    """Mean, low, high and n of an interval for a table."""
    return [interval.mean, interval.low, interval.high, interval.n] if interval else [None, None, None, 0]
