"""Passages embedded for something else than the index: their tokens are part of what a strategy costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.embedders.base import Embedder
from bench.types import Floats


class CountedPassages:
    """Embeds passages and counts what the model reads of them, cached or not: a first run pays it.

    Attributes:
        tokens: the model's own tokens of all texts so far, those beyond its limit left out.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.tokens = 0

    def __call__(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors of shape (len(texts), dim)."""
        counts, limit = self._embedder.count_tokens(texts), self._embedder.usable_tokens
        self.tokens += int((counts if limit is None else np.minimum(counts, limit)).sum())
        return self._embedder.encode(texts, "passage")
