"""Where every document lies on one axis of characters, with prefix counts of what counts there.

The documents stand one after another, one position apart, so that spans of different documents never touch and the
spans of a whole sweep point can be counted as arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import spans
from bench.errors import CorpusError
from bench.spans import Intervals
from bench.tokenize import Tokenizer
from bench.types import Document, Ints, Span

Counts = NDArray[np.int32]
Weights = NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Layout:
    """Prefix counts of a corpus in one budget tokenizer; built once, shared by every sweep point.

    Attributes:
        ink: per document, shape (len(text) + 1,): non-white-space code points before each offset.
        tokens: per document, shape (len(text) + 1,): budget tokens that start before each offset.
        base: axis position of offset 0 of each document.
        axis_ink: ``ink`` of all documents end to end, shape (width,). Only differences within a document mean anything.
        axis_tokens: ``tokens`` likewise.
        supersedes: doc_id to the indexed documents it replaces, directly or through another (``meta["supersedes"]``).
        tokenizer: name of the budget tokenizer.
    """

    ink: Mapping[str, Counts]
    tokens: Mapping[str, Counts]
    base: Mapping[str, int]
    axis_ink: Counts
    axis_tokens: Counts
    supersedes: Mapping[str, frozenset[str]]
    tokenizer: str

    @classmethod
    def of(cls, documents: Iterable[Document], tokenizer: Tokenizer) -> Layout:
        """Count the documents.

        Raises:
            CorpusError: two documents have one id.
        """
        documents = list(documents)
        sizes = np.array([len(document.text) + 1 for document in documents], dtype=np.int64)
        starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        base = {document.doc_id: int(start) for document, start in zip(documents, starts[:-1], strict=True)}
        if len(base) < len(documents):
            raise CorpusError(
                f"{len(documents) - len(base)} documents share the id of another; give each its own doc_id"
            )
        axis_ink, axis_tokens = np.zeros(starts[-1], dtype=np.int32), np.zeros(starts[-1], dtype=np.int32)
        ink: dict[str, Counts] = {}
        tokens: dict[str, Counts] = {}
        for document, low, high in zip(documents, starts[:-1], starts[1:], strict=True):
            ink[document.doc_id], tokens[document.doc_id] = axis_ink[low:high], axis_tokens[low:high]
            axis_ink[low:high] = spans.ink(document.text)
            axis_tokens[low:high] = _started(tokenizer.starts(document.text), len(document.text))
        return cls(ink, tokens, base, axis_ink, axis_tokens, _replaced(documents), tokenizer.name)

    @property
    def width(self) -> int:
        """Number of positions of the axis."""
        return len(self.axis_ink)

    def place(self, wanted: Sequence[Span]) -> Intervals:
        """Return spans as axis intervals, shape (n, 2).

        Raises:
            CorpusError: a span names an unknown document or leaves its text.
        """
        base, ink = self.base, self.ink
        try:
            lows = np.array([base[span.doc_id] for span in wanted], dtype=np.int64)
            limits = np.array([len(ink[span.doc_id]) for span in wanted], dtype=np.int64)
        except KeyError as error:
            raise CorpusError(f"a span names the document {error.args[0]!r}, which is not in the corpus") from None
        local = np.array([(span.start, span.end) for span in wanted], dtype=np.int64).reshape(-1, 2)
        wrong = np.flatnonzero((local[:, 0] < 0) | (local[:, 1] < local[:, 0]) | (local[:, 1] >= limits))
        if len(wrong):
            span = wanted[wrong[0]]
            size = limits[wrong[0]] - 1
            raise CorpusError(f"span [{span.start}, {span.end}) leaves the text of {span.doc_id!r} ({size} characters)")
        return local + lows[:, None]

    def count_tokens(self, span: Span) -> int:
        """Number of budget tokens that start in ``span``."""
        counts = self.tokens[span.doc_id]
        return int(counts[span.end] - counts[span.start])


def advance(tokens: Weights, start: int, end: int, budget: int) -> int:
    """Return the largest offset up to ``end`` with at most ``budget`` tokens starting in ``[start, offset)``.

    Args:
        tokens: prefix counts of token starts (of one document, or of the axis).
        start: first offset.
        end: limit, of the same document.
        budget: tokens allowed.
    """
    window = tokens[start : end + 1]
    return start + int(np.searchsorted(window, window[0] + budget, side="right")) - 1


def fill(counts: Ints, budget: int) -> tuple[int, int]:
    """Return how many pieces stand whole before the one that reaches ``budget``, and the tokens left for that one.

    Args:
        counts: tokens of each piece in rank order, shape (pieces,).
        budget: tokens to fill.
    """
    filled = np.cumsum(counts)
    whole = int(np.searchsorted(filled, budget, side="left"))
    return whole, budget - (int(filled[whole - 1]) if whole else 0)


def fit(counts: Ints, budget: int) -> int:
    """Return how many pieces, taken in rank order, fit whole into ``budget`` tokens."""
    return int(np.searchsorted(np.cumsum(counts), budget, side="right"))


def _started(starts: Ints, size: int) -> Ints:
    """Return how many tokens start before each offset, shape (size + 1,)."""
    counts = np.bincount(starts, minlength=size + 1)[:size]
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def _replaced(documents: Sequence[Document]) -> dict[str, frozenset[str]]:
    """Return for each document that supersedes others all of them that are in the corpus, directly or not."""
    known = {document.doc_id for document in documents}
    direct: dict[str, tuple[str, ...]] = {}
    for document in documents:
        named = document.meta.get("supersedes") or ()
        direct[document.doc_id] = (named,) if isinstance(named, str) else tuple(named)
    found: dict[str, frozenset[str]] = {}
    for doc_id in known:
        seen: set[str] = set()
        waiting = list(direct[doc_id])
        while waiting:
            old = waiting.pop()
            if old not in seen:
                seen.add(old)
                waiting.extend(direct.get(old, ()))
        if older := frozenset(seen & known - {doc_id}):
            found[doc_id] = older
    return found
