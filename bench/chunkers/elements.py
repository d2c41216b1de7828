"""Tables, lists, code and figures as elements: whole where they fit, with what introduces them and their caption."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from bench.chunkers.base import Tools
from bench.chunkers.clusters import NONE
from bench.chunkers.headings import Headed, Structure
from bench.chunkers.html import structure as html_structure
from bench.chunkers.markdown import Block, blocks
from bench.chunkers.markdown import structure as markdown_structure
from bench.types import Chunk, Document

Table = tuple[int, int, int]  # start, end of its header row, end

_KINDS = {
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
}
_FIGURE = re.compile(r"\s*(?:!\[[^\n]*\]\([^\n]*\)|<(?:img|figure)\b[^\n]*)\s*")
_CAPTION = re.compile(r"[\s*_>]*(?:table|tab\.|figure|fig\.|listing|tabelle|abbildung|abb\.|図|表)\s*[\d.:A-Z-]", re.I)
_LEAD_IN = re.compile(r"[:：]\s*\Z")
_HTML_TABLE = re.compile(r"<table\b[^>]*>(.*?)(?:</table\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_HTML_ROW = re.compile(r"<tr\b", re.IGNORECASE)


@dataclass(frozen=True)
class Elements(Headed):
    """Sections as by ``Markdown`` or ``Html``, in which elements are told from prose.

    A table, a code block or a figure is a chunk of its own, with the line that introduces it (one that ends in a
    colon) and its caption; lists stay with theirs. One over the size is cut between rows, items or lines, and every
    later part of a table is indexed under the table's header row (the header is not counted in the size). Documents
    of other formats are cut at blank lines, lines, sentences and words.

    Attributes:
        isolate: False packs elements together with the prose around them, up to the size.
        repeat_header: index the later parts of a split table under its header row.
    """

    rewrites: ClassVar[bool] = True

    isolate: bool = True
    repeat_header: bool = True

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        text = document.text
        found, tables = _STRUCTURES.get(document.format, _plain)(text)
        if not self.isolate:
            real = tuple(heading for heading in found.headings if heading[0] < heading[1])
            found = replace(found, headings=real)
        chunks = self.sections(document, found, tools)
        if not self.repeat_header or not tables:
            return chunks
        starts = [start for start, _, _ in tables]
        return [_under_header(chunk, text, starts, tables) for chunk in chunks]


def _under_header(chunk: Chunk, text: str, starts: Sequence[int], tables: Sequence[Table]) -> Chunk:
    """Return a chunk that begins inside the body of a table with the table's header row in front."""
    at = bisect_right(starts, chunk.span.start) - 1 if chunk.span else -1
    if at < 0 or chunk.span is None or not chunk.indexed_text.strip():
        return chunk
    start, header, end = tables[at]
    if not header <= chunk.span.start < end:
        return chunk
    return replace(chunk, indexed_text=f"{text[start:header].rstrip()}\n{chunk.indexed_text}")


@lru_cache(maxsize=1024)
def _markdown(text: str) -> tuple[Structure, tuple[Table, ...]]:
    base, every = markdown_structure(text), blocks(text)
    groups = list(_grouped(text, [block for block in every if not block.level]))
    borders = [(at, at, 1) for start, end, alone in groups if alone for at in (start, end) if at < len(text)]
    elements = np.unique([int(base.elements[0]), *(start for start, _, _ in groups)])
    headings = tuple(sorted({*base.headings, *borders}))
    return replace(base, headings=headings, elements=elements), tuple(_tables(every))


def _grouped(text: str, top: Sequence[Block]) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, whether it is a table, code or a figure) of every top-level block with its companions."""
    kinds = [_kind(text, block) for block in top]
    at = 0
    while at < len(top):
        first = at
        if at + 1 < len(top) and _introduces(text, top[at], kinds[at], kinds[at + 1]):
            at += 1
        kind, last = kinds[at], at
        if kind in ("table", "code", "figure") and at + 1 < len(top) and _is_caption(text, top[at + 1], kinds[at + 1]):
            last += 1
        yield top[first].start, top[last].end, kind in ("table", "code", "figure")
        at = last + 1


def _kind(text: str, block: Block) -> str:
    if block.kind in ("paragraph_open", "html_block") and _FIGURE.fullmatch(text, block.start, block.end):
        return "figure"
    return _KINDS.get(block.kind, "text" if block.kind == "paragraph_open" else "other")


def _introduces(text: str, block: Block, kind: str, following: str) -> bool:
    """True if a paragraph ends in a colon before an element, or is the caption above it."""
    if kind != "text" or following not in ("table", "code", "list", "figure"):
        return False
    return bool(_LEAD_IN.search(text[block.start : block.end])) or _is_caption(text, block, kind)


def _is_caption(text: str, block: Block, kind: str) -> bool:
    return kind == "text" and bool(_CAPTION.match(text, block.start, block.end))


def _tables(every: Sequence[Block]) -> Iterator[Table]:
    """Yield the tables of a Markdown text, those in lists and quotes, too."""
    for at, block in enumerate(every):
        if block.kind == "table_open":
            body = next((b for b in every[at : at + 8] if b.kind == "tbody_open" and b.start < block.end), None)
            if body is not None:
                yield block.start, body.start, block.end


@lru_cache(maxsize=1024)
def _html(text: str) -> tuple[Structure, tuple[Table, ...]]:
    base, tables = html_structure(text), []
    borders: list[tuple[int, int, int]] = []
    for table in _HTML_TABLE.finditer(text):
        start, end = table.span()
        borders += [(at, at, 1) for at in (start, end) if at < len(text)]
        rows = [row.start() for row, _ in zip(_HTML_ROW.finditer(text, start, end), range(2), strict=False)]
        if len(rows) == 2 and "<th" in text[rows[0] : rows[1]].lower():
            tables.append((start, rows[1], end))
    return replace(base, headings=tuple(sorted({*base.headings, *borders}))), tuple(tables)


def _plain(text: str) -> tuple[Structure, tuple[Table, ...]]:
    nothing = np.zeros(0, dtype=np.int64)
    return Structure((), nothing, nothing, NONE), ()


_STRUCTURES = {"md": _markdown, "html": _html}
