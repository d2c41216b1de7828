"""Any text splitter of LangChain, with exact offsets: to compare what runs in production today."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.chunkers.base import Sized, Tools
from bench.chunkers.clusters import clusters
from bench.chunkers.custom import load, whole
from bench.chunkers.exact import split_exactly
from bench.errors import ConfigError
from bench.tokenize import Tokenizer
from bench.types import Chunk, Document


@dataclass(frozen=True)
class LangChain(Sized):
    """Run a ``TextSplitter`` class with ``chunk_size``, ``chunk_overlap`` and ``length_function`` of this strategy.

    Attributes:
        splitter: dotted name of the class.
        arguments: further keyword arguments of the class.
        whole_clusters: move ends of chunks that would cut a grapheme cluster back to its start.
    """

    splitter: str = "langchain_text_splitters.RecursiveCharacterTextSplitter"
    arguments: dict[str, Any] = field(default_factory=dict)
    whole_clusters: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._splitter(len)

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        text = document.text
        length = len if self.unit == "characters" else _counter(tools.tokenizer(self.tokenizer))
        spans = split_exactly(self._splitter(length), text, repr(document.doc_id))
        return [Chunk.of(document, *span) for span in whole(spans, clusters(text), self.whole_clusters)]

    def _splitter(self, length: Callable[[str], int]) -> Any:
        kind = load(self.splitter, "chunker.splitter")
        sizes = {"chunk_size": self.size, "chunk_overlap": self.overlap_units, "length_function": length}
        try:
            made = kind(**sizes, **self.arguments)
        except (TypeError, ValueError, ImportError) as error:
            raise ConfigError(
                f"chunker.arguments: {self.splitter} refuses {self.arguments!r} ({error}); "
                "give keyword arguments of that class, without chunk_size, chunk_overlap and length_function"
            ) from error
        if not hasattr(made, "split_text"):
            raise ConfigError(f"chunker.splitter: {self.splitter} has no split_text; name a TextSplitter class")
        return made


def _counter(tokenizer: Tokenizer) -> Callable[[str], int]:
    return lambda text: int(tokenizer.count([text])[0])
