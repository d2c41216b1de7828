"""An embedder for tests alone: a text's vector is made from hashes of its words. Milliseconds, no model, no meaning."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.embedders.base import Kind, unit
from bench.types import Floats, Ints

WORD = re.compile(r"\w+|[^\w\s]")


@dataclass
class HashEmbedder:
    """Unit vectors from word hashes. Texts that share words are near; ``calls`` keeps what was asked."""

    name: str = "hash"
    fingerprint: str = "hash-1"
    dim: int = 64
    usable_tokens: int | None = None

    def __post_init__(self) -> None:
        self.calls: list[tuple[Kind, tuple[str, ...]]] = []

    def prepare(self) -> None:
        """Nothing to read."""

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        self.calls.append((kind, tuple(texts)))
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        return unit(np.stack([self._vector(text) for text in texts]), len(texts), self.name)

    def count_tokens(self, texts: Sequence[str]) -> Ints:
        return np.array([len(WORD.findall(text)) for text in texts], dtype=np.int64)

    def _vector(self, text: str) -> Floats:
        vector = np.full(self.dim, 0.01)
        for word in WORD.findall(text.lower()):
            salted = f"{self.fingerprint} {word}".encode("utf-8", "surrogatepass")
            seed = int.from_bytes(hashlib.blake2b(salted, digest_size=8).digest())
            vector += np.random.default_rng(seed).normal(size=self.dim)
        return vector.astype(np.float32)


@dataclass(frozen=True)
class HashConfig:
    """Configuration of ``HashEmbedder``."""

    dim: int = 64

    def load(self) -> HashEmbedder:
        return HashEmbedder(dim=self.dim)
