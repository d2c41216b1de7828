"""Source code cut by its syntax tree: functions and classes whole where they fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from bench.chunkers.base import Sized, Tools
from bench.chunkers.clusters import Ranges, clusters
from bench.chunkers.grammars import parser_of
from bench.chunkers.headings import joined
from bench.chunkers.pieces import Cuts, Level, Splitter, trim
from bench.chunkers.recursive import MULTILINGUAL, document_meter, separator_levels
from bench.errors import ConfigError
from bench.types import Chunk, Document, Ints

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 24
_INDENT = re.compile(r"(?:^|(?<=[\r\n]))[^\S\r\n]*")
_WHOLE = ("string", "string_literal", "template_string", "comment", "heredoc_body")
_LEADS = ("comment", "attribute_item", "decorator", "annotation")


@dataclass(frozen=True)
class Syntax(Sized):
    """Neighbouring definitions and statements are packed up to the size; one over it is cut between its own parts.

    Comments, decorators and attributes stay with what they stand before, and the head of a definition with its first
    statement where both fit. Parsed by tree-sitter, which also reads broken code; the idea is that of cAST
    (arXiv 2506.15655). A document without a known language is cut at blank lines, lines, sentences and words.

    Attributes:
        language: for every document; None takes each document's own (``meta["language"]``).
    """

    language: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.language is not None and parser_of(self.language) is None:
            raise ConfigError(
                f"chunker.language: got {self.language!r}, for which no grammar is installed; "
                "install its tree-sitter package, or set null (each document's own)"
            )

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        text, known = document.text, clusters(document.text)
        meter = document_meter(self, text, tools)
        tree = syntax(text, self.language or str(document.meta.get("language") or ""))
        begins, finishes = meter((tree.heads.starts, tree.heads.ends))
        small = (finishes - begins) * 2 <= self.size
        held = joined(list(zip(tree.heads.starts[small].tolist(), tree.heads.ends[small].tolist(), strict=True)))
        levels: list[Level] = [Cuts(np.unique(cuts[~held.inside(cuts)])) for cuts in tree.levels]
        levels += separator_levels(text, MULTILINGUAL, True, "end", held)
        splitter = Splitter(levels, meter, self.size, self.overlap_units)
        return [Chunk.of(document, *trim(text, *span, known, indented=True)) for span in splitter.split(0, len(text))]


@dataclass(frozen=True, slots=True)
class Tree:
    """Where a program can be cut.

    Attributes:
        levels: starts of the nodes of each depth, outermost first, never inside a grapheme cluster.
        heads: from the start of a definition to just inside its first statement, and from a comment to just inside
            what follows it.
    """

    levels: tuple[Ints, ...]
    heads: Ranges


@lru_cache(maxsize=1024)
def syntax(text: str, language: str) -> Tree:
    """Return where a program can be cut; nowhere for a language without a grammar."""
    parser = parser_of(language) if language else None
    if parser is None:
        return Tree((), joined([]))
    data = text.encode("utf-8", "replace")
    found = _Found()
    found.read(parser.parse(data).root_node)
    place = _characters(text, data)
    known = clusters(text)
    levels = [known.floor(_line_starts(text, place[np.array(sorted(cuts), dtype=np.int64)])) for cuts in found.levels]
    heads = np.array(found.heads, dtype=np.int64).reshape(-1, 2)
    starts, ends = _line_starts(text, place[heads[:, 0]]), place[heads[:, 1]] + 1
    return Tree(tuple(levels), joined(list(zip(starts.tolist(), ends.tolist(), strict=True))))


@dataclass(slots=True)
class _Found:
    """Byte offsets of the nodes read so far."""

    levels: list[set[int]] = field(default_factory=list)
    heads: list[tuple[int, int]] = field(default_factory=list)

    def read(self, root: Node) -> None:
        """Read a tree, level by level."""
        level = [root]
        while level and len(self.levels) < DEEPEST:
            below: list[Node] = []
            cuts: set[int] = set()
            for node in level:
                children = node.named_children
                cuts.update(self._cuts(children))
                body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
                if body is not None:
                    first = body.named_children[0] if body.named_children else body
                    self.heads.append((node.start_byte, first.start_byte))
                below += (child for child in children if not child.type.endswith(_WHOLE))
            self.levels.append(cuts)
            level = below

    def _cuts(self, children: Sequence[Node]) -> Iterator[int]:
        """Yield the starts of nodes, but not of those that a comment right above belongs to."""
        lead: Node | None = None
        for node in children:
            follows = lead is not None and node.start_point.row - lead.end_point.row <= 1
            if lead is not None and follows:
                self.heads.append((lead.start_byte, node.start_byte))
            else:
                yield node.start_byte
            lead = node if node.type.endswith(_LEADS) else None


def _characters(text: str, data: bytes) -> Ints:
    """Return the code-point offset of every byte offset, shape (len(data) + 1,)."""
    if len(text) == len(data):
        return np.arange(len(data) + 1)
    first = (np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80
    return np.concatenate((np.cumsum(first) - 1, [len(text)])).astype(np.int64)


def _line_starts(text: str, offsets: Ints) -> Ints:
    """Move offsets that stand at the first character of their line, blanks aside, to the start of the line."""
    lines = np.array([match.span() for match in _INDENT.finditer(text)], dtype=np.int64)
    starts, inks = lines[np.searchsorted(lines[:, 0], offsets, side="right") - 1].T
    return np.where(offsets <= inks, starts, offsets)
