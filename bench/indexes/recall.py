"""What an approximate index loses against the exact one."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.index import FlatIndex, Index, inner_products
from bench.types import Floats

TIE_TOLERANCE = 4e-6


def index_facts(index: Index | None, vectors: Floats | None, queries: Floats | None, depth: int) -> dict[str, Any]:
    """Return what a record keeps of an index: its kind, why it was replaced, and its recall against exact search.

    Args:
        index: of ``vectors``; None where a point has none.
        vectors: unit vectors, shape (chunks, dim).
        queries: unit vectors, shape (questions, dim).
        depth: how deep the rankings of the point were searched.

    Returns:
        ``index_recall_at_10`` is that of a search of 10, ``index_recall_at_depth`` that of one of ``index_depth``; None
        where there is nothing to search.
    """
    if index is None or vectors is None or queries is None:
        return {"index_kind": "none"}
    facts: dict[str, Any] = {"index_kind": index.kind, "index_note": index.note, "index_depth": depth}
    exact = index if index.kind == "flat" else FlatIndex(vectors)
    for name, k in (("10", 10), ("depth", depth)):
        facts[f"index_recall_at_{name}"] = 1.0 if index is exact else recall_against(exact, index, vectors, queries, k)
    return facts


def recall_against(exact: Index, index: Index, vectors: Floats, queries: Floats, depth: int) -> float | None:
    """Return the mean share of the ``depth`` best that ``index`` finds; any of equally near vectors counts.

    (As ann-benchmarks measures it: Aumüller, Bernhardsson & Faithfull 2018.)
    """
    wanted, _ = exact.search(queries, depth)
    _, ids = index.search(queries, depth)
    if not wanted.size:
        return None
    shares = []
    for query, least, found in zip(queries, wanted[:, -1], ids, strict=True):
        reached = inner_products(vectors[found[found >= 0]], query) >= least - TIE_TOLERANCE
        shares.append(float(reached.sum()) / wanted.shape[1])
    return float(np.mean(shares))
