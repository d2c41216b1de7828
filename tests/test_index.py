"""Exact search: depth beyond the index, ties inside and across the cut, subsets, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.errors import ModelError
from bench.index import build_index
from bench.types import Floats


def rows(values: object) -> Floats:
    vectors = np.atleast_2d(np.array(values, dtype=np.float32))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def random_rows(count: int, dim: int, seed: int) -> Floats:
    return rows(np.random.default_rng(seed).normal(size=(count, dim)))


def test_depth_beyond_the_index_gives_each_vector_once() -> None:
    scores, ids = build_index(rows([[1, 0], [0, 1], [1, 1]])).search(rows([1, 0.5]), 50)
    assert ids.tolist() == [[2, 0, 1]]
    assert scores.shape == (1, 3)
    assert scores.dtype == np.float32


def test_published_case_of_too_large_k(shared: Path) -> None:
    case = json.loads((shared / "cases/25-faiss-k-too-big/input.json").read_text(encoding="utf-8"))
    _, ids = build_index(rows(case["vectors"])).search(rows(case["query"]), case["k"])
    assert [case["texts"][i] for i in ids[0]] == ["zero", "one", "two"]


def test_published_case_of_equal_vectors(shared: Path) -> None:
    case = json.loads((shared / "cases/27-faiss-ties/input.json").read_text(encoding="utf-8"))
    index = build_index(rows(case["vectors"]))
    for k in case["ks"]:
        assert index.search(rows(case["query"]), k)[1].tolist() == [list(range(k))]


@pytest.mark.parametrize("queries", [1, 19, 20, 300])
def test_equal_vectors_across_the_cut_stand_in_canonical_order(queries: int) -> None:
    vectors = random_rows(9_000, 48, 1)
    twins = np.arange(40, 9_000, 100)
    vectors[twins] = vectors[40]
    index = build_index(vectors)
    asked = np.repeat(vectors[40:41], queries, axis=0)
    for depth in (1, 7, len(twins) - 1, len(twins)):
        _, ids = index.search(asked, depth)
        assert (ids == twins[:depth]).all()


def test_smaller_depth_is_the_head_of_a_larger_one_and_batch_size_changes_nothing() -> None:
    vectors, queries = random_rows(20_000, 96, 2), random_rows(64, 96, 3)
    vectors[10_000:] = vectors[:10_000]
    index = build_index(vectors)
    scores, ids = index.search(queries, 41)
    for row in range(0, 64, 9):
        one_scores, one_ids = index.search(queries[row : row + 1], 20)
        assert (one_ids[0] == ids[row, :20]).all()
        assert (one_scores[0] == scores[row, :20]).all()


@settings(max_examples=60, deadline=None)
@given(
    values=st.lists(st.tuples(*[st.integers(-2, 2)] * 3).filter(any), min_size=1, max_size=60),
    query=st.tuples(*[st.integers(-2, 2)] * 3).filter(any),
    depth=st.integers(1, 70),
    every=st.integers(1, 4),
)
def test_search_equals_a_full_sort(
    values: list[tuple[int, ...]], query: tuple[int, ...], depth: int, every: int
) -> None:
    vectors, asked = rows(values), rows(query)
    within = np.arange(0, len(vectors), every)
    exact = (vectors[within].astype(np.float64) @ asked[0].astype(np.float64)).astype(np.float32)
    expected = within[np.lexsort((within, -exact))][:depth]
    scores, ids = build_index(vectors).search(asked, depth, None if every == 1 else within)
    assert ids[0].tolist() == expected.tolist()
    assert (np.diff(scores[0]) <= 0).all()


def test_nothing_to_search_gives_rows_without_hits() -> None:
    empty = build_index(np.zeros((0, 8), dtype=np.float32))
    scores, ids = empty.search(random_rows(3, 8, 0), 5)
    assert scores.shape == ids.shape == (3, 0)
    scores, ids = build_index(random_rows(4, 8, 0)).search(random_rows(3, 8, 1), 5, np.array([], dtype=np.int64))
    assert ids.shape == (3, 0)
    assert build_index(random_rows(4, 8, 0)).search(np.zeros((0, 8), dtype=np.float32), 5)[1].shape == (0, 4)


@pytest.mark.parametrize("wrong", [[[0.0, 0.0]], [[2.0, 0.0]], [[float("nan"), 1.0]], [[float("inf"), 0.0]]])
def test_vectors_that_are_not_unit_are_refused(wrong: list[list[float]]) -> None:
    bad = np.array([[1.0, 0.0], *wrong], dtype=np.float32)
    with pytest.raises(ModelError, match="chunk vector 1 has length"):
        build_index(bad)
    with pytest.raises(ModelError, match="query vector 1 has length"):
        build_index(rows([1, 0])).search(bad, 1)


def test_queries_of_another_model_are_refused() -> None:
    with pytest.raises(ModelError, match="queries have 3 dimensions, its vectors 2"):
        build_index(rows([1, 0])).search(rows([1, 0, 0]), 1)


def test_index_bytes_grow_with_the_vectors() -> None:
    small, large = build_index(random_rows(10, 16, 0)), build_index(random_rows(110, 16, 0))
    assert large.index_bytes - small.index_bytes == 100 * 16 * 4
