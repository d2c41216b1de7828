"""A FAISS index behind the interface of the exact one.

It is built on one thread: with several, sums and insertions would change their order from run to run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bench.index import checked, inner_products
from bench.types import Floats, Ints

PARAMETERS = {
    "hnsw": "SearchParametersHNSW",
    "ivf": "SearchParametersIVF",
    "ivfpq": "IVFPQSearchParameters",
}


def library() -> Any:
    """Return FAISS, untyped: its own stubs lack most of what is used here."""
    import faiss

    return faiss


@contextmanager
def one_thread() -> Iterator[None]:
    """Let FAISS work on one thread."""
    faiss = library()
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)


class ApproximateIndex:
    """A trained FAISS index. Where it keeps the vectors, scores are summed exactly, as those of the flat index."""

    def __init__(
        self, kind: str, made: Any, vectors: Floats, settings: dict[str, int], exact_scores: bool = True
    ) -> None:
        self.kind, self.note = kind, ""
        self.size, self.dim = vectors.shape
        with one_thread():
            made.add(vectors)
        self._faiss, self._settings = made, settings
        self._vectors = vectors if exact_scores else None
        self.index_bytes = int(library().serialize_index(made).nbytes)

    def search(self, queries: Floats, depth: int, within: Ints | None = None) -> tuple[Floats, Ints]:
        """See ``Index.search``. Nothing outside of ``within`` is found; inside, fewer may be found than there are.

        Raises:
            ModelError: a query is not of length 1, or not of the index's dimension.
        """
        queries = checked(queries, "query", self.dim)
        depth = max(0, min(depth, self.size if within is None else len(within)))
        if not depth or not len(queries):
            empty = np.zeros((len(queries), depth), dtype=np.float32)
            return empty, np.full(empty.shape, -1, dtype=np.int64)
        if self.kind == "pq":
            scores, ids = self._compared(queries, depth, within)
        else:
            scores, ids = self._faiss.search(queries, depth, params=self._parameters(within))
        if self._vectors is not None:
            for row, query in enumerate(queries):
                hit = ids[row] >= 0
                scores[row, hit] = inner_products(self._vectors[ids[row, hit]], query)
        order = np.lexsort((ids, np.where(ids < 0, np.inf, -scores)))
        return np.take_along_axis(scores, order, axis=1)[:, :depth], np.take_along_axis(ids, order, axis=1)[:, :depth]

    def _compared(self, queries: Floats, depth: int, within: Ints | None) -> tuple[Floats, Ints]:
        """Search codes without cells, which FAISS compares one by one and cannot select: keep what is ``within``."""
        scores, ids = self._faiss.search(queries, depth if within is None else self.size)
        if within is None:
            return scores, ids
        inside = np.isin(ids, within)
        shape = (len(queries), len(within))
        return scores[inside].reshape(shape), ids[inside].reshape(shape)

    def _parameters(self, within: Ints | None) -> Any:
        faiss = library()
        chosen = {} if within is None else {"sel": faiss.IDSelectorBatch(within)}
        return getattr(faiss, PARAMETERS[self.kind])(**self._settings, **chosen)
