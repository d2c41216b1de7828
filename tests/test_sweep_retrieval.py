"""Ways of ranking and indexes as axes of a sweep, with a real (static) model."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.__main__ import main
from bench.pipeline import execute
from bench.plan import plan_sweep
from bench.points import label
from bench.session import Session
from bench.store import PointRecord, Sweep
from tests.small import write_corpus
from tests.test_rerank import build


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    documents, golden = write_corpus(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    corpus = [f"corpus.documents={documents}", f"corpus.golden={golden}"]
    return ["sweep", "corpus=folder", *corpus, "embedder=static", "generator=none", "sweep.name=t", "chunker.size=16"]


def run(command: list[str]) -> list[PointRecord]:
    """Run every point of a sweep; figures and report, which other tests look at, are left out."""
    points = plan_sweep(command[1:]).points
    session, sweep = Session.of(points[0]), Sweep(Path("results/t"))
    for point in points:
        execute(point, session, sweep)
    found = [sweep.record(session.point_id(point)) for point in points]
    assert [one.reason for one in found] == [""] * len(points)
    return found


def test_every_way_of_ranking_is_scored_on_the_same_chunks(base: list[str]) -> None:
    names = ["dense", "bm25", "hybrid_rrf", "hybrid_weighted", "mmr", "dedup"]
    found = {one.axes["retriever"]: one for one in run([*base, f"retriever={','.join(names)}"])}
    assert list(found) == names
    assert len({one.realised["chunking_fingerprint"] for one in found.values()}) == 1
    words, dense, both = (found[name].cost for name in ("bm25", "dense", "hybrid_rrf"))
    assert both["index_bytes"] == words["index_bytes"] + dense["index_bytes"]
    assert dense["index_recall_at_10"] == 1.0
    for one in found.values():
        assert one.estimates["span_recall@tokens=2000"]["mean"] > 0.8
        assert 0 < one.cost["retrieval_p50_ms"] <= one.cost["retrieval_p99_ms"]


def test_nothing_is_embedded_for_words_alone_so_the_embedder_is_no_matter(base: list[str]) -> None:
    from bench.embedders.cache import VectorCache

    first, *others = run([*base, "embedder=static,minilm", "index=flat,hnsw", "retriever=bm25"])
    assert [one.duplicate_of for one in others] == [first.point_id] * 3
    cost, realised = first.cost, first.realised
    assert (cost["embedding_tokens"], cost["embedded_now_tokens"], cost["index_kind"]) == (0, 0, "none")
    assert realised["truncated_chunks"] is None
    assert len(VectorCache(Path(".cache/vectors.sqlite"))) == 0


def test_an_index_says_what_it_is_and_what_it_loses(base: list[str]) -> None:
    indexes = ["flat", "hnsw", "ivf", "pq", "ivfpq"]
    found = {one.axes["index"]: one.cost for one in run([*base, f"index={','.join(indexes)}", "chunker.size=6"])}
    kinds = {name: cost["index_kind"] for name, cost in found.items()}
    assert kinds == {"flat": "flat", "hnsw": "flat", "ivf": "ivf", "pq": "flat", "ivfpq": "flat"}
    (graph,) = run([*base, "index=hnsw", "index.m=4", "chunker.size=6"])
    assert graph.cost["index_kind"] == "hnsw"
    assert graph.label.endswith("static hnsw m=4")
    assert found["pq"]["index_note"].startswith("flat in place of pq: ")
    for cost in found.values():
        assert 0 < cost["index_recall_at_10"] <= 1
        assert cost["index_bytes"] > 0


def test_a_cross_encoder_reranks_and_is_part_of_the_points_identity(base: list[str], tmp_path: Path) -> None:
    model = build(tmp_path / "model")
    command = [*base, "retriever=rerank", f"retriever.model={model}", "retriever.base=dense,bm25"]
    dense, words = run(command)
    assert (dense.cost["embedding_tokens"] > 0, words.cost["embedding_tokens"]) == (True, 0)
    assert dense.estimates != words.estimates
    weights = model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\1\2\3\4")
    assert {one.point_id for one in run(command)}.isdisjoint({dense.point_id, words.point_id})


def test_a_high_threshold_leaves_contexts_short_and_recall_defined(base: list[str]) -> None:
    found = run([*base, "retriever=threshold", "retriever.min_score=0.0,0.3,2.0"])
    by_score = {one.axes["retriever.min_score"]: one.estimates for one in found}
    tokens = [by_score[least]["context_tokens@tokens=2000"]["mean"] for least in (0.0, 0.3, 2.0)]
    assert tokens[0] > tokens[1] > tokens[2] == 0
    assert by_score[2.0]["span_recall@tokens=2000"]["mean"] == 0
    assert by_score[2.0]["span_recall@tokens=2000"]["n_scored"] == by_score[0.0]["span_recall@tokens=2000"]["n_scored"]


def test_stages_stand_on_stages_from_the_command_line() -> None:
    nested = ["+retriever.base_options.base=hybrid_rrf", "+retriever.base_options.base_options.k1=0.9,1.5"]
    points = plan_sweep(["retriever=mmr", "retriever.base=dedup", *nested]).points
    assert [point.retriever.first.first.k1 for point in points] == [0.9, 1.5]
    assert len({label(point) for point in points}) == 2
    two = plan_sweep(["retriever=dedup", "retriever.base=dense,bm25"]).points
    assert [one.retriever.base for one in two] == ["dense", "bm25"]
    assert [one.retriever.needs_vectors for one in two] == [True, False]


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["retriever=bm52"], "retriever: got 'bm52'; allowed: .*did you mean 'bm25'"),
        (["retriever=mmr", "retriever.base=bm52"], "retriever.base: got 'bm52'; .*did you mean 'bm25'"),
        (["retriever=mmr", "+retriever.base_options.k1=2"], "base_options.k1: dense has no such parameter"),
        (["retriever=rerank"], "retriever.model: has no value"),
        (["retriever=rerank", "retriever.model=/nowhere/at-all"], "/nowhere/at-all"),
        (["retriever=threshold"], "retriever.min_score: has no value"),
        (["index=hnws"], "index: got 'hnws'; allowed: .*did you mean 'hnsw'"),
        (["index=hnsw", "index.ef=3"], "index.ef: no such setting; .*index.ef_search"),
        (["answers.order=edge"], "answers.order: got 'edge'; allowed: .*did you mean 'edges'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_nothing_is_written(
    base: list[str], extra: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import re

    assert main([*base, *extra]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(message, error)
    assert not Path("results").exists()
