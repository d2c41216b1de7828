"""Markdown, cut at its headings; tables and code fences stay whole where they fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from bench.chunkers.base import Tools
from bench.chunkers.clusters import NONE
from bench.chunkers.headings import Headed, Structure
from bench.types import Chunk, Document

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(?:[^\n]*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_LINE_END = re.compile(r"\r\n?|\n")
_INK = re.compile(r"\S")


@dataclass(frozen=True)
class Markdown(Headed):
    """Sections under headings, as ``markdown-it-py`` reads CommonMark with tables (nested fences, underlined headings).

    Front matter belongs to the section before the first heading.
    """

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        return self.sections(document, structure(document.text), tools)


@lru_cache(maxsize=4096)
def structure(text: str) -> Structure:
    """Return the headings and the top-level blocks of a Markdown text."""
    front = _FRONT_MATTER.match(text)
    begin = front.end() if front else int(text.startswith("\ufeff"))
    lines = [begin, *(match.end() for match in _LINE_END.finditer(text, begin)), len(text)]
    headings: list[tuple[int, int, int]] = []
    elements, parts = [begin], list[int]()
    for token in _blocks(text[begin:]):
        if token.map is None:
            continue
        start, end = lines[token.map[0]], lines[min(token.map[1], len(lines) - 1)]
        (parts if token.level else elements).append(start)
        if token.type == "heading_open" and not token.level:
            body = _INK.search(text, end)
            headings.append((start, body.start() if body else len(text), int(token.tag[1:])))
    return Structure(tuple(headings), np.unique(elements), np.unique(np.array(parts, dtype=np.int64)), NONE)


def _blocks(text: str) -> list[Token]:
    """Return the block tokens of a Markdown text; what is inside of a line is not parsed."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    tokens: list[Token] = []
    parser.block.parse(_LINE_END.sub("\n", text).replace("\0", "\ufffd"), parser, {}, tokens)
    return tokens
