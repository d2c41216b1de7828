"""Titles of a document and of the sections that stand around a place in it."""

from __future__ import annotations

import html as entities
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bench.chunkers.html import structure as html_structure
from bench.chunkers.markdown import structure as markdown_structure
from bench.types import Document

_FIRST = re.compile(r"\S")
_TAG = re.compile(r"<[^<>]*>")
_MARKS = re.compile(r"^[ \t]*#+[ \t]*|[ \t]+#+[ \t]*$")
_UNDERLINE = re.compile(r"(?m)^[ \t]*(?:=+|-+)[ \t]*$")


@dataclass(frozen=True, slots=True)
class Outline:
    """Headings in order: where each begins, its depth, and its path (the headings it stands under, and itself)."""

    title: str
    starts: tuple[int, ...]
    paths: tuple[tuple[str, ...], ...]

    def path(self, start: int) -> tuple[str, ...]:
        """Return the document's title and the headings above ``start``; a heading that begins there is left out."""
        at = bisect_right(self.starts, start) - 1
        path = self.paths[at] if at >= 0 else ()
        if at >= 0 and self.starts[at] == start:
            path = path[:-1]
        return path if not self.title or self.title in path[:1] else (self.title, *path)


def outline(document: Document) -> Outline:
    """Return the outline of a document; Markdown and HTML have headings, every format may have a title."""
    headings = _headings(document.text, document.format) if document.format in ("md", "html") else ()
    return Outline(_clean(str(document.meta.get("title") or "")), *_with_paths(headings))


@lru_cache(maxsize=4096)
def _headings(text: str, kind: str) -> tuple[tuple[int, int, str], ...]:
    found = (markdown_structure if kind == "md" else html_structure)(text).headings
    return tuple((_ink(text, start), depth, _title(text[start:body], kind)) for start, body, depth in found)


def _with_paths(headings: Sequence[tuple[int, int, str]]) -> tuple[tuple[int, ...], tuple[tuple[str, ...], ...]]:
    open_headings: list[tuple[int, str]] = []
    paths: list[tuple[str, ...]] = []
    for _, depth, title in headings:
        while open_headings and open_headings[-1][0] >= depth:
            open_headings.pop()
        open_headings.append((depth, title))
        paths.append(tuple(name for _, name in open_headings))
    return tuple(start for start, _, _ in headings), tuple(paths)


def _ink(text: str, start: int) -> int:
    found = _FIRST.search(text, start)
    return found.start() if found else start


def _title(source: str, kind: str) -> str:
    if kind == "html":
        return _clean(entities.unescape(_TAG.sub(" ", source)))
    return _clean(_MARKS.sub("", _UNDERLINE.sub("", source).strip()))


def _clean(title: str) -> str:
    return " ".join(title.split())
