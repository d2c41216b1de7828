"""Every span measure against sets of characters, on random texts, gold, chunkings and rankings."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.context import charged, cut_tokens, cut_whole
from bench.layout import Layout
from bench.measures import score_retrieval
from bench.types import Chunk, Cuts, Document, Evidence, GoldenQuestion, Ranking, Score, Span
from tests.measuring import Words, ranking
from tests.reference import oracle

CUTS = Cuts(ks=(1, 2, 4), tokens=(1, 3, 7, 20))


@dataclass(frozen=True)
class World:
    documents: list[Document]
    questions: list[GoldenQuestion]
    chunks: list[Chunk]
    rankings: list[Ranking]

    @property
    def texts(self) -> dict[str, str]:
        return {document.doc_id: document.text for document in self.documents}

    @property
    def starts(self) -> dict[str, list[int]]:
        return {document.doc_id: Words().starts(document.text).tolist() for document in self.documents}

    @property
    def layout(self) -> Layout:
        return Layout.of(self.documents, Words())

    def scores(self, cuts: Cuts = CUTS) -> dict[str, dict[str, Score]]:
        return score_retrieval(self.questions, self.chunks, self.rankings, self.layout, self.texts, cuts)


def spans_in(documents: list[Document]) -> st.SearchStrategy[Span]:
    def within(document: Document) -> st.SearchStrategy[Span]:
        pair = st.tuples(st.integers(0, len(document.text)), st.integers(0, len(document.text))).map(sorted)
        return pair.map(lambda ends: Span(document.doc_id, *ends))

    return st.sampled_from(documents).flatmap(within)


@st.composite
def worlds(draw: st.DrawFn, alternatives: int = 3) -> World:
    texts = draw(st.lists(st.text(alphabet="ab \n,字\U0001f600", min_size=1, max_size=24), min_size=1, max_size=2))
    documents = [Document(f"d{i}", text) for i, text in enumerate(texts)]
    spans = spans_in(documents)
    items = st.lists(st.lists(spans, min_size=1, max_size=alternatives), max_size=3)
    questions = [
        GoldenQuestion(f"q{i}", "?", evidence=tuple(Evidence(tuple(item)) for item in found))
        for i, found in enumerate(draw(st.lists(items, min_size=1, max_size=3)))
    ]
    by_id = {document.doc_id: document for document in documents}
    cut = draw(st.lists(spans, min_size=1, max_size=6))
    chunks = [Chunk.of(by_id[span.doc_id], span.start, span.end) for span in cut]
    hits = st.lists(st.integers(0, len(chunks) - 1), max_size=7)
    return World(documents, questions, chunks, [ranking(draw(hits), chunks, q.question_id) for q in questions])


def expected(world: World, asked: GoldenQuestion, found: Ranking) -> dict[str, float | None]:
    """What the oracle says of every cut of one question."""
    delivered = [hit.delivered for hit in found.hits if hit.delivered is not None]
    cuts = {f"k={k}": delivered[:k] for k in CUTS.ks}
    cuts |= {f"tokens={budget}": oracle.fill(delivered, budget, world.starts) for budget in CUTS.tokens}
    values = {
        f"{name}@{cut}": value
        for cut, pieces in cuts.items()
        for name, value in oracle.cut_scores(asked, pieces, world.texts, world.starts).items()
    }
    chunks = [chunk.span for chunk in world.chunks if chunk.span is not None]
    return values | oracle.chunking_scores(asked, chunks, world.texts, world.starts)


@settings(max_examples=300, deadline=None)
@given(worlds())
def test_every_span_measure_is_what_sets_of_characters_say(world: World) -> None:
    scores = world.scores()
    for asked, found in zip(world.questions, world.rankings, strict=True):
        for name, value in expected(world, asked, found).items():
            score = scores[asked.question_id][name]
            assert score.value == (None if value is None else pytest.approx(value, abs=1e-12)), name
            assert score.status == ("undefined" if value is None else "scored")
            assert bool(score.reason) == (value is None)


def assert_rises(world: World, *families: str) -> None:
    for row in world.scores().values():
        for kind, sizes in (("k", CUTS.ks), ("tokens", CUTS.tokens), ("whole", CUTS.tokens)):
            for family in families:
                values = [row[f"{family}@{kind}={size}"].value for size in sizes]
                known = [value for value in values if value is not None]
                assert known == sorted(known), f"{family}@{kind}"


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_more_context_never_loses_an_evidence_item(world: World) -> None:
    assert_rises(world, "evidence_hit")


@settings(max_examples=100, deadline=None)
@given(worlds(alternatives=1))
def test_more_context_never_loses_recall(world: World) -> None:
    assert_rises(world, "evidence_hit", "span_recall")


@settings(max_examples=100, deadline=None)
@given(worlds(), st.integers(2, 3), st.lists(st.integers(0, 8), min_size=2, max_size=6, unique=True).map(sorted))
def test_more_context_never_loses_recall_of_text_that_stands_several_times(
    world: World, times: int, borders: list[int]
) -> None:
    """Alternatives of different length could make it fall: G is that of the best alternatives of each cut."""
    document = Document("d0", "ab c,字de." * times)
    starts = range(0, len(document.text), len("ab c,字de."))
    items = [
        Evidence(tuple(Span("d0", start + low, start + high) for start in starts)) for low, high in pairwise(borders)
    ]
    size = len(document.text)
    cut = [(chunk.span.start % size, chunk.span.end % size) for chunk in world.chunks if chunk.span is not None]
    chunks = [Chunk.of(document, min(pair), max(pair)) for pair in cut]
    ranked = [ranking([hit.chunk for hit in world.rankings[0].hits], chunks, "q0")]
    asked = [GoldenQuestion("q0", "?", evidence=tuple(items))]
    assert_rises(World([document], asked, chunks, ranked), "evidence_hit", "span_recall")


@settings(max_examples=150, deadline=None)
@given(worlds(), st.data())
def test_repeated_hits_keep_every_share_within_its_range(world: World, data: st.DataObject) -> None:
    again = [Ranking(found.question_id, found.hits * data.draw(st.integers(1, 3))) for found in world.rankings]
    doubled = World(world.documents, world.questions, world.chunks, again)
    for row in doubled.scores().values():
        for name, score in row.items():
            if score.value is not None and not name.startswith("context_tokens"):
                assert 0.0 <= score.value <= 1.0, name


@settings(max_examples=150, deadline=None)
@given(worlds(), st.integers(1, 30))
def test_a_token_budget_is_spent_exactly_or_the_ranking_is_spent(world: World, budget: int) -> None:
    layout, hits = world.layout, world.rankings[0].hits
    held = sum(layout.count_tokens(hit.delivered) for hit in hits if hit.delivered is not None)
    filled = cut_tokens(hits, budget, layout)
    assert sum(charged(hit, layout) for hit in filled) == min(budget, held)
    assert [hit.delivered for hit in filled] == oracle.fill(
        [hit.delivered for hit in hits if hit.delivered is not None], budget, world.starts
    )
    whole = cut_whole(hits, budget, layout)
    assert sum(charged(hit, layout) for hit in whole) <= budget
    assert list(hits[: len(whole)]) == whole


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_every_question_has_the_same_measures(world: World) -> None:
    rows = list(world.scores().values())
    assert all(row.keys() == rows[0].keys() for row in rows)
