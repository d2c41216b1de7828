"""What an embedder is, and the checks that every vector passes before anything else sees it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from bench.errors import ModelError
from bench.types import Floats, Ints

Kind = Literal["query", "passage"]

_SURROGATE = re.compile("[\ud800-\udfff]")


class Embedder(Protocol):
    """A loaded model.

    ``fingerprint`` identifies weights, prompts, precision and maximum length: the key of the cache.
    ``usable_tokens`` is the model's limit for the text of a passage, special tokens and prompt taken off
    (None: no limit).
    """

    name: str
    fingerprint: str
    dim: int
    usable_tokens: int | None

    def prepare(self) -> None:
        """Read the weights now. Else the first ``encode`` does: a run that finds every vector cached reads none."""
        ...

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        """Return unit vectors of shape (len(texts), dim), float32, row i for text i.

        Raises:
            ModelError: a batch failed; no vectors are returned then, so none can stand at another text's row.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> Ints:
        """Return the model's own token count of each text, without special tokens, prompt or truncation."""
        ...


class EmbedderConfig(Protocol):
    """A frozen dataclass of an embedder's parameters; what ``conf/embedder/<name>.yaml`` sets."""

    def load(self) -> Embedder:
        """Return the loaded model.

        Raises:
            ModelError: the model is not there; the message holds the install command.
        """
        ...


def clean(text: str) -> str:
    """Return ``text`` with lone surrogates, which no tokenizer takes, as U+FFFD. The length stays."""
    return _SURROGATE.sub("\ufffd", text)


def unit(vectors: NDArray[np.floating], count: int, name: str) -> Floats:
    """Return ``vectors`` as float32 rows of length 1.

    Raises:
        ModelError: there are not ``count`` rows, or one is zero, infinite or not a number.
    """
    if vectors.ndim != 2 or len(vectors) != count:
        raise ModelError(f"embedder {name}: a batch failed, got shape {vectors.shape} for {count} texts")
    rows = np.asarray(vectors, dtype=np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    bad = np.flatnonzero(~(np.isfinite(norms[:, 0]) & (norms[:, 0] > 0)))
    if len(bad):
        raise ModelError(
            f"embedder {name}: text {bad[0]} of {count} has no direction (vector length {norms[bad[0], 0]}); "
            "empty texts cannot be embedded, drop them"
        )
    return np.ascontiguousarray(rows / norms)
