"""The nouns of the benchmark: frozen dataclasses that every module shares. Offsets are half-open code points."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Format = Literal["txt", "md", "html", "code", "pdf"]
Status = Literal["scored", "undefined", "failed", "declined"]


@dataclass(frozen=True, slots=True)
class Document:
    """One document as loaded. ``text`` is never changed: every offset of the benchmark points into it.

    ``meta`` may hold ``language`` (of code), ``pages`` (start offset of each page), ``revision``,
    ``supersedes`` (a doc_id), ``title`` and free tags.
    """

    doc_id: str
    text: str
    format: Format = "txt"
    meta: Mapping[str, Any] = field(default_factory=dict)

    def sha256(self) -> str:
        """Hash of the text (UTF-8, lone surrogates kept)."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range ``[start, end)`` of code points of one document."""

    doc_id: str
    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Chunk:
    """A unit of the index.

    ``span`` is where it was cut from (None where a strategy rewrote the text and cannot show its source: the
    span measures are then undefined). ``indexed_text`` is what is embedded. ``delivered`` is what is handed to the
    generator; it differs from ``span`` for parent-child or sentence-window strategies. ``header`` is text of no span
    that is handed over before it, and charged.
    """

    span: Span | None
    indexed_text: str
    delivered: Span | None
    header: str = field(default="", kw_only=True)

    @classmethod
    def of(cls, document: Document, start: int, end: int) -> Chunk:
        """The plain chunk: indexed and delivered exactly as it stands in the document."""
        span = Span(document.doc_id, start, end)
        return cls(span, document.text[start:end], span)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of gold evidence. Covered by its best-covered alternative (repeated text has several)."""

    alternatives: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """A question with its gold. ``scope`` limits retrieval to those documents (None: the whole corpus)."""

    question_id: str
    text: str
    answer: str | None = None
    evidence: tuple[Evidence, ...] = ()
    category: str = "uncategorised"
    answerable: bool = True
    required_sources: tuple[str, ...] = ()
    scope: tuple[str, ...] | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cluster(self) -> str:
        """Document that the question was written against: the unit of resampling.

        The first evidence's document; for unanswerable questions ``meta["document"]``; else the question itself.
        """
        if self.evidence:
            return self.evidence[0].alternatives[0].doc_id
        return str(self.meta.get("document", f"question:{self.question_id}"))


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked chunk: its index in the chunking, its score, and the span handed over for it.

    ``header`` stands before that span in the context and takes ``header_tokens`` of the budget.
    """

    chunk: int
    score: float
    delivered: Span | None
    header: str = ""
    header_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hits of one question, best first (score descending, then document id, then start offset)."""

    question_id: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What the generator is given: passages in order, their spans, and their tokens in the budget tokenizer."""

    passages: tuple[str, ...]
    spans: tuple[Span | None, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Score:
    """Value of one measure for one question. ``value`` is None unless ``status`` is "scored"."""

    value: float | None
    status: Status = "scored"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where rankings are cut: the first k chunks, or exactly so many tokens of the budget tokenizer."""

    ks: tuple[int, ...] = (1, 3, 5, 10, 20)
    tokens: tuple[int, ...] = (128, 256, 512, 1024, 2000, 4096)
