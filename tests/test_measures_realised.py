"""What a chunking turned out to be."""

from __future__ import annotations

import numpy as np
import pytest

from bench.layout import Layout
from bench.measures import fingerprint, realised
from bench.types import Chunk, Document, Span
from tests.measuring import Words, chunks_of

TEXT = "one two three  four five. "
LAYOUT = Layout.of([Document("d", TEXT)], Words())


def test_sizes_overlap_and_coverage() -> None:
    found = realised(chunks_of([(0, 13), (4, 13), (15, 19)], TEXT), LAYOUT, over_limit=2, empties_dropped=1)
    assert [found[f"tokens_per_chunk_{which}"] for which in ("min", "median", "max")] == [1, 2.0, 3]
    assert [found[f"chars_per_chunk_{which}"] for which in ("min", "median", "max")] == [4, 9.0, 13]
    assert found["overlap_share"] == pytest.approx(9 / 26)
    assert found["uncovered_chars"] == len("five.")
    assert (found["chunks"], found["distinct_chunks"], found["over_limit"], found["empties_dropped"]) == (3, 3, 2, 1)
    assert found["truncated_chunks"] is found["truncated_share"] is None


def test_truncation_is_measured_in_tokens_of_the_embedder() -> None:
    chunks = chunks_of([(0, 13), (15, 19)], TEXT)
    found = realised(chunks, LAYOUT, embedder_tokens=np.array([300, 100]), usable_tokens=254)
    assert (found["truncated_chunks"], found["truncated_share"]) == (1, pytest.approx(46 / 400))
    endless = realised(chunks, LAYOUT, embedder_tokens=np.array([300, 100]))
    assert (endless["truncated_chunks"], endless["truncated_share"]) == (0, 0.0)


def test_rewritten_chunks_have_no_places_and_no_chunks_no_sizes() -> None:
    found = realised([Chunk(None, "a summary", None)], LAYOUT)
    assert found["overlap_share"] is found["uncovered_chars"] is found["tokens_per_chunk_max"] is None
    assert found["chars_per_chunk_max"] == 9
    nothing = realised([], LAYOUT)
    assert nothing["chunks"] == nothing["overlap_share"] == 0
    assert nothing["tokens_per_chunk_median"] is None
    assert nothing["uncovered_chars"] == 20


def test_one_fingerprint_for_one_chunking() -> None:
    chunks = chunks_of([(0, 13), (15, 19)], TEXT)
    assert fingerprint(chunks) == fingerprint(chunks_of([(0, 13), (15, 19)], TEXT))
    headed = [Chunk(chunks[0].span, f"Title\n{chunks[0].indexed_text}", chunks[0].span), chunks[1]]
    expanded = [Chunk(chunks[0].span, chunks[0].indexed_text, Span("d", 0, 19)), chunks[1]]
    others = (chunks[:1], chunks[::-1], chunks_of([(0, 12), (15, 19)], TEXT), headed, expanded)
    assert len({fingerprint(other) for other in (chunks, *others)}) == 6
