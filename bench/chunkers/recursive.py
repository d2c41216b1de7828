"""Recursive splitting at separators, coarse to fine: the splitter that most production systems run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from bench.chunkers.base import Sized, Tools
from bench.chunkers.clusters import NONE, Ranges, clusters
from bench.chunkers.pieces import (
    Characters,
    Level,
    Meter,
    Separator,
    Splitter,
    in_characters,
    in_document_tokens,
    in_piece_tokens,
    trim,
    trimmed,
)
from bench.errors import ConfigError, near
from bench.tokenize import Tokenizer
from bench.types import Chunk, Document

KEEP = ("start", "end", "none")
MULTILINGUAL = (
    r"\r?\n(?:[ \t\u3000]*\r?\n)+",
    r"\r?\n|[\r\f\v\u0085\u2028\u2029]",
    r"[。！？｡．।॥؟۔።‥…]+[\"'”’」』）)\]]*|[.!?]+[\"'”’)\]]*(?=\s)",
    r"[，、；：､،؛]|[,;:—–](?=\s)",
    r"(?<!\s)(?=\s)|\u200b",
    "",
)
"""Regexes for any script: blank lines, lines, sentences, clauses, words, characters. Made for ``keep: end``."""


@dataclass(frozen=True)
class Recursive(Sized):
    """Cut at the first separator that occurs, merge small pieces up to the size, cut large ones at the next.

    The chunks are those of ``langchain_text_splitters.RecursiveCharacterTextSplitter`` with the same settings, except
    that grapheme clusters stay whole, that a regex is never pasted into the text, and that lookbehinds see what
    stands before a piece. Tokens are counted as LangChain counts them: each piece on its own.

    Attributes:
        separators: coarse to fine, "" for single characters; None for ``MULTILINGUAL``.
        regex: the separators are regular expressions (of Python's ``re``).
        keep: "start" leaves a separator with the piece after it (LangChain's default), "end" with the piece before,
            "none" drops those at the border of two chunks.
        strip: take white space off the ends of chunks.
    """

    separators: list[str] | None = None
    regex: bool = False
    keep: str = "end"
    strip: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.keep not in KEEP:
            raise ConfigError(f"chunker.keep: got {self.keep!r}; {near(str(self.keep), KEEP)}")
        if self.separators is not None and not self.separators:
            raise ConfigError("chunker.separators: got []; allowed: at least one separator, or null for the default")
        for separator in self.separators or ():
            compiled(separator, self.regex)

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        text = document.text
        known = clusters(text)
        patterns = MULTILINGUAL if self.separators is None else self.separators
        levels = separator_levels(text, patterns, self.separators is None or self.regex, self.keep)
        meter = self._meter(text, tools.tokenizer)
        spans = Splitter(levels, meter, self.size, self.overlap_units).split(0, len(text))
        if self.strip:
            spans = (trim(text, start, end, known) for start, end in spans)
        return [Chunk.of(document, start, end) for start, end in spans]

    def _meter(self, text: str, tokenizer: Callable[[str], Tokenizer]) -> Meter:
        return in_characters if self.unit == "characters" else in_piece_tokens(text, tokenizer(self.tokenizer))


@lru_cache(maxsize=512)
def compiled(separator: str, regex: bool) -> re.Pattern[str]:
    """Return a separator as a pattern.

    Raises:
        ConfigError: it is not a regular expression.
    """
    try:
        return re.compile(separator if regex else re.escape(separator))
    except re.error as error:
        raise ConfigError(
            f"chunker.separators: got {separator!r}, which is no regular expression ({error}); "
            "mend it, or set chunker.regex=false to take it literally"
        ) from error


def separator_levels(text: str, separators: Sequence[str], regex: bool, keep: str, held: Ranges = NONE) -> list[Level]:
    """Return the levels of a splitter for ``text``; the list ends at the first "" (single characters)."""
    known = clusters(text)
    levels: list[Level] = []
    for separator in separators:
        if not separator:
            return [*levels, Characters(known, held)]
        levels.append(Separator(text, compiled(separator, regex), keep, known, held))
    return levels


def document_meter(sized: Sized, text: str, tools: Tools, indented: bool = False) -> Meter:
    """Return what measures ranges of ``text`` in the unit of a strategy, on one tokenisation of the document.

    White space at the ends of a range does not count, as it will be trimmed.

    Args:
        indented: that in front counts.
    """
    plain = sized.unit == "characters"
    meter = in_characters if plain else in_document_tokens(text, tools.tokenizer(sized.tokenizer))
    return trimmed(text, clusters(text), meter, indented)
