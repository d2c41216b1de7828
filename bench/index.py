"""Exact nearest neighbours on unit vectors (FAISS, https://faiss.ai), ties in canonical order also across the cut.

``bench.indexes`` holds the indexes that are not exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bench.errors import ModelError
from bench.types import Floats, Ints

TIE_TOLERANCE = 4e-6
UNIT_TOLERANCE = 1e-3
EXTRA = 16


class Index(Protocol):
    """Vectors that can be searched.

    ``kind`` is what was built, ``note`` why it is not what was asked for ("" where it is), ``index_bytes`` what it
    takes to store.
    """

    kind: str
    note: str
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


class IndexConfig(Protocol):
    """A frozen dataclass of an index's parameters; what ``conf/index/<name>.yaml`` sets."""

    def build(self, vectors: Floats, seed: int) -> Index:
        """Return an index of unit vectors, float32, shape (chunks, dim); the same one for the same seed."""
        ...


@dataclass(frozen=True)
class Flat:
    """Exact: every vector is compared (faiss.IndexFlatIP)."""

    def build(self, vectors: Floats, seed: int) -> Index:
        """See ``IndexConfig.build``."""
        return FlatIndex(vectors)


def build_index(vectors: Floats, config: IndexConfig | None = None, seed: int = 0) -> Index:
    """Return an index of unit vectors, shape (chunks, dim) in canonical chunk order; (0, dim) is an empty index.

    Raises:
        ModelError: a vector is not of length 1, or not a number.
    """
    return (config or Flat()).build(checked(vectors, "chunk"), seed)


class FlatIndex:
    """Exact inner product.

    FAISS finds the candidates; their scores are summed again in float64, so that a score depends neither on how many
    queries were searched together nor on where a vector stands, and equal vectors tie exactly.
    """

    kind = "flat"

    def __init__(self, vectors: Floats, note: str = "") -> None:
        import faiss

        self.note = note
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
        queries = checked(queries, "query", self.dim)
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
        scores = inner_products(self._vectors[candidates], query)
        best = np.argsort(-scores, kind="stable")[:depth]
        return scores[best], candidates[best]


def inner_products(vectors: Floats, query: Floats) -> Floats:
    """Return the inner product of each row with ``query``, summed in float64: equal rows have equal ones."""
    return np.asarray(np.einsum("ij,j->i", vectors, query, dtype=np.float64), dtype=np.float32)


def checked(vectors: Floats, what: str, dim: int | None = None) -> Floats:
    """Return ``vectors`` as FAISS takes them.

    Raises:
        ModelError: not of shape (n, dim), or a vector is not of length 1.
    """
    if vectors.ndim != 2:
        raise ModelError(f"index: {what} vectors have shape {vectors.shape}; allowed: (n, dim)")
    if dim is not None and vectors.shape[1] != dim:
        sizes = f"queries have {vectors.shape[1]} dimensions, its vectors {dim}"
        raise ModelError(f"index: {sizes}; embed both with one model")
    norms = np.linalg.norm(vectors, axis=1)
    bad = np.flatnonzero(~(np.abs(norms - 1) <= UNIT_TOLERANCE))
    if len(bad):
        raise ModelError(f"index: {what} vector {bad[0]} has length {norms[bad[0]]:.4g}; allowed: length 1")
    return np.ascontiguousarray(vectors, dtype=np.float32)
