"""What every chunking strategy is: a frozen dataclass of its parameters with one method, ``cut``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.errors import ConfigError, near
from bench.replies import Chat
from bench.tokenize import Tokenizer
from bench.types import Chunk, Document, Floats

MAX_SIZE = 1_000_000_000
UNITS = ("tokens", "characters")


@dataclass(frozen=True, slots=True)
class Tools:
    """What a strategy may need from its siblings, handed to it by the pipeline.

    ``tokenizer`` finds a tokenizer by name (cached). ``embed`` maps passages to unit vectors of shape
    (n, dim); None where the point has no embedder yet. ``chat`` is the language model of a strategy that asks one.
    """

    tokenizer: Callable[[str], Tokenizer]
    embed: Callable[[Sequence[str]], Floats] | None = None
    chat: Chat | None = None


class Chunker(Protocol):
    """A strategy. Its fields are its parameters; they are what ``conf/chunker/<name>.yaml`` sets.

    A strategy whose indexed text is not the text of its span (a header in front, a proposition) says so by a class
    attribute ``rewrites = True``; of all others ``chunk_corpus`` verifies that it is.
    """

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document, in order of their start.

        Raises:
            ChunkingError: the place of a chunk in the document cannot be shown.
        """
        ...


@dataclass(frozen=True)
class Sized:
    """Parameters of every strategy that has a maximum size.

    Attributes:
        size: maximum size of a chunk, in ``unit``.
        overlap: what neighbours may share at most: a whole number in ``unit``, or below 1 a share of ``size``.
        unit: "tokens" of ``tokenizer``, or "characters" (code points).
        tokenizer: name of the tokenizer that counts sizes.
    """

    size: int = 256
    overlap: int | float = 0
    unit: str = "tokens"
    tokenizer: str = "minilm"

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ConfigError(f"chunker.unit: got {self.unit!r}; {near(str(self.unit), UNITS)}")
        if isinstance(self.size, bool) or not isinstance(self.size, int) or not 1 <= self.size <= MAX_SIZE:
            raise ConfigError(
                f"chunker.size: got {self.size!r}; allowed: a whole number of {self.unit} from 1 to {MAX_SIZE:,}"
            )
        overlap = self.overlap
        allowed = f"allowed: 0, a share of the size below 1 (0.15), or a whole number of {self.unit} below the size"
        if isinstance(overlap, bool) or not isinstance(overlap, int | float) or not math.isfinite(overlap):
            raise ConfigError(f"chunker.overlap: got {overlap!r}; {allowed}")
        if overlap < 0 or (overlap >= 1 and overlap != int(overlap)):
            raise ConfigError(f"chunker.overlap: got {overlap!r}; {allowed}")
        if overlap >= self.size and overlap >= 1:
            raise ConfigError(
                f"chunker.overlap: got overlap {overlap:g} with size {self.size}; "
                f"the overlap must be below the size: lower it, or give a share such as 0.15"
            )

    @property
    def overlap_units(self) -> int:
        """The overlap as a whole number of units (a share is rounded down)."""
        return int(self.overlap) if self.overlap >= 1 else int(self.size * self.overlap + 1e-9)
