"""What Markdown and HTML have in common: sections, elements kept whole, headings kept with their body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.chunkers.base import Sized, Tools
from bench.chunkers.clusters import Ranges, clusters
from bench.chunkers.pieces import Cuts, Level, Meter, Splitter, distinct, trim
from bench.chunkers.recursive import MULTILINGUAL, document_meter, separator_levels
from bench.errors import ConfigError
from bench.types import Chunk, Document, Ints


@dataclass(frozen=True, slots=True)
class Structure:
    """What a parser found in a text; offsets in order.

    Attributes:
        headings: (start, offset of the first character of the body, depth from 1) of each heading.
        elements: starts of blocks (paragraphs, tables, code, lists), at which an over-long section is cut.
        parts: starts of what an over-long element is cut into (rows, items).
        whole: ranges that are never cut, in order and disjoint (tags).
    """

    headings: tuple[tuple[int, int, int], ...]
    elements: Ints
    parts: Ints
    whole: Ranges


@dataclass(frozen=True)
class Headed(Sized):
    """Parameters of the strategies that cut at headings.

    Attributes:
        depth: deepest heading that begins a section of its own (1 to 6).
        merge: put neighbouring small sections into one chunk; False leaves every section apart.
    """

    depth: int = 6
    merge: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.depth, bool) or not 1 <= self.depth <= 6:
            raise ConfigError(f"chunker.depth: got {self.depth!r}; allowed: a whole number from 1 to 6")

    def sections(self, document: Document, structure: Structure, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of a parsed document.

        A section is a heading and all up to the next heading of its depth or above. One over the size is cut between
        elements, then inside them. No cut falls between a heading and the first character of its body, unless the
        heading alone takes half of the size.
        """
        text = document.text
        known, meter = clusters(text), document_meter(self, text, tools)
        held = _held(structure, meter, self.size)
        starts = np.array([start for start, _, depth in structure.headings if depth <= self.depth], dtype=np.int64)
        cuts = [known.floor(offsets) for offsets in (starts, structure.elements, structure.parts)]
        levels: list[Level] = [
            *(Cuts(distinct(offsets[~held.inside(offsets)])) for offsets in cuts),
            *separator_levels(text, MULTILINGUAL, True, "end", held),
        ]
        splitter = Splitter(levels, meter, self.size, self.overlap_units, 0 if self.merge else 1)
        return [Chunk.of(document, *trim(text, *span, known)) for span in splitter.split(0, len(text))]


def _held(structure: Structure, meter: Meter, size: int) -> Ranges:
    """Return all inside which nothing is cut: the whole ranges, and headings with what follows them."""
    ranges = list(zip(structure.whole.starts.tolist(), structure.whole.ends.tolist(), strict=True))
    if structure.headings:
        starts, bodies, _ = np.array(structure.headings, dtype=np.int64).T
        begins, finishes = meter((starts, bodies))
        small = (finishes - begins) * 2 <= size
        ranges += zip(starts[small].tolist(), (bodies[small] + 1).tolist(), strict=True)
    return joined(ranges)


def joined(ranges: list[tuple[int, int]]) -> Ranges:
    """Return ranges as disjoint ones: those that overlap become one; those that only touch stay two."""
    if not ranges:
        return Ranges(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    starts, ends = np.array(sorted(ranges), dtype=np.int64).T
    reach = np.maximum.accumulate(ends)
    first = np.concatenate(([True], starts[1:] >= reach[:-1]))
    last = np.concatenate((first[1:], [True]))
    return Ranges(starts[first], reach[last])
