"""Late chunking: token states against sentence-transformers, windows, ranges, the cache, refusals."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.embedders.cache import VectorCache
from bench.embedders.late import Late, LoadedLate, windows
from bench.embedders.passages import CachedSpanEmbedder, cached, passage_vectors, read_tokens
from bench.errors import ConfigError, ModelError
from bench.types import Chunk, Document, Span
from tests.hashing import HashEmbedder

TEXT = "Berlin is the capital of Germany. It has 3.8 million people. The city lies on the Spree."
PARTS = [(0, 33), (34, 60), (61, 88)]


@pytest.fixture(scope="module")
def late() -> LoadedLate:
    return Late().load()


@given(count=st.integers(0, 300), room=st.integers(2, 40), overlap=st.integers(0, 39))
@settings(max_examples=200)
def test_windows_tile_the_document(count: int, room: int, overlap: int) -> None:
    overlap = min(overlap, room - 1)
    found = list(windows(count, room, overlap))
    assert [at for _, _, keep, end in found for at in range(keep, end)] == list(range(count))
    assert all(low <= keep < end <= high <= low + room for low, high, keep, end in found)
    for (_, high, _, end), (low, _, keep, _) in itertools.pairwise(found):
        assert high - low == overlap
        assert abs((high - end) - (keep - low)) <= 1


def test_vectors_are_means_of_token_states(late: LoadedLate) -> None:
    model = late._model()
    states = model.encode([TEXT], output_value="token_embeddings")[0].numpy()[1:-1]
    tokens = [len(model.tokenizer.tokenize(TEXT[:end])) for _, end in PARTS]
    for (low, high), vector in zip(itertools.pairwise([0, *tokens]), late.encode_spans(TEXT, PARTS), strict=True):
        mean = states[low:high].mean(axis=0)
        assert np.allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)
    (both,) = late.encode_spans(TEXT, [(0, len(TEXT))])
    assert both @ late.encode([TEXT], "passage")[0] > 0.95


def test_a_chunk_knows_what_stands_before_it(late: LoadedLate) -> None:
    alone = late.encode([TEXT[34:60]], "passage")[0]
    in_place = late.encode_spans(TEXT, PARTS)[1]
    berlin = late.encode(["Berlin"], "query")[0]
    assert berlin @ in_place > berlin @ alone + 0.1


def test_long_documents_and_ranges_without_tokens() -> None:
    small = Late(window_tokens=32, overlap_tokens=8).load()
    text = (TEXT + " ") * 6 + "\u200b\u200b"
    count = int(small.count_tokens([text])[0])
    assert small.window_tokens(text) == count + 8 * (len(list(windows(count, 30, 8))) - 1)
    vectors = small.encode_spans(text, [(0, len(text)), (len(text) - 2, len(text) - 1), (0, 1)])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    with pytest.raises(ModelError, match="no tokens"):
        small.encode_spans("\u200b", [(0, 1)])


def test_each_span_is_computed_once(late: LoadedLate, tmp_path: Path) -> None:
    embedder = cached(late, VectorCache(tmp_path / "v.sqlite"))
    assert isinstance(embedder, CachedSpanEmbedder)
    chunks = [Chunk.of(Document("d", TEXT), start, end) for start, end in PARTS]
    first = passage_vectors(embedder, chunks, {"d": TEXT})
    once = embedder.usage()
    assert once.embedded_tokens == late.window_tokens(TEXT) == read_tokens(embedder, np.zeros(0, int), {"d": TEXT})
    assert np.array_equal(passage_vectors(embedder, chunks[::-1], {"d": TEXT}), first[::-1])
    assert embedder.usage().since(once).embedded_tokens == 0
    assert np.array_equal(first, late.encode_spans(TEXT, PARTS))
    other = passage_vectors(embedder, chunks[:1], {"d": TEXT + " It rains."})
    assert not np.allclose(other[0], first[0], atol=1e-4)
    assert passage_vectors(embedder, [], {}).shape == (0, 384)


def test_text_that_stands_in_no_document_is_refused(late: LoadedLate, tmp_path: Path) -> None:
    embedder = cached(late, VectorCache(tmp_path / "v.sqlite"))
    span = Span("d", 0, 5)
    for chunk in (Chunk(span, "Title\n\n" + TEXT[:5], span), Chunk(None, "A claim.", None)):
        with pytest.raises(ConfigError, match="not indexed as it stands"):
            passage_vectors(embedder, [chunk], {"d": TEXT})


def test_other_embedders_read_the_indexed_text(tmp_path: Path) -> None:
    inner = HashEmbedder(usable_tokens=3)
    embedder = cached(inner, VectorCache(tmp_path / "v.sqlite"))
    span = Span("d", 0, 5)
    passage_vectors(embedder, [Chunk(span, "Title\n\nBerlin", span)], {"d": TEXT})
    assert inner.calls == [("passage", ("Title\n\nBerlin",))]
    assert read_tokens(embedder, np.array([2, 9]), {}) == 5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"window_tokens": 8}, "embedder.window_tokens: got 8"),
        ({"window_tokens": 1024}, "minilm allows at most 512"),
        ({"overlap_tokens": -1}, "embedder.overlap_tokens: got -1"),
        ({"window_tokens": 64, "overlap_tokens": 62}, "with 62 tokens in a window"),
    ],
)
def test_refused(parameters: dict[str, int], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Late(**parameters).load()
