"""What an embedder is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from bench.types import Floats, Ints

Kind = Literal["query", "passage"]


class Embedder(Protocol):
    """A loaded model.

    ``fingerprint`` identifies weights, prompts, precision and maximum length: the key of the cache.
    ``usable_tokens`` is the model's limit for text, special tokens taken off (None: no limit).
    """

    name: str
    fingerprint: str
    dim: int
    usable_tokens: int | None

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        """Return unit vectors of shape (len(texts), dim), float32."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> Ints:
        """Return the model's own token count of each text, without special tokens or truncation."""
        ...


class EmbedderConfig(Protocol):
    """A frozen dataclass of an embedder's parameters; what ``conf/embedder/<name>.yaml`` sets."""

    def load(self) -> Embedder:
        """Return the loaded model.

        Raises:
            ModelError: the model is not there; the message holds the install command.
        """
        ...
