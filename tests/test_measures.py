"""Measures of retrieval on hand-made rankings: definitions, edges, and the mistakes that other tools make."""

from __future__ import annotations

import pytest

from bench.errors import ConfigError, CorpusError
from bench.layout import Layout
from bench.measures import MEASURES, find, names, score_retrieval
from bench.types import Chunk, Cuts, Document, Evidence, GoldenQuestion, Hit, Ranking, Span
from tests.measuring import EACH, chunks_of, evidence, question, ranking, scores_of, values_of

TENS = [(0, 10), (10, 20), (20, 30)]


class TestMistakes:
    """What peers get wrong, on the smallest input that shows it."""

    def test_touching_chunks_do_not_hold_gold(self) -> None:
        values = values_of(question((10, 20)), TENS, [1, 0, 2])
        assert values["precision_omega"] == 1.0
        assert values["P@k=3"] == pytest.approx(1 / 3)
        assert values["AP"] == values["nDCG@k=3"] == 1.0

    def test_overlapping_evidence_fully_retrieved_is_all_of_it(self) -> None:
        values = values_of(question((0, 20), (10, 30)), [(0, 30)], [0])
        assert values["span_recall@k=1"] == values["evidence_all@k=1"] == 1.0

    def test_overlapping_chunks_count_a_character_once(self) -> None:
        values = values_of(question((5, 15)), [(0, 20), (2, 22), (4, 24), (50, 60)], [0, 1, 2, 0, 1])
        assert values["span_recall@k=5"] == 1.0
        assert values["nDCG@k=5"] == values["R@k=5"] == values["AP"] == 1.0
        assert values["span_precision@k=5"] == 0.1
        assert values["span_precision_unique@k=5"] == 10 / 24
        assert values["duplication@k=5"] == 1 - 24 / 100

    def test_chunk_overlap_does_not_change_recall_at_rank_1(self) -> None:
        for pairs in ([(0, 20), (20, 40)], [(0, 20), (10, 30), (20, 40)]):
            assert values_of(question((10, 20)), pairs, [0])["span_recall@k=1"] == 1.0

    def test_half_of_the_evidence_is_half_and_two_halves_are_all(self) -> None:
        values = values_of(question((5, 15)), TENS, [0, 1])
        assert (values["span_recall@k=1"], values["span_recall@k=3"]) == (0.5, 1.0)
        assert (values["evidence_hit@k=1"], values["evidence_hit@k=3"]) == (0.0, 1.0)
        assert values["evidence_intact"] == 0.0

    def test_a_question_too_large_for_any_chunk_stays_in_the_mean(self) -> None:
        scores = scores_of(question((0, 30)), TENS, [1])
        assert scores["span_recall@k=5"].value == pytest.approx(1 / 3)
        assert (scores["evidence_intact"].value, scores["reachable"].value) == (0.0, 1.0)

    def test_gold_that_no_chunk_holds_is_0_not_dropped(self) -> None:
        scores = scores_of(question((40, 50)), TENS, [0, 1, 2])
        for name in ("span_recall@k=5", "precision_omega", "reachable", "AP", "nDCG@k=5", "RR", "ragas_id_recall@k=5"):
            assert (scores[name].value, scores[name].status) == (0.0, "scored")

    def test_repeated_text_is_evidence_where_it_was_cut_from(self) -> None:
        text = "Fee is 5. Term is 9. Fee is 5. End."
        sentences = [(0, 9), (10, 20), (21, 30), (31, 35)]
        assert text[21:30] == text[0:9]
        values = values_of(question((21, 30)), sentences, [0, 2], text)
        assert (values["span_recall@k=1"], values["span_recall@k=3"]) == (0.0, 1.0)


class TestAlternatives:
    def test_an_item_is_covered_by_its_best_covered_alternative(self) -> None:
        asked = question(evidence((0, 10), (20, 30)))
        assert values_of(asked, TENS, [2])["span_recall@k=1"] == 1.0
        half = values_of(asked, [(0, 4), (20, 25)], [0, 1])
        assert (half["span_recall@k=1"], half["span_recall@k=3"]) == (0.4, 0.5)

    def test_retrieving_both_alternatives_is_not_more_than_all(self) -> None:
        values = values_of(question(evidence((0, 10), (20, 30))), TENS, [0, 2])
        assert values["span_recall@k=3"] == 1.0
        assert values["span_precision@k=3"] == 0.5

    def test_alternatives_outside_the_scope_of_the_question_do_not_count(self) -> None:
        documents = [Document("a", "x" * 10), Document("b", "x" * 10)]
        both = Evidence((Span("a", 0, 10), Span("b", 0, 10)))
        asked = GoldenQuestion("q", "?", evidence=(both,), scope=("b",))
        chunks = [Chunk.of(document, 0, 10) for document in documents]
        scores = score_retrieval(
            [asked],
            chunks,
            [ranking([1], chunks)],
            Layout.of(documents, EACH),
            {document.doc_id: document.text for document in documents},
            Cuts(ks=(1,), tokens=(8,)),
        )["q"]
        assert scores["AP"].value == scores["span_recall@k=1"].value == 1.0


class TestEdges:
    def test_white_space_is_not_evidence(self) -> None:
        text = "  ab  \n\n cd  "
        values = values_of(question((0, 8)), [(2, 4), (8, 13)], [0], text)
        assert values["span_recall@k=1"] == values["evidence_all@k=1"] == values["evidence_intact"] == 1.0
        assert values["span_precision@k=1"] == 1.0

    def test_without_gold_there_is_no_value_and_a_reason(self) -> None:
        scores = scores_of(question(answerable=False), TENS, [0])
        for name in ("span_recall@k=1", "span_precision@k=1", "precision_omega", "RR", "recall_auc"):
            assert (scores[name].value, scores[name].status) == (None, "undefined")
            assert "no gold evidence" in scores[name].reason
        assert scores["context_tokens@k=1"].value == 10.0

    def test_gold_of_white_space_alone_is_no_gold(self) -> None:
        assert scores_of(question((2, 4)), [(0, 6)], [0], "ab  cd")["span_recall@k=1"].status == "undefined"

    def test_nothing_retrieved_is_0_and_duplication_undefined(self) -> None:
        values = values_of(question((0, 10)), TENS, [])
        assert values["span_recall@k=5"] == values["span_precision@k=5"] == values["P@k=5"] == values["RR"] == 0.0
        assert values["ragas_id_precision@k=5"] == values["context_tokens@k=5"] == 0.0
        assert values["duplication@k=5"] is None

    def test_zero_chunks_and_zero_questions(self) -> None:
        values = values_of(question((0, 10)), [], [])
        assert values["precision_omega"] == values["span_recall@k=5"] == values["AP"] == 0.0
        assert score_retrieval([], [], [], Layout.of([], EACH), {}, Cuts()) == {}

    def test_a_question_without_ranking_has_failed_not_scored_0(self) -> None:
        chunks = chunks_of(TENS, "x" * 100)
        layout = Layout.of([Document("d", "x" * 100)], EACH)
        scores = score_retrieval([question((0, 10))], chunks, [], layout, {"d": "x" * 100}, Cuts())["q"]
        assert scores["span_recall@k=5"].status == scores["RR"].status == "failed"
        assert scores["precision_omega"].value == 1.0

    def test_a_strategy_without_spans_has_no_span_measures_and_says_so(self) -> None:
        layout = Layout.of([Document("d", "x" * 30)], EACH)
        rewritten = [Chunk(None, "said otherwise", None)]
        found = [Ranking("q", (Hit(0, 1.0, None),))]
        scores = score_retrieval([question((0, 10))], rewritten, found, layout, {"d": "x" * 30}, Cuts())["q"]
        assert {score.status for score in scores.values()} == {"undefined"}
        assert all("no source spans" in score.reason for score in scores.values())
        assert set(scores) == set(scores_of(question((0, 10)), TENS, [0], cuts=Cuts()))

    def test_what_is_handed_over_is_charged_and_ranked(self) -> None:
        parent = Span("d", 0, 30)
        children = [Chunk(Span("d", *pair), "x" * 10, parent) for pair in TENS]
        layout = Layout.of([Document("d", "x" * 100)], EACH)
        found = [ranking([0, 1], children)]
        scores = score_retrieval([question((10, 20))], children, found, layout, {"d": "x" * 100}, Cuts(ks=(1, 2)))["q"]
        assert scores["span_recall@k=1"].value == 1.0
        assert scores["context_tokens@k=2"].value == 60.0
        assert scores["duplication@k=2"].value == 0.5
        assert (scores["P@k=1"].value, scores["RR"].value) == (1.0, 1.0)
        assert (scores["P@k=2"].value, scores["AP"].value, scores["nDCG@k=2"].value) == (0.5, 1.0, 1.0)

    def test_evidence_outside_the_text_is_refused(self) -> None:
        with pytest.raises(CorpusError, match="leaves the text"):
            scores_of(question((90, 101)), TENS, [0])

    def test_unknown_rules_and_negative_relevance_are_refused(self) -> None:
        with pytest.raises(ConfigError, match="did you mean 'chroma'"):
            scores_of(question((0, 10)), TENS, [0], rules="chrome")
        with pytest.raises(ConfigError, match="relevance is -1"):
            scores_of(question((0, 10)), TENS, [0], relevance=-1)


class TestRelevance:
    """A chunk holds 2 of the 10 gold characters, its neighbour the other 8."""

    @pytest.mark.parametrize(
        ("relevance", "found"),
        [(0.0, [1, 1]), (0.2, [1, 1]), (0.5, [0, 1]), (2.0, [1, 1]), (3.0, [0, 1]), (1.0, [0, 0])],
    )
    def test_threshold_is_a_share_or_a_number_of_characters(self, relevance: float, found: list[int]) -> None:
        values = values_of(question((8, 18)), TENS, [0, 1], relevance=relevance)
        assert values["P@k=1"] == found[0]
        assert values["P@k=3"] == pytest.approx(sum(found) / 3)
        assert values["R@k=3"] == float(any(found))

    def test_short_evidence_can_still_be_relevant(self) -> None:
        assert values_of(question((0, 2)), TENS, [0], relevance=5.0)["P@k=1"] == 1.0


class TestRecallCurve:
    CUTS = Cuts(ks=(1,), tokens=(4096,))

    def test_area_is_the_mean_of_the_trapezoids_between_octaves(self) -> None:
        text = "x" * 8192
        values = values_of(question((0, 512)), [(0, 8192)], [0], text, cuts=self.CUTS)
        assert values["recall_auc"] == pytest.approx((0.375 + 0.75 + 3) / 5)  # recall .25 .5 1 1 1 1
        everything_at_once = values_of(question((0, 128)), [(0, 8192)], [0], text, cuts=self.CUTS)
        assert everything_at_once["recall_auc"] == 1.0

    def test_it_needs_a_search_as_deep_as_the_curve(self) -> None:
        assert scores_of(question((0, 10)), TENS, [0])["recall_auc"].status == "undefined"


class TestSources:
    DOCUMENTS = (
        Document("new", "x" * 20, meta={"supersedes": "old"}),
        Document("old", "x" * 20),
        Document("other", "x" * 20),
    )

    def scores(self, ids: list[int], required: tuple[str, ...], *gold: str) -> dict[str, float | str | None]:
        texts = {document.doc_id: document.text for document in self.DOCUMENTS}
        chunks = [Chunk.of(document, *pair) for document in self.DOCUMENTS for pair in ((0, 10), (10, 20))]
        items = tuple(Evidence((Span(doc_id, 0, 10),)) for doc_id in gold)
        asked = GoldenQuestion("q", "?", evidence=items, required_sources=required)
        layout = Layout.of(self.DOCUMENTS, EACH)
        found = score_retrieval([asked], chunks, [ranking(ids, chunks)], layout, texts, Cuts(ks=(2,), tokens=(8,)))["q"]
        return {name: score.value if score.status == "scored" else score.status for name, score in found.items()}

    def test_a_required_source_needs_a_gold_bearing_chunk(self) -> None:
        wanted = ("new", "other")
        assert self.scores([0, 4], wanted, "new", "other")["required_sources@k=2"] == 1.0
        assert self.scores([0, 1], wanted, "new", "other")["required_sources@k=2"] == 0.5
        assert self.scores([1, 5], wanted, "new", "other")["required_sources@k=2"] == 0.0

    def test_fewer_than_two_or_a_source_without_gold_is_undefined(self) -> None:
        assert self.scores([0], ("new",), "new")["required_sources@k=2"] == "undefined"
        assert self.scores([0], ("new", "other"), "new")["required_sources@k=2"] == "undefined"
        assert self.scores([0], ("new", "new"), "new")["required_sources@k=2"] == "undefined"

    def test_text_of_a_superseded_revision_is_stale(self) -> None:
        assert self.scores([0, 3], (), "new")["stale_retrieved@k=2"] == 1.0
        assert self.scores([0, 4], (), "new")["stale_retrieved@k=2"] == 0.0
        assert self.scores([0, 3], (), "new")["stale_retrieved@tokens=8"] == 0.0

    def test_without_revisions_or_when_the_old_one_was_asked_for_it_is_undefined(self) -> None:
        assert self.scores([2], (), "other")["stale_retrieved@k=2"] == "undefined"
        assert self.scores([2], (), "old")["stale_retrieved@k=2"] == "undefined"
        assert self.scores([2], (), "old", "new")["stale_retrieved@k=2"] == "undefined"


class TestChromaRules:
    TEXT = "".join(chr(0x4E00 + i) for i in range(100))

    def test_touching_chunks_are_retrieved_by_the_oracle(self) -> None:
        asked = question((10, 20))
        assert values_of(asked, TENS, [1], self.TEXT, rules="chroma")["precision_omega"] == pytest.approx(1 / 3)

    def test_gold_in_no_chunk_counts_against_the_oracle(self) -> None:
        asked = question((0, 10))
        assert values_of(asked, [(0, 5)], [0], self.TEXT, rules="chroma")["precision_omega"] == 0.5
        assert values_of(asked, [(0, 5)], [0], self.TEXT)["precision_omega"] == 1.0

    def test_white_space_counts_and_only_the_first_alternative(self) -> None:
        text = "ab   cdefg"
        asked = question(evidence((0, 5), (5, 10)))
        values = values_of(asked, [(0, 2), (5, 10)], [0, 1], text, rules="chroma")
        assert values["span_recall@k=3"] == 0.4
        assert values["span_precision@k=3"] == 2 / 7

    def test_a_chunk_is_placed_where_its_text_stands_first(self) -> None:
        text = "same.diff.same.rest."
        thirds = [(0, 5), (5, 10), (10, 15), (15, 20)]
        assert values_of(question((0, 5)), thirds, [2], text, rules="chroma")["span_recall@k=1"] == 1.0
        assert values_of(question((0, 5)), thirds, [2], text)["span_recall@k=1"] == 0.0

    def test_gold_in_two_items_counts_twice_in_its_size(self) -> None:
        values = values_of(question((0, 20), (10, 30)), [(0, 30)], [0], self.TEXT, rules="chroma")
        assert values["span_recall@k=1"] == 0.75
        assert values["span_iou@k=1"] == 1.0


class TestNames:
    def test_scores_carry_exactly_the_registered_names(self) -> None:
        cuts = Cuts(ks=(1, 3), tokens=(8,))
        retrieval = set(scores_of(question((0, 10)), TENS, [0], cuts=cuts))
        assert retrieval <= set(names(cuts))
        assert {"span_recall@k=3", "span_recall@tokens=8", "span_recall@whole=8", "RR", "nDCG@k=3"} <= retrieval
        assert "context_recall_containment@k=5" in retrieval

    @pytest.mark.parametrize("name", ["span_recall@k=7", "span_recall@whole=2000", "RR", "recall_auc"])
    def test_a_full_name_finds_its_definition(self, name: str) -> None:
        assert find(name) is MEASURES[name.partition("@")[0]]

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("span_recal@k=5", "did you mean 'span_recall'"),
            ("span_recall", "write span_recall@k=N or span_recall@tokens=N"),
            ("span_recall@k=", "not a full name"),
            ("span_recall@k=0", "not a full name"),
            ("span_iou@whole=10", "not a full name"),
            ("RR@k=5", "write RR"),
            ("RR@", "write RR"),
            ("ragas_nonllm_recall", "write ragas_nonllm_recall@k=5"),
        ],
    )
    def test_a_name_that_is_not_whole_is_refused(self, name: str, message: str) -> None:
        with pytest.raises(ConfigError, match=message):
            find(name)

    def test_every_definition_is_whole(self) -> None:
        for family, measure in MEASURES.items():
            assert family == measure.name
            assert measure.better in ("higher", "lower", "neither")
            assert measure.low is None or measure.high is None or measure.low < measure.high
