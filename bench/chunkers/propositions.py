"""Single facts as a language model states them are indexed; the quote that each rests on is handed over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import BaseModel

from bench.chunkers.asking import Asking
from bench.chunkers.base import Tools
from bench.chunkers.bases import base_of, check_base
from bench.chunkers.clusters import clusters
from bench.chunkers.deliver import once
from bench.errors import ConfigError, near
from bench.replies import Reply, Request
from bench.types import Chunk, Document, Ranking, Span

_GAP, _WORD = r"[\s\p{P}\p{S}]", r"[^\s\p{P}\p{S}]"
UNPLACED = ("undefined", "passage", "drop")
HANDED = ("quote", "passage")


class Proposition(BaseModel):
    """The words of a passage that say one fact, and the fact. In this order: what was copied first is then stated."""

    quote: str
    text: str


class Found(BaseModel):
    """All facts of a passage."""

    propositions: list[Proposition]


@dataclass(frozen=True)
class Propositions(Asking):
    """One call a passage. A proposition's source is the place of its quote, which must stand in the passage.

    The unit of Dense X Retrieval (Chen et al. 2023, arXiv 2312.06648), with its source shown. For how
    quotes are looked for see ``place``. A passage without propositions (a reply that was refused, broken or empty) is
    indexed as it stands; the record counts those, propositions whose quote was not found (``cutting_lost``) and the
    states of replies. What no proposition rests on is not handed over and counted as uncovered.

    Attributes:
        base: strategy that cuts the passages; see ``bench.chunkers.bases``.
        unplaced: what becomes of a proposition whose quote is not in its passage: "undefined" keeps it without a
            source, and the span measures of the point are then undefined; "passage" takes the passage for its source;
            "drop" leaves it out.
        handed: what is handed over for a proposition: its "quote", or once the whole "passage".
    """

    rewrites: ClassVar[bool] = True

    prompt: str = "propositions"
    max_tokens: int = 1024
    base: str = "format"
    unplaced: str = "undefined"
    handed: str = "quote"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_base(self.base)
        for name, value, allowed in (("unplaced", self.unplaced, UNPLACED), ("handed", self.handed, HANDED)):
            if value not in allowed:
                raise ConfigError(f"chunker.{name}: got {value!r}; {near(str(value), allowed)}")

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the propositions of one document; see ``Chunker``."""
        found = base_of(self.base, self, document).cut(document, tools)
        passages = [chunk for chunk in found if chunk.span and chunk.indexed_text.strip()]
        title = " ".join(str(document.meta.get("title") or document.doc_id).split())
        requests = [Request(self.messages(title=title, passage=chunk.indexed_text), Found) for chunk in passages]
        replies = self.ask(requests, tools)
        stated = [_stated(reply) for reply in replies]
        self.lost(tools, "passages without propositions", stated.count([]))
        pairs = zip(passages, stated, strict=True)
        return [part for passage, facts in pairs for part in self._parts(document, passage, facts, tools)]

    def deliver(self, rankings: Sequence[Ranking], chunks: Sequence[Chunk], texts: Mapping[str, str]) -> list[Ranking]:
        """Hand over each quote, or passage, once."""
        return once(rankings, texts)

    def fold(self, chunks: Sequence[Chunk]) -> int:
        """Most propositions with one source."""
        return max(Counter(chunk.delivered for chunk in chunks).values())

    def _parts(
        self, document: Document, passage: Chunk, facts: Sequence[tuple[str, str]], tools: Tools
    ) -> Iterator[Chunk]:
        if not facts:
            yield passage
        for text, quote in facts:
            source = place(document, passage.span, quote) if passage.span else None
            self.lost(tools, "propositions without a source", int(source is None))
            if source is None and self.unplaced == "passage":
                source = passage.span
            if source is not None:
                yield Chunk(source, text, source if self.handed == "quote" else passage.span)
            elif self.unplaced == "undefined":
                yield Chunk(None, text, None)


def _stated(reply: Reply) -> list[tuple[str, str]]:
    """Return the propositions of a reply and their quotes, each pair once, blank ones left out."""
    found = reply.data.propositions if reply.state == "ok" and isinstance(reply.data, Found) else []
    pairs = [(one.text.strip(), one.quote) for one in found]
    return list(dict.fromkeys(pair for pair in pairs if pair[0]))


def place(document: Document, passage: Span, quote: str) -> Span | None:
    """Return where a quote stands in a passage, whole grapheme clusters; None where it does not.

    White space may differ. Models also straighten quotation marks and leave out the bars of tables: where a quote does
    not stand there letter by letter, its words do, in this order with nothing but punctuation between them.
    """
    words = quote.split()
    if not words or sum(map(len, words)) > len(passage):
        return None
    import regex

    exact = r"\s+".join(map(regex.escape, words))
    bare = rf"{_GAP}+".join(map(regex.escape, regex.findall(rf"{_WORD}+", quote)))
    for pattern in (exact, bare and rf"(?<!{_WORD}){bare}(?!{_WORD})"):
        found = regex.search(pattern, document.text, pos=passage.start, endpos=passage.end) if pattern else None
        if found:
            known = clusters(document.text)
            low, high = known.floor(np.array([found.start()])), known.ceil(np.array([found.end()]))
            return Span(document.doc_id, int(low[0]), int(high[0]))
    return None
