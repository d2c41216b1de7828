"""Reranking by a cross-encoder that the test builds: tiny, random, but a real sentence-transformers model."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.errors import ModelError
from bench.index import build_index
from bench.retrieve import Dense, Retrieval, retrieve
from bench.retrievers.rerank import Rerank, load
from bench.types import Chunk, GoldenQuestion, Span
from tests.hashing import HashEmbedder

WORDS = ["red", "fox", "blue", "whale", "grey", "wolf", "white", "owl", "runs", "sleeps", "harbour", "night"]


def build(folder: Path, labels: int = 1) -> Path:
    """Write a cross-encoder of some thousand random weights."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir(parents=True)
    vocabulary = folder / "words.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]), encoding="utf-8")
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=5 + len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64, num_labels=labels, initializer_range=1.0,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(vocab=str(vocabulary), model_max_length=64).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("models") / "tiny")


def asked(retriever: Rerank | Dense, depth: int = 20) -> Retrieval:
    rng = random.Random(2)
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(1, 9))) for _ in range(20)]
    texts[11] = texts[3]
    chunks = [Chunk(span := Span(f"d{i // 7}", 100 * i, 100 * i + len(t)), t, span) for i, t in enumerate(texts)]
    questions = [GoldenQuestion("a", "red fox"), GoldenQuestion("b", "owl at night \ud800", scope=("d0", "d2"))]
    embedder = HashEmbedder()
    vectors = embedder.encode(texts, "passage")
    queries = embedder.encode([question.text for question in questions], "query")
    return retriever.prepare(Retrieval(questions, queries, chunks, build_index(vectors), depth, vectors))


def raw(folder: Path, question: str, text: str) -> float:
    """The model's output for one pair, without the class that ranks with it."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        output = model(**AutoTokenizer.from_pretrained(folder)(question, text, return_tensors="pt"))
    return float(output.logits[0, 0])


def test_the_order_is_the_models(folder: Path) -> None:
    retriever = Rerank(model=str(folder))
    given = asked(retriever)
    first, second = retriever.rank(given)
    expected = {i: raw(folder, "red fox", chunk.indexed_text) for i, chunk in enumerate(given.chunks)}
    assert [hit.chunk for hit in first.hits] == sorted(expected, key=lambda i: (-round(expected[i], 4), i))
    assert [hit.score for hit in first.hits] == pytest.approx([expected[h.chunk] for h in first.hits], abs=1e-4)
    assert len({round(hit.score, 4) for hit in first.hits}) > 15, "a model that tells texts apart"
    twins = {hit.chunk: hit.score for hit in first.hits}
    assert twins[3] == twins[11]
    assert {hit.delivered.doc_id for hit in second.hits if hit.delivered} == {"d0", "d2"}
    assert retrieve(retriever, given).rankings == [first, second]


def test_a_question_is_scored_alike_whatever_is_asked_beside(folder: Path) -> None:
    retriever = Rerank(model=str(folder), batch=3)
    given = asked(retriever)
    together = retriever.rank(given)
    for row in (0, 1):
        queries = given.query_vectors[row : row + 1] if given.query_vectors is not None else None
        assert retriever.rank(replace(given, questions=[given.questions[row]], query_vectors=queries)) == [
            together[row]
        ]


def test_what_is_not_read_follows_in_the_order_of_the_base(folder: Path) -> None:
    retriever = Rerank(model=str(folder), candidates=4)
    given = asked(retriever)
    dense = [hit.chunk for hit in Dense().rank(given)[0].hits]
    found = retriever.rank(given)[0].hits
    assert {hit.chunk for hit in found[:4]} == set(dense[:4])
    assert [hit.chunk for hit in found[4:]] == dense[4:]
    assert (np.diff([hit.score for hit in found]) <= 0).all()
    assert retriever.rank(replace(given, depth=2))[0].hits == found[:2]


def test_it_reranks_what_words_find_without_any_vector(folder: Path) -> None:
    retriever = Rerank(model=str(folder), base="bm25")
    assert not retriever.needs_vectors
    given = asked(retriever)
    found = retriever.rank(replace(given, index=None, query_vectors=None, chunk_vectors=None))[0].hits
    assert {hit.chunk for hit in found} == {
        i for i, chunk in enumerate(given.chunks) if {"red", "fox"} & set(chunk.indexed_text.split())
    }


def test_longest_pair_is_kept_to(folder: Path) -> None:
    assert load(str(folder), "cpu", 8).max_seq_length == 8
    short, long = Rerank(model=str(folder), max_tokens=8), Rerank(model=str(folder))
    assert short.rank(asked(short)) != long.rank(asked(long))


def test_other_weights_are_another_fingerprint(folder: Path, tmp_path: Path) -> None:
    import shutil

    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    retriever = Rerank(model=str(copy))
    assert retriever.fingerprint == Rerank(model=str(folder)).fingerprint
    before = retriever.fingerprint
    (copy / "model.safetensors").write_bytes((copy / "model.safetensors").read_bytes()[:-4] + b"\1\2\3\4")
    assert retriever.fingerprint != before


def test_models_that_are_none(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="'no/such-model' is no folder and cannot be fetched"):
        asked(Rerank(model="no/such-model"))
    with pytest.raises(ModelError, match="holds no model"):
        asked(Rerank(model=str(tmp_path)))
    with pytest.raises(ModelError, match="has 3 outputs; a reranker has one"):
        asked(Rerank(model=str(build(tmp_path / "three", labels=3))))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match="broken cannot be loaded"):
        asked(Rerank(model=str(tmp_path / "broken")))
