"""The table of a sweep: ``summary.csv`` for programs, a short one on the terminal for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.report.data import Interval, SweepData
from bench.store import PointRecord, write_bytes

SHOWN = 12


def write_summary(data: SweepData) -> Path:
    """Write one row a point (failed ones and duplicates too), every measure by its full name; empty where undefined."""
    records = [*data.points, *data.duplicates, *data.failed]
    rows = [_row(record) for record in records]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns or ["point_id"], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path = data.folder / "summary.csv"
    write_bytes(path, text.getvalue().encode("utf-8", "surrogatepass"))
    return path


def _row(record: PointRecord) -> dict[str, Any]:
    head = {
        "point_id": record.point_id,
        "label": record.label,
        "status": record.status,
        "reason": record.reason,
        "duplicate_of": record.duplicate_of or "",
    }
    measures = {name: estimate["mean"] for name, estimate in record.estimates.items()}
    counts = {f"n:{name}": estimate["n_scored"] for name, estimate in record.estimates.items()}
    timings = {f"{name}_s": value for name, value in record.timings_s.items()}
    return head | dict(record.axes) | measures | dict(record.realised) | dict(record.cost) | timings | counts


def print_summary(data: SweepData, written: Iterable[Path]) -> None:
    """Print the best points by recall at the budget, what failed, what was the same, and the paths written."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=140)
    budget = f"{data.budget_tokens:,}"
    table = Table(title=f"Best by evidence recall at {budget} tokens", title_justify="left", header_style="bold")
    for name in ("point", "recall", "95 %", "precision", "nDCG@10", "chunks", "tokens each"):
        table.add_column(name, justify="left" if name == "point" else "right", no_wrap=name != "point", overflow="fold")
    intervals = data.intervals(data.headline)
    for index in data.best_first()[:SHOWN]:
        table.add_row(*_cells(data, index, intervals[index]))
    console.print(table, markup=False)
    say = console.out
    if len(data.points) > SHOWN:
        say(f"{len(data.points) - SHOWN} more points in summary.csv", highlight=False)
    for record in data.duplicates:
        say(f"same chunks: {record.label} cuts exactly as {_label(data, record.duplicate_of)}", highlight=False)
    for record in data.failed:
        say(f"failed: {record.label}: {record.reason}", highlight=False)
    say(f"Points whose intervals overlap may not differ: 95 % intervals are by {data.unit}, unpaired.", highlight=False)
    figures = [path for path in written if path.suffix in (".svg", ".png")]
    for path in (path for path in written if path not in figures):
        say(f"wrote {path}", highlight=False)
    if figures:
        kinds = ", ".join(dict.fromkeys(path.stem for path in figures))
        say(f"wrote {figures[0].parent}/*.svg and *.png: {kinds}", highlight=False)


def _cells(data: SweepData, index: int, interval: Interval | None) -> list[str]:
    point = data.points[index]
    precision = point.mean(data.headline.replace("span_recall", "span_precision"))
    tokens = point.realised.get("tokens_per_chunk_median")
    spread = f"{100 * interval.low:.1f}-{100 * interval.high:.1f}" if interval else ""
    return [
        point.label,
        _percent(interval.mean if interval else None),
        spread,
        _percent(precision),
        _percent(point.mean("nDCG@k=10")),
        f"{point.realised.get('chunks', 0):,}",
        "undefined" if tokens is None else f"{tokens:g}",
    ]


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{100 * value:.1f}"


def _label(data: SweepData, point_id: str | None) -> str:
    return next((p.label for p in data.points if p.point_id == point_id), str(point_id))
