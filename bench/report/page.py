"""``report.html``: one file that opens from disk, needs no network and prints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import __version__
from bench.report.answers import answer_notes
from bench.report.chunkings import chunking_of
from bench.report.data import SweepData
from bench.report.figures import FIGURES, Kind
from bench.report.figures.base import Numbers, best_of_each
from bench.report.patterns import SHOWN, patterns_of
from bench.report.payload import Payload, payload_of
from bench.report.words import opening_of
from bench.store import write_bytes

SCRIPTS = ("data.js", "table.js", "misses.js", "source.js", "drill.js", "main.js")
MAX_PATTERN_ROWS = 60
PX_PER_PT = 96 / 72
SMALL_PX = 620
MAX_NUMBER_ROWS = 200
_ID = re.compile(r'(\bid="|xlink:href="#|url\(#)')


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure as the page shows it: its SVG, and the rows behind it."""

    kind: Kind
    svg: Any
    numbers: Numbers
    cut: int


def write_page(data: SweepData, figures: Mapping[str, Path]) -> Path:
    """Write ``report.html`` into the sweep's folder.

    Args:
        data: the sweep.
        figures: SVG file of each kind of figure, as ``write_figure`` left them.

    Raises:
        StoreError: the folder cannot be written.
    """
    path = data.folder / "report.html"
    write_bytes(path, render(data, figures).encode("utf-8", "replace"))
    return path


def render(data: SweepData, figures: Mapping[str, Path]) -> str:
    """The page as text."""
    payload = payload_of(data)
    return str(
        environment()
        .get_template("page.html.j2")
        .render(
            data=data,
            version=__version__,
            opening=opening_of(data),
            figures=[_shown(data, kind, figures) for kind in FIGURES.values() if kind.name in figures],
            payload=payload,
            notes=_notes(data, payload),
            patterns=_patterns(data),
            style=_raw("page.css"),
            script=_raw(*SCRIPTS),
        )
    )


def environment() -> Any:
    """The template environment of the pages: everything is escaped, numbers are written alike."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("bench.report", "html"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters["cell"] = cell
    made.filters["numeric"] = lambda value: isinstance(value, int | float) and not isinstance(value, bool)
    return made


def _raw(*names: str) -> Any:
    from markupsafe import Markup

    folder = Path(__file__).parent / "html"
    return Markup("\n".join((folder / name).read_text(encoding="utf-8") for name in names))


def cell(value: Any) -> str:
    """A value of a table: shares and small numbers with four digits, whole numbers with commas."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 10 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _shown(data: SweepData, kind: Kind, figures: Mapping[str, Path]) -> Shown:
    numbers = kind.numbers(data)
    kept = Numbers(numbers.columns, numbers.rows[:MAX_NUMBER_ROWS])
    return Shown(kind, inline_svg(figures[kind.name], kind), kept, max(0, len(numbers.rows) - MAX_NUMBER_ROWS))


def inline_svg(path: Path, kind: Kind) -> Any:
    """The SVG of a figure for inside a page: no prolog, ids of its own, a name for those who do not see it."""
    from markupsafe import Markup, escape

    text = path.read_text(encoding="utf-8")
    body = text[text.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = _ID.sub(lambda match: f"{match[1]}{kind.name}-", body)
    head, _, rest = body.partition(">")
    width = re.search(r'\swidth="([\d.]+)pt"', head)
    small = width and float(width[1]) * PX_PER_PT < SMALL_PX  # it is not blown up to the width of the page
    style = f' style="min-width: 0; max-width: {float(width[1]) * PX_PER_PT:.0f}px"' if width and small else ""
    head = re.sub(r'\s(?:width|height)="[^"]*pt"', "", head)
    return Markup(f'{head}{style} role="img" aria-label="{escape(kind.title)}. {escape(kind.says)}">{rest}')


def _notes(data: SweepData, payload: Payload) -> list[str]:
    """What the reader must know of what is not here."""
    notes = answer_notes(data)
    if data.decision is not None and data.decision.get("by_default"):
        command = f"bench decide results/{data.name}"
        notes.append(f"Decided without limits or options; {command} takes them and writes what to ship.")
    notes += [f"{record.label} failed: {record.reason}" for record in data.failed]
    if data.duplicates:
        by_id = {point.point_id: point.label for point in data.points}
        same = "; ".join(f"{r.label} as {by_id.get(str(r.duplicate_of), r.duplicate_of)}" for r in data.duplicates)
        notes.append(f"These cut exactly as others and are shown once: {same}.")
    if payload.left_out:
        notes.append(
            f"To keep this file small, the questions of {payload.left_out} points are not in it (their scores and "
            "causes are): see their questions.jsonl, or bench diagnose."
        )
    if payload.texts_left_out:
        notes.append(f"To keep this file small, the texts of {payload.texts_left_out} documents are not in it.")
    unknown = sum(not chunking_of(data, point) for point in data.points)
    if unknown and data.documents:
        notes.append(f"The chunk borders of {unknown} points are not known: the sweep did not keep them.")
    if not data.documents:
        notes.append("The sweep keeps no documents, so texts, borders and causes cannot be shown.")
    return notes


def _patterns(data: SweepData) -> Numbers:
    """Failure patterns of the points, the best first; where there are many, of the marked and the best of each."""
    order = data.best_first()
    if len(order) > MAX_PATTERN_ROWS:
        order = best_of_each(data)
    rows = []
    for index in order:
        found = patterns_of(data, index)
        counts = [
            f"{getattr(found, name):,} of {getattr(found, of):,}" if found.chunks_of else "–" for name, _, of in SHOWN
        ]
        rows.append([data.points[index].label, *counts])
    return Numbers(["point", *[title for _, title, _ in SHOWN]], rows)
