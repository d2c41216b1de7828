"""Strategies by name, for those that build upon another."""

from __future__ import annotations

from bench.chunkers.base import Sized
from bench.chunkers.code import Code
from bench.chunkers.fixed import Fixed
from bench.chunkers.html import Html
from bench.chunkers.markdown import Markdown
from bench.chunkers.recursive import Recursive
from bench.chunkers.sentence import Paragraph, Sentence
from bench.errors import ConfigError, near
from bench.types import Document

BASES: dict[str, type[Recursive | Fixed | Sentence | Paragraph | Markdown | Html | Code]] = {
    "recursive": Recursive,
    "tokens": Fixed,
    "sentence": Sentence,
    "paragraph": Paragraph,
    "markdown": Markdown,
    "html": Html,
    "code": Code,
}
BY_FORMAT = {"md": "markdown", "html": "html", "code": "code"}


def check_base(name: str) -> None:
    """Raise where there is no base of that name.

    Raises:
        ConfigError: unknown name.
    """
    if name != "format" and name not in BASES:
        raise ConfigError(f"chunker.base: got {name!r}; {near(str(name), ['format', *BASES])}")


def base_of(
    name: str, sized: Sized, document: Document
) -> Recursive | Fixed | Sentence | Paragraph | Markdown | Html | Code:
    """Return a base strategy of the size, overlap and unit of ``sized``.

    Args:
        name: of ``BASES``, or "format": markdown, html or code for documents of that format, else recursive.
        sized: the strategy that builds upon it.
        document: what it will cut.
    """
    chosen = BY_FORMAT.get(document.format, "recursive") if name == "format" else name
    return BASES[chosen](sized.size, sized.overlap, sized.unit, sized.tokenizer)
