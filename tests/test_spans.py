"""The algebra of intervals against sets of characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bench.spans import Intervals, covers, ink, intersect, intervals, length, subtract, union

PAIRS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda p: (min(p), max(p))), max_size=8)


def characters(spans: Intervals) -> set[int]:
    return {i for start, end in spans.tolist() for i in range(start, end)}


def is_normal(spans: Intervals) -> bool:
    flat = spans.ravel().tolist()
    return flat == sorted(set(flat))


@given(PAIRS)
def test_union_is_the_same_characters_in_normal_form(pairs: list[tuple[int, int]]) -> None:
    spans = intervals(pairs)
    assert characters(union(spans)) == characters(spans)
    assert is_normal(union(spans))


@given(PAIRS, PAIRS)
def test_intersect_and_subtract_are_those_of_sets(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    one, two = intervals(a), intervals(b)
    assert characters(intersect(one, two)) == characters(one) & characters(two)
    assert characters(subtract(one, two)) == characters(one) - characters(two)
    assert is_normal(intersect(one, two))
    assert is_normal(subtract(one, two))


@given(PAIRS)
def test_length_of_a_union_counts_a_character_once(pairs: list[tuple[int, int]]) -> None:
    spans = intervals(pairs)
    assert length(union(spans)) == len(characters(spans))
    assert length(spans) == sum(end - start for start, end in pairs)


def test_touching_is_not_overlapping() -> None:
    assert len(intersect(intervals([(0, 100)]), intervals([(100, 150)]))) == 0
    assert union(intervals([(0, 100), (100, 150)])).tolist() == [[0, 150]]


def test_white_space_weighs_nothing() -> None:
    text = "a \t\u00a0\u3000b\r\n"
    assert ink(text).tolist() == [0, 1, 1, 1, 1, 1, 2, 2, 2]
    assert length(intervals([(0, len(text))]), ink(text)) == 2
    assert covers([(0, 1), (5, 6)], 0, len(text), ink(text))
    assert not covers([(0, 5)], 0, len(text), ink(text))
