"""Any chunks, indexed under the title of their document and the headings that they stand under."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from bench.chunkers.base import Sized, Tools
from bench.chunkers.bases import base_of, check_base
from bench.chunkers.outline import outline
from bench.errors import ConfigError
from bench.types import Chunk, Document


@dataclass(frozen=True)
class Contextual(Sized):
    """What is embedded begins with "title > section > subsection" and a blank line; spans are those of the base.

    A heading that the chunk itself begins with is not repeated. The size is that of the text without its header; what
    the embedder then cuts off is recorded. Where there is neither title nor heading the text is indexed as it is.

    Attributes:
        base: strategy that cuts; see ``bench.chunkers.bases``.
        levels: most headings of the header, the nearest ones; the title stands before them.
        title: whether the document's title is part of it.
        separator: stands between its parts.
        hand_over: whether the generator is given it, too, at the cost of its tokens.
    """

    rewrites: ClassVar[bool] = True

    base: str = "format"
    levels: int = 6
    title: bool = True
    separator: str = " > "
    hand_over: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_base(self.base)
        if not 0 <= self.levels <= 6:
            raise ConfigError(f"chunker.levels: got {self.levels}; allowed: a whole number of headings from 0 to 6")

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        found = outline(document if self.title else replace(document, meta={}))
        chunks = base_of(self.base, self, document).cut(document, tools)
        return [self._headed(chunk, found.path(chunk.span.start), found.title) for chunk in chunks if chunk.span]

    def _headed(self, chunk: Chunk, path: tuple[str, ...], title: str) -> Chunk:
        own = path[:1] if title and path[:1] == (title,) else ()
        above = path[len(own) :]
        parts = [*own, *above[max(0, len(above) - self.levels) :]]
        header = self.separator.join(part for part in parts if part)
        named = header and chunk.indexed_text.strip()
        given = header if self.hand_over else ""
        return replace(chunk, indexed_text=f"{header}\n\n{chunk.indexed_text}", header=given) if named else chunk
