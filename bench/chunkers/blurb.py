"""Any chunks, indexed under a sentence or two in which a language model says what they are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from bench.chunkers.asking import Asking
from bench.chunkers.base import Tools
from bench.chunkers.bases import base_of, check_base
from bench.errors import ConfigError
from bench.replies import Reply, Request
from bench.types import Chunk, Document, Span


@dataclass(frozen=True)
class Blurb(Asking):
    """One call a chunk. Spans are those of the base; the blurb stands only in the indexed text.

    The scheme of Anthropic's contextual retrieval (2024). A reply that is refused or empty leaves its chunk without a
    blurb; the record counts those (``cutting_lost``) and the states of replies.

    Attributes:
        base: strategy that cuts; see ``bench.chunkers.bases``.
        around_chars: how much of the document the model is shown, the chunk in the middle; all of it where that fits,
            so that a server can keep what it has read for the next chunk.
    """

    rewrites: ClassVar[bool] = True

    prompt: str = "blurb"
    base: str = "format"
    around_chars: int = 6000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_base(self.base)
        if self.around_chars < 0:
            raise ConfigError(f"chunker.around_chars: got {self.around_chars}; allowed: from 0")

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        found = base_of(self.base, self, document).cut(document, tools)
        placed = [(chunk, chunk.span) for chunk in found if chunk.span and chunk.indexed_text.strip()]
        replies = self.ask([self._request(document, span) for _, span in placed], tools)
        blurbs = [" ".join(_said(reply).split()) for reply in replies]
        self.lost(tools, "chunks without a blurb", blurbs.count(""))
        return [
            replace(chunk, indexed_text=f"{blurb}\n\n{chunk.indexed_text}") if blurb else chunk
            for (chunk, _), blurb in zip(placed, blurbs, strict=True)
        ]

    def _request(self, document: Document, span: Span) -> Request:
        shown = max(self.around_chars, len(span))
        low = max(0, min(span.start - (shown - len(span)) // 2, len(document.text) - shown))
        high = min(low + shown, len(document.text))
        title = " ".join(str(document.meta.get("title") or document.doc_id).split())
        chunk = document.text[span.start : span.end]
        return Request(self.messages(title=title, document=document.text[low:high], chunk=chunk))


def _said(reply: Reply) -> str:
    """Return a reply that came to its end, or as far as it came; nothing of a refusal, or of what a model thinks."""
    if reply.state == "truncated":
        before, _, thought = reply.raw.partition("<think>")
        return before + thought.partition("</think>")[2]
    return reply.text if reply.state == "ok" else ""
