"""Verb ``inspect``: one document with the chunks of one point, what is indexed and handed over for them."""

from __future__ import annotations

import argparse
import glob
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.corpus.load import load_documents
from bench.errors import ConfigError, near
from bench.inspected import Cut, cut_of
from bench.report.context import evidence_of
from bench.report.data import SweepData
from bench.report.marks import find_point
from bench.report.page import environment
from bench.report.patterns import SHOWN, count_patterns
from bench.store import write_bytes
from bench.types import Chunk, Document


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench inspect``."""
    parser.add_argument("document", help="id of a document of the sweep, or a file")
    parser.add_argument("--point", default="", metavar="POINT", help="label or id (the chosen one, else the best)")
    parser.add_argument("--sweep", type=Path, help="results/<sweep> (the newest below results)")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page as well")
    parser.add_argument("--cache", type=Path, default=Path(".cache"), help="folder of replies of language models")


def run(arguments: argparse.Namespace) -> int:
    """Show the chunks; 0 when they are shown."""
    data = SweepData.read(arguments.sweep or newest(Path("results")))
    if not data.points:
        raise ConfigError(f"{data.folder}: no point of the sweep is complete; run the sweep again")
    point = _point(data, arguments.point)
    document = find_document(data, arguments.document)
    cut = cut_of(data, point, document, arguments.cache)
    print_chunks(document, cut, data.points[point].label)
    if arguments.html:
        write_bytes(arguments.html, render(data, point, document, cut).encode("utf-8", "replace"))
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
        twin = next((one.duplicate_of for one in data.duplicates if name in (one.point_id, one.label)), None)
        return find_point(data.points, twin or name) or 0
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
        allowed = near(name, list(data.documents)[:60])
        raise ConfigError(f"DOCUMENT: {name!r} is neither a document of {data.folder} nor a file; {allowed}")
    html = str(data.points[0].config.get("corpus", {}).get("html", "source"))
    return load_documents(path.parent, include=[glob.escape(path.name)], html=html)[0]


def print_chunks(document: Document, cut: Cut, label: str) -> None:
    """Print every chunk under a line that numbers it; what it shares with those before is dimmed."""
    from rich.console import Console
    from rich.text import Text

    def left_out(gap: str, end: int) -> list[Text]:
        place = f"── in no chunk [{end - len(gap)}, {end})"
        return [Text(place, "bold red"), Text(gap.strip(), "red")] if gap.strip() else []

    console = Console(highlight=False)
    console.out(f"{document.doc_id}: {len(cut.chunks)} chunk{'s' * (len(cut.chunks) != 1)} by {label}")
    if cut.note:
        console.out(cut.note)
    for one in _chunks(document, cut, ()):
        body = Text(document.text[one["start"] : one["end"]])
        body.stylize("dim", 0, one["shared"])
        lines = [Text(f"── {one['title']}", "bold cyan"), Text(one["indexed"], "italic green"), body]
        for line in filter(None, [*left_out(one["gap"], one["start"]), *lines]):
            console.print(line, soft_wrap=True)
    for line in left_out(_rest(document, cut), len(document.text)):
        console.print(line, soft_wrap=True)
    console.out("; ".join(f"{title} {count} of {of}" for title, count, of in _patterns(document, cut)))


def _rest(document: Document, cut: Cut) -> str:
    """Return the text behind the last chunk."""
    return document.text[int(cut.borders.spans[:, 1].max(initial=0)) :]


def _patterns(document: Document, cut: Cut) -> list[tuple[str, int, int]]:
    found = count_patterns(document, cut.borders)
    return [(title, getattr(found, name), getattr(found, of)) for name, title, of in SHOWN if getattr(found, of)]


def render(data: SweepData, point: int, document: Document, cut: Cut) -> str:
    """The document as a page of its own: chunks one under another, gold and overlap marked."""
    gold = [
        (span.start, span.end)
        for golden in data.golden.values()
        for item in evidence_of(golden)
        for span in item
        if span.doc_id == document.doc_id and document.doc_id in data.documents
    ]
    return str(
        environment()
        .get_template("inspect.html.j2")
        .render(
            document=document,
            label=data.points[point].label,
            note=cut.note,
            chunks=list(_chunks(document, cut, gold)),
            rest=_rest(document, cut),
            patterns=_patterns(document, cut),
            style=environment().loader.get_source(environment(), "page.css")[0],
        )
    )


def _chunks(document: Document, cut: Cut, gold: Sequence[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """For each chunk its title, place, shared characters, what no chunk holds before it, and its marked parts.

    ``indexed`` is what is indexed in front of the text, or in its place, "" where the text is indexed as it stands.
    """
    before = last = 0
    for number, chunk in enumerate(cut.chunks, 1):
        start, end = (chunk.span.start, chunk.span.end) if chunk.span else (before, before)
        shared = max(0, min(before, end) - start)
        ranges = [*((a, b, "gold") for a, b in gold), (start, start + shared, "shared")]
        yield {
            "number": number,
            "title": _title(number, chunk, shared, "the one" if last == before else "those"),
            "indexed": _indexed(document, chunk),
            "start": start,
            "end": end,
            "shared": shared,
            "gap": document.text[before:start] if before < start else "",
            "parts": marked(document.text, start, end, ranges) if start < end else [],
        }
        before, last = max(before, end), end


def _title(number: int, chunk: Chunk, shared: int, sharers: str) -> str:
    """Number, place and size of a chunk, and what is handed over for it where that is more or less."""
    if chunk.span is None:
        return f"{number} without a source"
    title = f"{number} [{chunk.span.start}, {chunk.span.end}) {len(chunk.span)} characters"
    title += f", {shared} shared with {sharers} before" if shared else ""
    handed = chunk.delivered
    return title if handed in (None, chunk.span) else f"{title}, handed over [{handed.start}, {handed.end})"


def _indexed(document: Document, chunk: Chunk) -> str:
    own = document.text[chunk.span.start : chunk.span.end] if chunk.span else ""
    if chunk.indexed_text == own:
        return ""
    header = chunk.indexed_text.removesuffix(own)
    return f"indexed under: {header.strip()}" if own and header.endswith("\n") else f"indexed as: {chunk.indexed_text}"


def marked(text: str, start: int, end: int, ranges: Sequence[tuple[int, int, str]]) -> list[tuple[str, str]]:
    """Cut ``text[start:end)`` at the edges of the ranges; each part with the names of the ranges over it."""
    edges = {start, end} | {edge for a, b, _ in ranges for edge in (a, b) if start < edge < end}
    cuts = sorted(edges)
    return [
        (text[a:b], " ".join(dict.fromkeys(name for low, high, name in ranges if low <= a < high)))
        for a, b in itertools.pairwise(cuts)
    ]
