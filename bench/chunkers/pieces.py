"""The engine of the splitters that merge: cut at a level, merge the small pieces, cut the large ones at the next.

It is the algorithm of ``langchain_text_splitters.RecursiveCharacterTextSplitter`` on spans instead of strings: no
offset is ever looked up afterwards. All work on pieces is done on arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from bench.chunkers.clusters import Ranges
from bench.spans import ink
from bench.tokenize import Tokenizer, first_tokens
from bench.types import Ints

Pieces = tuple[Ints, Ints]  # starts and ends, in order, not overlapping
Level = Callable[[int, int], Pieces | None]  # pieces of [start, end); None where the level has nothing to cut there
Marks = tuple[Ints, Ints]  # size of pieces i..j together is ends[j] - begins[i]
Meter = Callable[[Pieces], Marks]


def in_characters(pieces: Pieces) -> Marks:
    """Measure in code points."""
    return pieces


def in_document_tokens(text: str, tokenizer: Tokenizer) -> Meter:
    """Measure in tokens of the document: those that share a character with the range. One tokenisation serves all."""
    starts = tokenizer.starts(text)

    def meter(pieces: Pieces) -> Marks:
        if not len(starts):
            return np.zeros_like(pieces[0]), np.zeros_like(pieces[1])
        return first_tokens(starts, pieces[0]), np.asarray(np.searchsorted(starts, pieces[1]), dtype=np.int64)

    return meter


def trimmed(text: str, clusters: Ranges, meter: Meter, indented: bool = False) -> Meter:
    """Measure ranges without the white space at their ends (with that in front, where ``indented``)."""
    inked = _inked(text)

    def measure(pieces: Pieces) -> Marks:
        starts, ends = pieces
        if not len(inked):
            return np.zeros_like(starts), np.zeros_like(ends)
        lows, highs = np.searchsorted(inked, starts), np.searchsorted(inked, ends)
        lasts = clusters.ceil(np.where(highs > 0, inked[highs - 1] + 1, 0))
        firsts = starts if indented else clusters.floor(inked[np.minimum(lows, len(inked) - 1)])
        begins, finishes = meter((np.where(lows < highs, firsts, lasts), lasts))
        begins = np.where(lows < highs, begins, finishes)
        return np.minimum.accumulate(begins[::-1])[::-1], finishes

    return measure


@lru_cache(maxsize=256)
def _inked(text: str) -> Ints:
    """Return the offsets of all non-white-space characters."""
    return np.flatnonzero(np.diff(ink(text)))


def in_piece_tokens(text: str, tokenizer: Tokenizer) -> Meter:
    """Measure as LangChain does: tokens of every piece, and of what lies between two, encoded on their own."""

    def meter(pieces: Pieces) -> Marks:
        starts, ends = pieces
        sizes = tokenizer.count([text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)])
        gaps = np.zeros(len(starts), dtype=np.int64)
        apart = np.flatnonzero(starts[1:] > ends[:-1]) + 1
        if len(apart):
            between = zip(ends[apart - 1].tolist(), starts[apart].tolist(), strict=True)
            gaps[apart] = tokenizer.count([text[a:b] for a, b in between])
        finish = np.cumsum(sizes + gaps)
        return finish - sizes, finish

    return meter


@dataclass(frozen=True, slots=True)
class Separator:
    """A level that cuts at every match of a pattern.

    Attributes:
        pattern: compiled; of a literal separator its escaped form.
        keep: "start" leaves the separator with the piece after it, "end" with the one before, "none" with neither.
        clusters: of the text; no cut falls inside one.
        held: ranges, in order, inside which nothing is cut.
    """

    text: str
    pattern: re.Pattern[str]
    keep: str
    clusters: Ranges
    held: Ranges

    def __call__(self, start: int, end: int) -> Pieces | None:
        """Return the pieces of ``[start, end)``, or None where the pattern does not match."""
        found = [match.span() for match in self.pattern.finditer(self.text, start, end)]
        if not found:
            return None
        lows, highs = np.array(found, dtype=np.int64).T
        lows, highs = self.clusters.floor(lows), self.clusters.ceil(highs)
        if self.keep == "none":
            free = ~(self.held.inside(lows) | self.held.inside(highs))
            starts, ends = np.concatenate(([start], highs[free])), np.concatenate((lows[free], [end]))
            real = starts < ends
            return starts[real], ends[real]
        cuts = lows if self.keep == "start" else highs
        return tiles(start, end, cuts[~self.held.inside(cuts)])


@dataclass(frozen=True, slots=True)
class Characters:
    """The last level: every grapheme cluster is a piece."""

    clusters: Ranges
    held: Ranges

    def __call__(self, start: int, end: int) -> Pieces | None:
        """Return the clusters of ``[start, end)``."""
        cuts = self.clusters.borders(start, end)
        return tiles(start, end, cuts[~self.held.inside(cuts)])


@dataclass(frozen=True, slots=True)
class Cuts:
    """A level that cuts at offsets known beforehand (sentences, headings, elements), sorted."""

    offsets: Ints

    def __call__(self, start: int, end: int) -> Pieces | None:
        """Return the pieces of ``[start, end)``, or None where no offset falls inside it."""
        low, high = np.searchsorted(self.offsets, start, side="right"), np.searchsorted(self.offsets, end)
        return tiles(start, end, self.offsets[low:high]) if low < high else None


def tiles(start: int, end: int, cuts: Ints) -> Pieces:
    """Return ``[start, end)`` cut at ``cuts``, which are sorted."""
    borders = distinct(np.concatenate(([start], cuts, [end])))
    return borders[:-1], borders[1:]


def distinct(offsets: Ints) -> Ints:
    """Return sorted offsets without repetitions (``numpy.unique`` hashes, and is far slower)."""
    return offsets[np.concatenate(([True], offsets[1:] != offsets[:-1]))] if len(offsets) else offsets


def merge(marks: Marks, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield runs ``[i, j)`` of pieces, as many to a run as fit ``size``.

    A run begins with those pieces of the run before that fit ``overlap`` together, and of these no more than leave
    room for the next piece. The rule is ``TextSplitter._merge_splits`` of langchain-text-splitters.
    """
    begins, finishes = marks
    low, at, count = 0, 1, len(begins)
    while at < count:
        at = max(at, int(np.searchsorted(finishes, begins[low] + size, side="right")))
        if at >= count:
            break
        yield low, at
        tail = int(finishes[at - 1])
        least = max(tail - overlap, min(int(finishes[at]) - size, tail))
        low = min(max(low, int(np.searchsorted(begins, least))), at)
        at += 1
    if count:
        yield low, count


@dataclass(frozen=True, slots=True)
class Splitter:
    """Cuts one text, from the coarsest of ``levels`` to the finest.

    Attributes:
        apart: pieces of so many of the first levels are never merged with their neighbours.
    """

    levels: Sequence[Level]
    meter: Meter
    size: int
    overlap: int
    apart: int = 0

    def split(self, start: int, end: int, level: int = 0) -> Iterator[tuple[int, int]]:
        """Yield the spans that ``[start, end)`` is cut into, in order. What no level can cut may be too long."""
        pieces = None
        while level < len(self.levels) and pieces is None:
            pieces = self.levels[level](start, end)
            level += 1
        if pieces is None:
            if start < end:
                yield start, end
            return
        begins, finishes = self.meter(pieces)
        large = np.flatnonzero(finishes - begins >= self.size).tolist()
        done = 0
        for at in [*large, len(begins)]:
            marks = begins[done:at], finishes[done:at]
            alone = level <= self.apart
            runs = pairwise(range(at - done + 1)) if alone else merge(marks, self.size, self.overlap)
            for low, high in runs:
                yield int(pieces[0][done + low]), int(pieces[1][done + high - 1])
            if at < len(begins):
                yield from self.split(int(pieces[0][at]), int(pieces[1][at]), level)
            done = at + 1


def trim(text: str, start: int, end: int, clusters: Ranges, indented: bool = False) -> tuple[int, int]:
    """Return the span without white space at its ends, never ending inside a cluster.

    Args:
        indented: keep the indentation of the first line: only whole blank lines go in front.
    """
    part = text[start:end]
    lead = len(part) - len(part.lstrip())
    if indented:
        lead = max(part.rfind("\n", 0, lead), part.rfind("\r", 0, lead)) + 1
    tail = len(part) - len(part.rstrip())
    low, high = start + lead, max(end - tail, start + lead)
    if not len(clusters.starts):
        return low, high
    return int(clusters.floor(np.array([low]))[0]), int(clusters.ceil(np.array([high]))[0])
