"""What every chunking strategy is: a frozen dataclass of its parameters with one method, ``cut``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.tokenize import Tokenizer
from bench.types import Chunk, Document, Floats


@dataclass(frozen=True, slots=True)
class Tools:
    """What a strategy may need from its siblings, handed to it by the pipeline.

    ``tokenizer`` finds a tokenizer by name (cached). ``embed`` maps passages to unit vectors of shape
    (n, dim); None where the point has no embedder yet.
    """

    tokenizer: Callable[[str], Tokenizer]
    embed: Callable[[Sequence[str]], Floats] | None = None


class Chunker(Protocol):
    """A strategy. Its fields are its parameters; they are what ``conf/chunker/<name>.yaml`` sets."""

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document, in order of their start.

        Raises:
            ChunkingError: the place of a chunk in the document cannot be shown.
        """
        ...
