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


@dataclass(frozen=True, slots=True)
class Block:
    """A block of Markdown: the type that markdown-it gives it, its tag, how deep it is nested, and where it stands."""

    kind: str
    tag: str
    level: int
    start: int
    end: int


@lru_cache(maxsize=4096)
def structure(text: str) -> Structure:
    """Return the headings and the top-level blocks of a Markdown text."""
    headings: list[tuple[int, int, int]] = []
    elements, parts = [_begin(text)], list[int]()
    for block in blocks(text):
        (parts if block.level else elements).append(block.start)
        if block.kind == "heading_open" and not block.level:
            body = _INK.search(text, block.end)
            headings.append((block.start, body.start() if body else len(text), int(block.tag[1:])))
    return Structure(tuple(headings), np.unique(elements), np.unique(np.array(parts, dtype=np.int64)), NONE)


@lru_cache(maxsize=1024)
def blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks of a Markdown text in order, outer before inner; front matter is none of them."""
    begin = _begin(text)
    lines = [begin, *(match.end() for match in _LINE_END.finditer(text, begin)), len(text)]
    return tuple(
        Block(token.type, token.tag, token.level, lines[token.map[0]], lines[min(token.map[1], len(lines) - 1)])
        for token in _tokens(text[begin:])
        if token.map is not None
    )


def _begin(text: str) -> int:
    front = _FRONT_MATTER.match(text)
    return front.end() if front else int(text.startswith("\ufeff"))


def _tokens(text: str) -> list[Token]:
    """Return the block tokens of a Markdown text; what is inside of a line is not parsed."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    tokens: list[Token] = []
    parser.block.parse(_LINE_END.sub("\n", text).replace("\0", "\ufffd"), parser, {}, tokens)
    return tokens
