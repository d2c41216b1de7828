"""The axis of a corpus: prefix counts, places, revisions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.errors import CorpusError
from bench.layout import Layout, advance, fill, fit
from bench.types import Document, Span
from tests.measuring import EACH, Words

HOSTILE = "a\tb\r\n\u00a0é\u3000字 \U0001f600\x0c\ufeffz"


def layout_of(*texts: str, tokenizer: Words = EACH) -> Layout:
    return Layout.of([Document(f"d{i}", text) for i, text in enumerate(texts)], tokenizer)


@given(st.lists(st.text(max_size=20), max_size=4))
def test_prefix_counts_are_those_of_each_document(texts: list[str]) -> None:
    layout = layout_of(*texts, tokenizer=Words())
    for number, text in enumerate(texts):
        starts = Words().starts(text).tolist()
        ink, tokens = layout.ink[f"d{number}"], layout.tokens[f"d{number}"]
        assert ink.tolist() == [sum(not c.isspace() for c in text[:i]) for i in range(len(text) + 1)]
        assert tokens.tolist() == [sum(start < i for start in starts) for i in range(len(text) + 1)]
    assert layout.width == sum(len(text) + 1 for text in texts)


def test_offsets_are_code_points_of_the_text_as_loaded() -> None:
    layout = layout_of(HOSTILE)
    assert layout.ink["d0"][-1] == sum(not c.isspace() for c in HOSTILE)
    assert layout.count_tokens(Span("d0", 0, len(HOSTILE))) == len(HOSTILE)
    assert layout.ink["d0"].dtype.itemsize == 4


def test_spans_of_neighbouring_documents_never_touch() -> None:
    layout = layout_of("abc", "def")
    (_, end), (start, _) = layout.place([Span("d0", 0, 3), Span("d1", 0, 3)]).tolist()
    assert end < start


@pytest.mark.parametrize("span", [Span("d0", 0, 4), Span("d0", -1, 2), Span("d0", 2, 1)])
def test_a_span_outside_its_text_is_refused(span: Span) -> None:
    with pytest.raises(CorpusError, match=r"leaves the text of 'd0' \(3 characters\)"):
        layout_of("abc", "def").place([Span("d1", 0, 3), span])


def test_a_span_of_an_unknown_document_is_refused() -> None:
    with pytest.raises(CorpusError, match="'nowhere', which is not in the corpus"):
        layout_of("abc").place([Span("nowhere", 0, 1)])


def test_two_documents_with_one_id_are_refused() -> None:
    with pytest.raises(CorpusError, match="share the id"):
        Layout.of([Document("d", "a"), Document("d", "b")], EACH)


def test_an_empty_corpus_and_an_empty_document_have_no_characters() -> None:
    assert layout_of().place([]).shape == (0, 2)
    assert layout_of("").ink["d0"].tolist() == [0]


def test_superseded_revisions_are_followed_through_and_only_where_indexed() -> None:
    documents = [
        Document("v1", "a"),
        Document("v2", "b", meta={"supersedes": "v1"}),
        Document("v3", "c", meta={"supersedes": ["v2", "not-indexed"]}),
        Document("loop", "d", meta={"supersedes": "loop"}),
    ]
    assert Layout.of(documents, EACH).supersedes == {"v2": {"v1"}, "v3": {"v1", "v2"}}


@pytest.mark.parametrize(("budget", "end"), [(0, 1), (1, 4), (2, 6), (3, 7), (9, 7)])
def test_advance_stops_where_the_next_token_starts(budget: int, end: int) -> None:
    tokens = layout_of(" ab c d", tokenizer=Words()).tokens["d0"]
    assert advance(tokens, 0, 7, budget) == end


@pytest.mark.parametrize(
    ("budget", "filled", "fits"), [(1, (0, 1), 0), (3, (0, 3), 1), (4, (1, 1), 1), (5, (1, 2), 2), (99, (3, 90), 3)]
)
def test_fill_and_fit(budget: int, filled: tuple[int, int], fits: int) -> None:
    counts = np.array([3, 2, 4])
    assert fill(counts, budget) == filled
    assert fit(counts, budget) == fits
