"""HTML as it stands in the source, cut at its headings; never inside a tag, tables whole where they fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from bench.chunkers.base import Tools
from bench.chunkers.headings import Headed, Structure, joined
from bench.types import Chunk, Document

_TAG = re.compile(
    r"""<!--|<(?P<close>/?)(?P<name>[a-zA-Z][a-zA-Z0-9:-]*)(?:[^<>"']|"[^"<]*"|'[^'<]*')*+>"""
    r"""|<(?P<close2>/?)(?P<name2>[a-zA-Z][a-zA-Z0-9:-]*)[^<>]*>|<[!?][^<>]*>"""
)
_BLOCK = re.compile(
    "address|article|aside|blockquote|body|d[dlt]|details|div|fieldset|figure|footer|form|h[1-6]|header|hr|li|main|nav"
    "|[ou]l|p|pre|section|summary|table"
)
_HEADING = re.compile("h([1-6])")
_RAW = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style", "textarea", "title")}
_COMMENT_END = re.compile("-->")
_WHOLE = frozenset(("table", "pre"))
_PARTS = frozenset(("tr", "li", "dt", "p", "div", "br"))


@dataclass(frozen=True)
class Html(Headed):
    """Sections under h1 to h6 of the raw source, so that every offset is one of the document as loaded.

    Attributes of broken HTML need not be closed: a tag ends at its ``>``, and a ``<`` without one is text.
    """

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        return self.sections(document, structure(document.text), tools)


@lru_cache(maxsize=4096)
def structure(text: str) -> Structure:
    """Return headings, blocks, rows and tags of an HTML text."""
    found = _Found()
    for start, end, name, closes in _tags(text):
        found.add(start, end, name, closes)
    heads = tuple(_with_bodies(text, found.heads, found.tags))
    return Structure(heads, np.unique(found.elements), np.unique(found.parts), joined(found.tags))


@dataclass(slots=True)
class _Found:
    """What the tags read so far have shown. A heading ends every table: one around it is for layout, or not closed."""

    tags: list[tuple[int, int]] = field(default_factory=list)
    heads: list[tuple[int, int, int]] = field(default_factory=list)
    elements: list[int] = field(default_factory=lambda: [0])
    parts: list[int] = field(default_factory=lambda: [0])
    whole: int = 0
    heading: int | None = None

    def add(self, start: int, end: int, name: str, closes: bool) -> None:
        self.tags.append((start, end))
        if level := _HEADING.fullmatch(name):
            self._heading(start, end, int(level[1]), closes)
        if name in _WHOLE:
            self._whole(start, end, closes)
        elif not closes and not self.whole and _BLOCK.fullmatch(name):
            self.elements.append(start)
        if name in _PARTS and not closes:
            self.parts.append(start)

    def _heading(self, start: int, end: int, level: int, closes: bool) -> None:
        if not closes:
            self.heading, self.whole = start, 0
        elif self.heading is not None:
            self.heads.append((self.heading, end, level))
            self.heading = None

    def _whole(self, start: int, end: int, closes: bool) -> None:
        if not closes:
            if not self.whole:
                self.elements.append(start)
            self.whole += 1
        elif self.whole:
            self.whole -= 1
            if not self.whole:
                self.elements.append(end)


def _with_bodies(
    text: str, heads: Sequence[tuple[int, int, int]], tags: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Yield each heading with the offset of the first character of its body that stands in no tag."""
    ends = dict(tags)
    for start, end, level in heads:
        at = end
        while at < len(text) and (at in ends or text[at].isspace()):
            at = ends.get(at, at + 1)
        yield start, at, level


def _tags(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Yield (start, end, lower-case name, closes) of every tag; comments and what raw elements hold are passed over."""
    at = 0
    absent: set[re.Pattern[str]] = set()
    while match := _TAG.search(text, at):
        start, at = match.span()
        if match.group() == "<!--":
            at = _after(text, _COMMENT_END, at, absent)
            continue
        name = (match["name"] or match["name2"] or "").lower()
        closes = bool(match["close"] or match["close2"])
        yield start, at, name, closes
        if name in _RAW and not closes:
            at = _after(text, _RAW[name], at, absent)


def _after(text: str, mark: re.Pattern[str], at: int, absent: set[re.Pattern[str]]) -> int:
    """Return where ``mark`` begins after ``at``; ``at`` itself where there is none, looked for only once."""
    found = None if mark in absent else mark.search(text, at)
    if found is None:
        absent.add(mark)
        return at
    return found.start()
