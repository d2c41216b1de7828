"""Source code, cut where its language has classes, functions and blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from bench.chunkers.base import Sized, Tools
from bench.chunkers.clusters import clusters
from bench.chunkers.pieces import Splitter, trim
from bench.chunkers.recursive import MULTILINGUAL, document_meter, separator_levels
from bench.errors import ConfigError, near
from bench.types import Chunk, Document

ALIASES = {"javascript": "js", "typescript": "ts", "c++": "cpp", "c#": "csharp", "golang": "go", "py": "python"}


@dataclass(frozen=True)
class Code(Sized):
    """Cut before definitions and blocks, merge up to the size. Indentation of the first line of a chunk is kept.

    The separators are those of ``langchain_text_splitters.RecursiveCharacterTextSplitter.get_separators_for_language``.

    Attributes:
        language: for every document; None takes each document's own (``meta["language"]``), and cuts documents
            without a known one at blank lines, lines, sentences and words.
    """

    language: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.language is not None and not _separators(self.language):
            raise ConfigError(f"chunker.language: got {self.language!r}; {near(self.language, languages())}")

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        text = document.text
        separators = _separators(self.language or str(document.meta.get("language", "")))
        patterns, keep = (separators, "start") if separators else (MULTILINGUAL, "end")
        levels = separator_levels(text, patterns, True, keep)
        splitter = Splitter(levels, document_meter(self, text, tools, indented=True), self.size, self.overlap_units)
        known = clusters(text)
        return [Chunk.of(document, *trim(text, *span, known, indented=True)) for span in splitter.split(0, len(text))]


@lru_cache(maxsize=1)
def languages() -> tuple[str, ...]:
    """Return the names of the languages that have separators."""
    from langchain_text_splitters import Language

    return tuple(sorted(str(one.value) for one in Language if _separators(one.value)))


@lru_cache(maxsize=64)
def _separators(language: str) -> tuple[str, ...]:
    """Return the regexes of a language, line feeds also as CRLF; none for a language that has no separators."""
    from langchain_text_splitters import Language, RecursiveCharacterTextSplitter

    name = ALIASES.get(language.lower(), language.lower())
    try:
        found = RecursiveCharacterTextSplitter.get_separators_for_language(Language(name))
    except ValueError:
        return ()
    return tuple(separator.replace("\n", r"\r?\n") for separator in found)
