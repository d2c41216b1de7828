"""What a chunking turned out to be."""

from __future__ import annotations

import numpy as np
import pytest

from bench.layout import Layout
from bench.measures import realised
from bench.measures.realised import Realised
from bench.types import Chunk, Document
from tests.measuring import Words, chunks_of

TEXT = "one two three  four five. "
LAYOUT = Layout.of([Document("d", TEXT)], Words())


def known(chunks: list[Chunk], tokens: list[int] | None = None, usable: int | None = None) -> Realised:
    counts = None if tokens is None else np.array(tokens)
    return realised(
        chunks,
        LAYOUT,
        fingerprint="f",
        over_limit=2,
        empties_dropped=1,
        uncovered_chars=5,
        embedder_tokens=counts,
        usable_tokens=usable,
    )


def test_sizes_overlap_and_coverage() -> None:
    found = known(chunks_of([(0, 13), (4, 13), (15, 19)], TEXT))
    assert [found[f"tokens_per_chunk_{which}"] for which in ("min", "median", "max")] == [1, 2.0, 3]
    assert [found[f"chars_per_chunk_{which}"] for which in ("min", "median", "max")] == [4, 9.0, 13]
    assert found["overlap_share"] == pytest.approx(9 / 26)
    assert (found["chunks"], found["distinct_chunks"], found["chunking_fingerprint"]) == (3, 3, "f")
    assert (found["over_limit"], found["empties_dropped"], found["uncovered_chars"]) == (2, 1, 5)
    assert found["truncated_chunks"] is found["truncated_share"] is None


def test_truncation_is_measured_in_tokens_of_the_embedder() -> None:
    chunks = chunks_of([(0, 13), (15, 19)], TEXT)
    found = known(chunks, [300, 100], 254)
    assert found["truncated_chunks"] == 1
    assert found["truncated_share"] == pytest.approx(46 / 400)
    endless = known(chunks, [300, 100])
    assert (endless["truncated_chunks"], endless["truncated_share"]) == (0, 0.0)


def test_rewritten_chunks_have_no_places_and_no_chunks_no_sizes() -> None:
    found = known([Chunk(None, "a summary", None)])
    assert found["overlap_share"] is found["uncovered_chars"] is found["tokens_per_chunk_max"] is None
    assert found["chars_per_chunk_max"] == 9
    nothing = known([])
    assert nothing["chunks"] == nothing["overlap_share"] == 0
    assert nothing["tokens_per_chunk_median"] is None
