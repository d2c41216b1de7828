"""Approximate indexes: recall against exact, scopes, too few vectors, the same index on every run."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from bench.errors import ConfigError, ModelError
from bench.index import Flat, Index, IndexConfig, build_index
from bench.indexes.kinds import HNSW, IVF, IVFPQ, PQ
from bench.indexes.recall import index_facts, recall_against
from bench.types import Floats

COUNT, DIM = 2_000, 32
KINDS: list[IndexConfig] = [HNSW(m=8), IVF(), PQ(8, 4), IVFPQ(16, 4, 8, 4)]


def rows(values: Floats) -> Floats:
    return np.asarray(values / np.linalg.norm(values, axis=1, keepdims=True), dtype=np.float32)


@cache
def data() -> tuple[Floats, Floats]:
    """Vectors in 40 clusters, as texts are, some of them twice; queries near them."""
    rng = np.random.default_rng(5)
    centres = rng.normal(size=(40, DIM))
    vectors = rows((centres[rng.integers(0, 40, COUNT)] + 0.5 * rng.normal(size=(COUNT, DIM))).astype(np.float32))
    vectors[1_000:1_020] = vectors[:20]
    queries = rows((centres[rng.integers(0, 40, 50)] + 0.5 * rng.normal(size=(50, DIM))).astype(np.float32))
    return vectors, queries


@cache
def built(config: IndexConfig) -> Index:
    return build_index(data()[0], config, 3)


@pytest.mark.parametrize("config", KINDS, ids=lambda kind: type(kind).__name__)
def test_an_index_is_the_same_on_every_run_and_ranks_as_all_do(config: IndexConfig) -> None:
    vectors, queries = data()
    index, again = built(config), build_index(vectors, config, 3)
    scores, ids = index.search(queries, 60)
    assert index.kind == type(config).__name__.lower()
    assert index.note == ""
    assert index.index_bytes == again.index_bytes > 0
    assert (again.search(queries, 60)[1] == ids).all()
    assert all(len({i for i in row if i >= 0}) == (row >= 0).sum() for row in ids)
    for row, row_ids in zip(scores, ids, strict=True):
        found = row[row_ids >= 0]
        assert (np.diff(found) <= 0).all()
        assert (row_ids[len(found) :] == -1).all()
        ties = np.diff(found) == 0
        assert (np.diff(row_ids[: len(found)])[ties] > 0).all()


@pytest.mark.parametrize("config", [HNSW(m=8), IVF()], ids=["HNSW", "IVF"])
def test_indexes_that_keep_vectors_give_the_scores_of_the_exact_one(config: IndexConfig) -> None:
    vectors, queries = data()
    exact_scores, exact_ids = build_index(vectors).search(queries, COUNT)
    scores, ids = built(config).search(queries, 20)
    for row in range(len(queries)):
        by_id = dict(zip(exact_ids[row].tolist(), exact_scores[row].tolist(), strict=True))
        assert [by_id[i] for i in ids[row].tolist()] == scores[row].tolist()


def test_recall_grows_with_what_is_looked_at_and_is_all_when_all_is() -> None:
    vectors, queries = data()
    exact = build_index(vectors)

    def recall(config: IndexConfig) -> float:
        found = recall_against(exact, built(config), vectors, queries, 10)
        assert found is not None
        return found

    few, more, every = (recall(IVF(40, nprobe)) for nprobe in (1, 4, 40))
    assert few < more <= every == 1.0
    assert recall(HNSW(m=2, ef_construction=4, ef_search=1)) < 0.9 < recall(HNSW(ef_search=400))
    assert recall(PQ(2, 4)) < recall(PQ(8, 4)) < 1
    assert recall(Flat()) == 1.0


def test_recall_by_hand() -> None:
    vectors = rows(np.array([[1, 0], [1, 0], [1, 0.1], [0, 1]], dtype=np.float32))

    class Fixed:
        kind, note, size, index_bytes = "fixed", "", 4, 0

        def __init__(self, ids: list[int]) -> None:
            self.ids = np.array([ids], dtype=np.int64)

        def search(self, queries: Floats, depth: int, within: object = None) -> tuple[Floats, np.ndarray]:
            return np.zeros(self.ids.shape, dtype=np.float32), self.ids

    exact, query = build_index(vectors), vectors[:1]
    assert recall_against(exact, Fixed([0, 2]), vectors, query, 2) == 0.5
    assert recall_against(exact, Fixed([1, -1]), vectors, query, 2) == 0.5
    assert recall_against(exact, Fixed([1]), vectors, query, 1) == 1.0, "any of two equal vectors is right"
    assert recall_against(exact, Fixed([0]), vectors, query[:0], 1) is None


def test_facts_of_a_record() -> None:
    vectors, queries = data()
    flat = index_facts(build_index(vectors), vectors, queries, 33)
    assert flat == {
        "index_kind": "flat",
        "index_note": "",
        "index_depth": 33,
        "index_recall_at_10": 1.0,
        "index_recall_at_depth": 1.0,
    }
    facts = index_facts(build_index(vectors, IVF(40, 2)), vectors, queries, 100)
    assert facts["index_kind"] == "ivf"
    assert 0 < facts["index_recall_at_depth"] < facts["index_recall_at_10"] <= 1


@pytest.mark.parametrize(
    ("config", "note"),
    [
        (HNSW(), "flat in place of hnsw: 30 vectors, its graph needs more than 64"),
        (IVF(), "flat in place of ivf: 30 vectors, 1 cells are trained on 39"),
        (IVF(4, 2), "flat in place of ivf: 30 vectors, 4 cells are trained on 156"),
        (PQ(8), "flat in place of pq: 30 vectors, codes of 8 bits are trained on 9984"),
        (
            IVFPQ(subvectors=8, bits=4),
            "flat in place of ivfpq: 30 vectors, 1 cells and codes of 4 bits are trained on 624",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_too_few_vectors_are_searched_exactly_and_it_is_said(config: IndexConfig, note: str) -> None:
    vectors, queries = data()
    index = build_index(vectors[:30], config)
    assert (index.kind, index.note) == ("flat", note)
    assert (index.search(queries, 9)[1] == build_index(vectors[:30]).search(queries, 9)[1]).all()
    assert build_index(vectors[:0], config).search(queries, 9)[1].shape == (50, 0)


@pytest.mark.parametrize("config", KINDS, ids=lambda kind: type(kind).__name__)
def test_nothing_outside_of_a_scope_is_found(config: IndexConfig) -> None:
    _, queries = data()
    index = built(config)
    within = np.arange(0, COUNT, 5)
    scores, ids = index.search(queries, 30, within)
    assert scores.shape == ids.shape == (50, 30)
    assert set(ids[ids >= 0].tolist()) <= set(within.tolist())
    assert (ids >= 0).mean() > 0.3
    assert index.search(queries, 30, within[:4])[1].shape == (50, 4)
    assert index.search(queries, 30, within[:0])[1].shape == (50, 0)
    assert index.search(queries[:0], 30)[1].shape == (0, 30)


@pytest.mark.parametrize("config", KINDS, ids=lambda kind: type(kind).__name__)
def test_depth_beyond_the_index_gives_each_vector_at_most_once(config: IndexConfig) -> None:
    _, ids = built(config).search(data()[1][:3], COUNT + 500)
    assert ids.shape == (3, COUNT)
    assert all(np.unique(row[row >= 0]).size == (row >= 0).sum() for row in ids)


def test_codes_take_a_fraction_of_the_bytes() -> None:
    vectors, _ = data()
    flat, codes = build_index(vectors).index_bytes, built(PQ(8, 4)).index_bytes
    assert codes < flat / 20


def test_queries_of_another_model_are_refused() -> None:
    vectors, queries = data()
    with pytest.raises(ModelError, match="queries have 16 dimensions, its vectors 32"):
        build_index(vectors, IVF()).search(rows(queries[:, :16]), 3)


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        (HNSW, {"m": 1}, "index.m: got 1; allowed: at least 2"),
        (HNSW, {"ef_search": 0}, "index.ef_search: got 0; allowed: at least 1"),
        (IVF, {"nlist": -1}, "index.nlist: got -1; allowed: at least 0"),
        (IVF, {"nlist": 4, "nprobe": 5}, "index.nprobe: got 5; allowed: at most index.nlist, 4"),
        (PQ, {"bits": 5}, "index.bits: got 5; allowed: 4, 8"),
        (IVFPQ, {"subvectors": 0}, "index.subvectors: got 0; allowed: at least 1"),
    ],
)
def test_wrong_values_name_the_key(kind: type, values: dict[str, int], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        kind(**values)


def test_codes_divide_the_vectors() -> None:
    with pytest.raises(
        ConfigError, match=r"index\.subvectors: got 7; allowed: a divisor of the vectors' 32 dimensions"
    ):
        build_index(data()[0], PQ(7, 4))
