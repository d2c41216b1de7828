"""Vectors of texts, each asked for once: generators and judges compare the same sentences many times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from bench.types import Floats


class VectorMemo:
    """Callable like an embedder: texts to unit vectors, shape (n, dim). What it has seen is not embedded again."""

    def __init__(self, embed: Callable[[Sequence[str]], Floats]) -> None:
        self._embed = embed
        self._rows: dict[str, int] = {}
        self._blocks: list[Floats] = []
        self._matrix: Floats | None = None

    def prime(self, texts: Iterable[str]) -> None:
        """Embed in one call what is not known yet."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if missing:
            self._blocks.append(np.asarray(self._embed(missing), dtype=np.float32))
            start = len(self._rows)
            self._rows.update((text, start + offset) for offset, text in enumerate(missing))
            self._matrix = None

    def __call__(self, texts: Sequence[str]) -> Floats:
        self.prime(texts)
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        if self._matrix is None:
            self._matrix = np.concatenate(self._blocks)
            self._blocks = [self._matrix]
        return self._matrix[[self._rows[text] for text in texts]]
