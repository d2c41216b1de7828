"""Offsets of strings that a splitter returned: read from code points, or by the only placement there is."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bench.errors import ChunkingError
from bench.spans import ink

if TYPE_CHECKING:
    from langchain_text_splitters import TextSplitter

_INK = re.compile(r"\S")
_FIRST_MASK, _LAST_MASK = 0x10000, 0x110000
_MOST_PLACES = 512

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Masked:
    """A text in which every character that the splitter does not look at is a code point of its own."""

    text: str
    back: dict[int, str]
    offsets: dict[str, int]

    @classmethod
    def of(cls, text: str, seen: frozenset[str]) -> Masked | None:
        """Mask all but ``seen`` and white space; None where the text has more characters than Unicode has masks."""
        free = (code for code in range(_FIRST_MASK, _LAST_MASK) if chr(code) not in seen)
        back: dict[int, str] = {}
        offsets: dict[str, int] = {}
        masked: list[str] = []
        for offset, character in enumerate(text):
            if character in seen or character.isspace():
                masked.append(character)
                continue
            code = next(free, None)
            if code is None:
                return None
            back[code] = character
            offsets[chr(code)] = offset
            masked.append(chr(code))
        return cls("".join(masked), back, offsets)

    def decode(self, part: str) -> str:
        """Return the original characters of a part of the masked text."""
        return part.translate(self.back)

    def place(self, part: str) -> Span | None:
        """Return the span of a chunk of the masked text; None where it holds no masked character."""
        for index, character in enumerate(part):
            if character in self.offsets:
                start = self.offsets[character] - index
                return start, start + len(part)
        return None


def split_exactly(splitter: TextSplitter, text: str, where: str) -> list[Span]:
    """Return the spans of the chunks that a LangChain splitter cuts ``text`` into.

    Where all its separators are literal it is run on a masked copy of the text. Otherwise, and where the masks do
    not tell, the strings it returns are placed by ``align``.

    Args:
        where: name of the document, for messages.

    Raises:
        ChunkingError: the place of a chunk cannot be shown.
    """
    separators = _literal_separators(splitter)
    masked = Masked.of(text, frozenset("".join(separators))) if separators is not None else None
    if masked is not None:
        spans = _split_masked(splitter, text, masked)
        if spans is not None:
            return spans
    return align(text, splitter.split_text(text), where)


def _literal_separators(splitter: TextSplitter) -> list[str] | None:
    if getattr(splitter, "_is_separator_regex", True):
        return None
    separators = getattr(splitter, "_separators", None)
    if separators is None and hasattr(splitter, "_separator"):
        separators = [splitter._separator]
    return None if separators is None else list(separators)


def _split_masked(splitter: TextSplitter, text: str, masked: Masked) -> list[Span] | None:
    """Return the spans read from the masks; None where one is not a slice of ``text`` or holds no mask."""
    twin = copy.copy(splitter)
    measure: Callable[[str], int] = splitter._length_function
    twin._length_function = lambda part: measure(masked.decode(part))
    spans: list[Span] = []
    for part in twin.split_text(masked.text):
        if not part.strip():
            continue
        span = masked.place(part)
        if span is None or text[slice(*span)] != masked.decode(part):
            return None
        spans.append(span)
    return spans


def align(text: str, chunks: Sequence[str], where: str) -> list[Span]:
    """Return the spans of strings that were cut from ``text`` in order, if there is one way only to place them.

    First such placements are looked for that leave out nothing but white space; where there is none, every chunk
    must stand exactly once in the text, in order. White-space chunks are left out.

    Raises:
        ChunkingError: a chunk is no slice of the text, or more than one placement is possible.
    """
    real = [chunk for chunk in chunks if chunk.strip()]
    for chunk in real:
        if chunk not in text:
            raise ChunkingError(
                f"chunker: {where}: the chunk {chunk[:60]!r} is not in the document as it stands; return exact slices, "
                "or spans (start, end) of the text you were given"
            )
    found = _covering(text, real, where)
    return found if found is not None else _unique(text, real, where)


def _covering(text: str, chunks: Sequence[str], where: str) -> list[Span] | None:
    """Return the only placement that covers all ink; None where there is none.

    Forwards: where each chunk may stand after those before it, if the rest can still cover all. Backwards: which of
    these places lead to the end.
    """
    layers: list[list[int]] = []
    before: list[Span] = [(0, 0)]
    counts = ink(text)
    to_come = sum(_size(chunk) for chunk in chunks)
    for chunk in chunks:
        to_come -= _size(chunk)
        enough = int(np.searchsorted(counts, counts[-1] - to_come))
        starts = {start for span in before for start in _followers(text, chunk, span)}
        layer = sorted(start for start in starts if start + len(chunk) >= enough)
        if len(layer) > _MOST_PLACES:
            raise _ambiguous(where, chunk)
        layers.append(layer)
        before = [(start, start + len(chunk)) for start in layer]
    placed: list[Span] = []
    after: list[Span] | None = None
    for chunk, layer in zip(reversed(chunks), reversed(layers), strict=True):
        spans = [(start, start + len(chunk)) for start in layer]
        if after is None:
            good = [span for span in spans if _next_ink(text, span[1]) == len(text)]
        else:
            good = [one for one in spans if any(_follows(text, one, other) for other in after)]
        if len(good) > 1:
            raise _ambiguous(where, chunk)
        if not good:
            return None
        placed, after = [*placed, good[0]], good
    return placed[::-1]


def _followers(text: str, chunk: str, span: Span) -> Iterator[int]:
    """Yield the starts of ``chunk`` that may come after ``span``: no ink between, neither end moves back."""
    last = _next_ink(text, span[1])
    at = text.find(chunk, span[0], last + len(chunk))
    while at >= 0:
        if at + len(chunk) >= span[1]:
            yield at
        at = text.find(chunk, at + 1, last + len(chunk))


def _follows(text: str, span: Span, after: Span) -> bool:
    return span[0] <= after[0] <= _next_ink(text, span[1]) and after[1] >= span[1]


def _size(text: str) -> int:
    """Return the number of non-white-space characters."""
    return len("".join(text.split()))


def _next_ink(text: str, at: int) -> int:
    found = _INK.search(text, at)
    return found.start() if found else len(text)


def _unique(text: str, chunks: Sequence[str], where: str) -> list[Span]:
    """Return the place of chunks that each stand once in the text."""
    spans: list[Span] = []
    for chunk in chunks:
        start = text.find(chunk)
        if text.find(chunk, start + 1) >= 0 or (spans and start < spans[-1][0]):
            raise _ambiguous(where, chunk)
        spans.append((start, start + len(chunk)))
    return spans


def _ambiguous(where: str, chunk: str) -> ChunkingError:
    return ChunkingError(
        f"chunker: {where}: the chunk {chunk[:60]!r} stands more than once and its place cannot be told; "
        "return spans (start, end) instead of strings"
    )
