"""Is the question answered here: what it asks for, the features, adapting the weights."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from bench.generators.answerability import (
    FEATURES,
    WEIGHTS_FILE,
    Array,
    adapt,
    auc,
    features,
    load_weights,
    weights_version,
)
from bench.generators.asked import Kind, asked
from bench.generators.base import Tools
from bench.generators.extractive import score_sentences
from bench.types import Floats

MUSEUM = "The railway museum opened in 1974. It shows 12 engines. A ticket costs EUR 8."


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("When did the museum open?", {"date"}),
        ("Until when is it open", {"date"}),
        ("In which year was the bridge built?", {"date"}),
        ("What happens when it rains?", set()),
        ("How many engines does it show?", {"count"}),
        ("How long is the viaduct?", {"measure"}),
        ("How much does a ticket cost?", {"price"}),
        ("What does it cost to park there, and how long may I stay?", {"price", "measure"}),
        ("How much water does the boiler hold?", {"number"}),
        ("Who drove it?", set()),
        ("Wann wurde es eröffnet?", set()),
        ("", set()),
    ],
)
def test_the_form_of_a_question_tells_what_it_asks_for(question: str, kinds: set[Kind]) -> None:
    assert asked(question).kinds == kinds


@pytest.mark.parametrize(
    ("question", "holds", "lacks"),
    [
        ("When did it open?", "It opened in 1974.", "It opened long ago."),
        ("When did it open again after 1974?", "Monday was the day.", "It had opened in 1974."),
        ("How many engines are there?", "There are twelve old engines.", "The twelve halls are full of old engines."),
        ("How many engines are there?", "| engines | 12 |", "| engines | some |"),
        ("How long is the bridge?", "It is 140 m long.", "It has 14 arches."),
        ("How much does a ticket cost?", "It is EUR 8.", "It is valid for 8 days."),
        ("How much is the fee, and how long is it good?", "It is valid for 8 days.", "It is valid."),
        ("How much coal fits in?", "About 3 tonnes.", "A great deal."),
    ],
)
def test_a_sentence_holds_what_is_asked_for_or_not(question: str, holds: str, lacks: str) -> None:
    assert asked(question).held_by(holds)
    assert not asked(question).held_by(lacks)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_question_and_sentence_can_be_compared(question: str, sentence: str) -> None:
    assert asked(question).held_by(sentence) or asked(question).kinds


def seen(question: str, *passages: str, embed: bool = False) -> dict[str, float]:
    from bench.sentences import sentences

    def alike(texts: Sequence[str]) -> Floats:
        return np.array([[1.0, 0.0] if "museum" in text else [0.6, 0.8] for text in texts], dtype=np.float32)

    numbered = [(number, s) for number, passage in enumerate(passages, 1) for s in sentences(passage)]
    scores = score_sentences(question, numbered, Tools())
    values = features(question, numbered, passages, scores, alike if embed else None)
    return dict(zip(FEATURES, values.tolist(), strict=False))


def test_what_is_missing_near_the_best_sentence_shows() -> None:
    here = seen("In which year did the railway museum open?", MUSEUM)
    assert (here["kind_missing"], here["far_names"], here["far_numbers"]) == (0, 0, 0)
    assert seen("How many visitors did the railway museum have?", MUSEUM)["kind_missing"] == 1
    other = seen("Did the railway museum at Torsmark open in 1980?", MUSEUM, "Torsmark is a town.")
    assert (other["far_names"], other["far_numbers"]) == (1, 1)
    assert other["near"] < here["near"] <= 1


def test_what_the_second_best_sentence_holds_is_half_there() -> None:
    far = seen("When did the old museum open?", "The old museum did open.", "The museum opened in 1974.")
    assert far["kind_missing"] == pytest.approx(1 / 3)


def test_likeness_of_passages_counts_where_there_are_vectors() -> None:
    assert "passage" not in seen("museum", MUSEUM)
    assert seen("museum", "A town.", MUSEUM, embed=True)["passage"] == pytest.approx(1.0)
    assert seen("museum", "A town.", embed=True)["passage"] == pytest.approx(0.6)


def test_the_stored_weights_are_of_these_features() -> None:
    stored = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    assert tuple(stored["likeness"]["weights"]) == FEATURES
    assert tuple(stored["lexical"]["weights"]) == FEATURES[:-1]
    assert len(load_weights("lexical").values) == len(FEATURES) == len(load_weights("likeness").spreads)
    assert len(weights_version()) == 12


def drawn(n: int, seed: int = 0) -> tuple[Array, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Features of which only one tells, and whether each question has an answer."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, len(FEATURES))) * load_weights("likeness").spreads
    index = FEATURES.index("kind_missing")
    return rows, rows[:, index] / load_weights("likeness").spreads[index] + rng.logistic(size=n) < 1.5


def test_weights_go_where_the_questions_point_and_few_move_them_little() -> None:
    prior, place = load_weights("likeness"), FEATURES.index("kind_missing") + 1
    moved = [abs(adapt(prior, *drawn(n))[0].values[place] - prior.values[place]) for n in (6, 60, 600)]
    assert moved[0] < moved[1] < moved[2]
    rows, good = drawn(600)
    adapted, _ = adapt(prior, rows, good)
    rows, good = drawn(600, seed=1)
    assert auc(adapted.probability(rows), good) > auc(prior.probability(rows), good)


def test_a_question_has_no_part_in_its_own_probability() -> None:
    prior, (rows, good) = load_weights("likeness"), drawn(80)
    _, found = adapt(prior, rows, good)
    for index in range(0, 80, 7):
        rest = np.arange(80) != index
        exact = adapt(prior, rows[rest], good[rest])[0].probability(rows[~rest])[0]
        assert found[index] == pytest.approx(exact, abs=0.02)


def test_of_one_kind_of_question_nothing_is_learnt() -> None:
    prior, (rows, _) = load_weights("likeness"), drawn(5)
    adapted, found = adapt(prior, rows, np.ones(5, dtype=np.bool_))
    assert adapted == prior
    assert found == pytest.approx(prior.probability(rows))


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30))
def test_the_area_agrees_with_another_programs(rows: list[tuple[int, bool]]) -> None:
    values, good = np.array([float(value) for value, _ in rows]), np.array([flag for _, flag in rows])
    if good.all() or not good.any():
        return
    assert auc(values, good) == pytest.approx(roc_auc_score(good, values))
