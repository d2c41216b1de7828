"""Verb ``inspect``: one document with the chunk borders of one point, in the terminal and as HTML."""

from __future__ import annotations

import argparse
import glob
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.corpus.load import load_documents
from bench.errors import ConfigError, near
from bench.report.chunkings import NOTHING, Borders, chunking_of, recut
from bench.report.context import evidence_of
from bench.report.data import SweepData
from bench.report.marks import find_point
from bench.report.page import environment
from bench.report.patterns import SHOWN, count_patterns
from bench.spans import intervals
from bench.store import write_bytes
from bench.types import Document


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench inspect``."""
    parser.add_argument("document", help="id of a document of the sweep, or a file")
    parser.add_argument("--point", default="", metavar="POINT", help="label or id (the chosen one, else the best)")
    parser.add_argument("--sweep", type=Path, help="results/<sweep> (the newest below results)")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page as well")


def run(arguments: argparse.Namespace) -> int:
    """Show the chunks; 0 when they are shown."""
    data = SweepData.read(arguments.sweep or newest(Path("results")))
    if not data.points:
        raise ConfigError(f"{data.folder}: no point of the sweep is complete; run the sweep again")
    point = _point(data, arguments.point)
    document = find_document(data, arguments.document)
    borders = borders_of(data, point, document)
    print_chunks(document, borders, data.points[point].label)
    if arguments.html:
        write_bytes(arguments.html, render(data, point, document, borders).encode("utf-8", "replace"))
        print(f"wrote {arguments.html}")
    return 0


def newest(folder: Path) -> Path:
    """The sweep below ``folder`` that was written last.

    Raises:
        ConfigError: there is none.
    """
    found = sorted(folder.glob("*/sweep.json"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise ConfigError(f"--sweep: no sweep below {folder}; give the folder that bench sweep wrote")
    return found[-1].parent


def _point(data: SweepData, name: str) -> int:
    if name:
        return find_point(data.points, name) or 0
    return data.marks.chosen if data.marks.chosen is not None else data.best_first()[0]


def find_document(data: SweepData, name: str) -> Document:
    """A document of the sweep, else a file read as the sweep would read it.

    Raises:
        ConfigError: it is neither.
        CorpusError: the file cannot be read.
    """
    if name in data.documents:
        return data.documents[name]
    path = Path(name)
    if not path.is_file():
        raise ConfigError(f"DOCUMENT: {name!r} is neither a document of {data.folder} nor a file; {_near(data, name)}")
    html = str(data.points[0].config.get("corpus", {}).get("html", "source"))
    return load_documents(path.parent, include=[glob.escape(path.name)], html=html)[0]


def _near(data: SweepData, name: str) -> str:
    return near(name, list(data.documents)[:60])


def borders_of(data: SweepData, point: int, document: Document) -> Borders:
    """Chunk borders of one point over one document, which need not be of the sweep."""
    record = data.points[point]
    if data.documents.get(document.doc_id) is document:
        return chunking_of(data, record).get(document.doc_id, NOTHING)
    spans = [chunk.span for chunk in recut(record, [document]).chunks if chunk.span]
    return Borders(intervals(sorted((span.start, span.end) for span in spans)))


def print_chunks(document: Document, borders: Borders, label: str) -> None:
    """Print every chunk under a line that numbers it; what two chunks share is shown as overlap."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.out(f"{document.doc_id}: {len(borders.spans)} chunks by {label}")
    before = 0
    for number, (start, end) in enumerate(borders.spans.tolist(), 1):
        shared = max(0, min(before, end) - start)
        note = f", {shared} shared with the one before" if shared else ""
        gap = document.text[before:start].strip()
        if gap:
            console.print(Text(f"── in no chunk [{before}, {start})", style="bold red"))
            console.print(Text(gap, style="red"))
        console.print(Text(f"── {number} [{start}, {end}) {end - start} characters{note}", style="bold cyan"))
        body = Text(document.text[start:end])
        body.stylize("dim", 0, shared)
        console.print(body)
        before = max(before, end)
    found = count_patterns(document, borders)
    broken = [
        f"{title} {getattr(found, name)} of {getattr(found, of)}" for name, title, of in SHOWN if getattr(found, of)
    ]
    console.out("; ".join(broken))


def render(data: SweepData, point: int, document: Document, borders: Borders) -> str:
    """The document as a page of its own: chunks one under another, gold and overlap marked."""
    gold = [
        (span.start, span.end)
        for golden in data.golden.values()
        for item in evidence_of(golden)
        for span in item
        if span.doc_id == document.doc_id and document.doc_id in data.documents
    ]
    found = count_patterns(document, borders)
    return str(
        environment()
        .get_template("inspect.html.j2")
        .render(
            document=document,
            label=data.points[point].label,
            chunks=list(_chunks(document, borders, gold)),
            patterns=[
                (title, getattr(found, name), getattr(found, of)) for name, title, of in SHOWN if getattr(found, of)
            ],
            style=environment().loader.get_source(environment(), "page.css")[0],
        )
    )


def _chunks(document: Document, borders: Borders, gold: Sequence[tuple[int, int]]) -> Any:
    """For each chunk its number, place, shared characters, what no chunk holds before it, and its marked parts."""
    before = 0
    for number, (start, end) in enumerate(borders.spans.tolist(), 1):
        shared = max(0, min(before, end) - start)
        gap = document.text[before:start] if before < start else ""
        parts = marked(
            document.text, start, end, [*((a, b, "gold") for a, b in gold), (start, start + shared, "shared")]
        )
        yield {"number": number, "start": start, "end": end, "shared": shared, "gap": gap, "parts": parts}
        before = max(before, end)


def marked(text: str, start: int, end: int, ranges: Sequence[tuple[int, int, str]]) -> list[tuple[str, str]]:
    """Cut ``text[start:end)`` at the edges of the ranges; each part with the names of the ranges over it."""
    edges = {start, end} | {edge for a, b, _ in ranges for edge in (a, b) if start < edge < end}
    cuts = sorted(edges)
    return [
        (text[a:b], " ".join(dict.fromkeys(name for low, high, name in ranges if low <= a < high)))
        for a, b in itertools.pairwise(cuts)
    ]
