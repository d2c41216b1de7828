"""Exact nearest neighbours on unit vectors (FAISS, https://faiss.ai), ties in canonical order also across the cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bench.errors import ConfigError, ModelError, near
from bench.types import Floats, Ints

TIE_TOLERANCE = 4e-6
UNIT_TOLERANCE = 1e-3
EXTRA = 16


class Index(Protocol):
    """Vectors that can be searched. ``index_bytes`` is what it takes to store."""

    size: int
    index_bytes: int

    def search(self, queries: Floats, depth: int, within: Ints | None = None) -> tuple[Floats, Ints]:
        """Return scores and ids, both of shape (queries, min(depth, vectors searched)), best first.

        Equal scores stand in ascending order of id. An index that finds fewer fills the row's end with id -1.

        Args:
            queries: unit vectors, shape (queries, dim).
            depth: how many to return.
            within: ids to search, ascending and distinct; None searches all.
        """
        ...


@dataclass(frozen=True)
class IndexConfig:
    """Which index: "flat" is exact (faiss.IndexFlatIP)."""

    kind: str = "flat"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(f"index.kind: got {self.kind!r}; {near(self.kind, KINDS)}")


def build_index(vectors: Floats, config: IndexConfig | None = None) -> Index:
    """Return an index of unit vectors, shape (chunks, dim) in canonical chunk order; (0, dim) is an empty index.

    Raises:
        ModelError: a vector is not of length 1, or not a number.
    """
    return KINDS[(config or IndexConfig()).kind](_checked(vectors, "chunk"))


class FlatIndex:
    """Exact inner product.

    FAISS finds the candidates; their scores are summed again in float64, so that a score depends neither on how many
    queries were searched together nor on where a vector stands, and equal vectors tie exactly.
    """

    def __init__(self, vectors: Floats) -> None:
        import faiss

        self.size, self.dim = vectors.shape
        self._vectors = vectors
        self._faiss = faiss.IndexFlatIP(self.dim)
        self._faiss.add(vectors)
        self.index_bytes = int(faiss.serialize_index(self._faiss).nbytes)

    def search(self, queries: Floats, depth: int, within: Ints | None = None) -> tuple[Floats, Ints]:
        """See ``Index.search``. Exact.

        Raises:
            ModelError: a query is not of length 1, or not of the index's dimension.
        """
        queries = _checked(queries, "query")
        if queries.shape[1] != self.dim:
            sizes = f"queries have {queries.shape[1]} dimensions, its vectors {self.dim}"
            raise ModelError(f"index: {sizes}; embed both with one model")
        reachable = self.size if within is None else len(within)
        depth = max(0, min(depth, reachable))
        scores = np.zeros((len(queries), depth), dtype=np.float32)
        ids = np.zeros((len(queries), depth), dtype=np.int64)
        pending, fetch = np.arange(len(queries) if depth else 0), depth + EXTRA
        while len(pending):
            fetch = min(fetch, reachable)
            rough, found = self._candidates(queries[pending], fetch, within)
            done = (rough[:, -1] < rough[:, depth - 1] - TIE_TOLERANCE) | (fetch == reachable)
            for row, candidates in zip(pending[done], found[done], strict=True):
                scores[row], ids[row] = self._exact(queries[row], candidates, depth)
            pending, fetch = pending[~done], fetch * 2
        return scores, ids

    def _candidates(self, queries: Floats, fetch: int, within: Ints | None) -> tuple[Floats, Ints]:
        import faiss

        chosen: dict[str, Any] = {}
        if within is not None:
            chosen["params"] = faiss.SearchParameters(sel=faiss.IDSelectorBatch(within))  # type: ignore[call-arg]
        scores, ids = self._faiss.search(queries, fetch, **chosen)
        return scores, ids

    def _exact(self, query: Floats, candidates: Ints, depth: int) -> tuple[Floats, Ints]:
        candidates = np.sort(candidates)
        scores = np.einsum("ij,j->i", self._vectors[candidates], query, dtype=np.float64).astype(np.float32)
        best = np.argsort(-scores, kind="stable")[:depth]
        return scores[best], candidates[best]


KINDS = {"flat": FlatIndex}


def _checked(vectors: Floats, what: str) -> Floats:
    if vectors.ndim != 2:
        raise ModelError(f"index: {what} vectors have shape {vectors.shape}; allowed: (n, dim)")
    norms = np.linalg.norm(vectors, axis=1)
    bad = np.flatnonzero(~(np.abs(norms - 1) <= UNIT_TOLERANCE))
    if len(bad):
        raise ModelError(f"index: {what} vector {bad[0]} has length {norms[bad[0]]:.4g}; allowed: length 1")
    return np.ascontiguousarray(vectors, dtype=np.float32)
