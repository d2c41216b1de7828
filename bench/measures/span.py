"""Measures on spans (MEASURES of retrieved characters): each is one definition and one line of arithmetic.

Characters are non-white-space code points that count once; a question is covered by the best-covered alternative of
each evidence item. A question without gold has no value, for precision too: G is not defined for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.measures.cuts import Pieces
from bench.measures.gold import Gold
from bench.measures.lanes import Flags, Values, per_group
from bench.measures.registry import Measure, register
from bench.spans import Intervals
from bench.types import Ints, Score

NO_GOLD = "the question has no gold evidence"
NO_TOKEN = "the question has no gold evidence, or no budget token starts in it"
NOTHING = "nothing was retrieved"
SMITH = "Smith & Troynikov 2024, Evaluating Chunking Strategies for Retrieval (without its touching rule)"


@dataclass(frozen=True, slots=True)
class Overlap:
    """What one cut retrieved of the gold, a number a question, shape (questions,), characters or tokens.

    Attributes:
        gold: size of the gold G.
        missed: gold that was not retrieved.
        shared: gold that was retrieved.
        unique: size of the retrieved set R.
        repeated: retrieved, counted with repetition.
        headers: handed over above the passages, in no span.
        defined: whether there is gold.
        reason: why there is none.
    """

    gold: Ints
    missed: Ints
    shared: Ints
    unique: Ints
    repeated: Ints
    headers: Ints
    defined: Flags
    reason: str

    @classmethod
    def of(
        cls, gold: Gold, rows: Ints, pieces: Intervals, headers: Ints | None = None, *, tokens: bool = False
    ) -> Overlap:
        """Compare the gold of ``rows`` with ``pieces`` (keys, with repetition); ``headers`` is a number a question."""
        axis = gold.axis_tokens if tokens else gold.axis
        count = gold.questions
        cover = gold.cover(pieces, tokens=tokens)
        whole = gold.set_of(rows)
        shared = per_group(axis.lane(whole), cover.inside(whole), count)
        counted = gold.keys[rows] if gold.rules.gold_repeats else whole
        size = axis.totals(counted, count)
        met = per_group(axis.lane(counted), cover.inside(counted), count)
        unique, repeated = axis.totals(cover.keys, count), axis.totals(pieces, count)
        above = np.zeros(count, dtype=np.int64) if headers is None else headers
        return cls(size, size - met, shared, unique, repeated, above, size > 0, NO_TOKEN if tokens else NO_GOLD)


@dataclass(frozen=True, slots=True)
class Cut:
    """One cut of every question, ready to be measured.

    Attributes:
        gold: the evidence.
        pieces: what was retrieved.
        keys: the same as keys.
        covered: what is covered of each row of the gold, shape (rows,).
        rows: the best row of each item.
        share: the share of it that is covered, shape (items,).
        chars: overlap in characters.
        tokens: overlap in budget tokens.
    """

    gold: Gold
    pieces: Pieces
    keys: Intervals
    covered: Ints
    rows: Ints
    share: Values
    chars: Overlap
    tokens: Overlap

    @classmethod
    def of(cls, gold: Gold, pieces: Pieces) -> Cut:
        """Count one cut."""
        keys = gold.axis.keys(pieces.lane, pieces.placed)
        covered = gold.cover(keys).inside(gold.keys)
        rows, share = gold.best(covered)
        headers = [per_group(pieces.lane, pieces.headers[:, unit], gold.questions) for unit in (0, 1)]
        chars = Overlap.of(gold, rows, keys, headers[0])
        tokens = Overlap.of(gold, rows, keys, headers[1], tokens=True)
        return cls(gold, pieces, keys, covered, rows, share, chars, tokens)


@dataclass(frozen=True, slots=True)
class Column:
    """Values of one measure for all questions; ``reason`` says why the others have none."""

    values: Values
    defined: Flags
    reason: str

    def scores(self) -> list[Score]:
        """Return one score a question."""
        missing = Score(None, "undefined", self.reason)
        rows = zip(self.values.tolist(), self.defined.tolist(), strict=True)
        return [Score(value) if defined else missing for value, defined in rows]


def ratio(top: Ints | Values, bottom: Ints | Values) -> Values:
    """Return ``top / bottom``, 0 where ``bottom`` is 0."""
    return np.divide(top, bottom, out=np.zeros(len(top), dtype=np.float64), where=np.asarray(bottom) > 0)


def item_mean(gold: Gold, share: Values) -> Values:
    """Return the mean over the evidence items of each question, shape (questions,)."""
    total = np.bincount(gold.lane, weights=share, minlength=gold.questions)
    return ratio(total, np.bincount(gold.lane, minlength=gold.questions))


def recall(overlap: Overlap) -> Column:
    """|G n R| / |G|."""
    return Column(ratio(overlap.shared, overlap.gold), overlap.defined, overlap.reason)


def precision(overlap: Overlap) -> Column:
    """|G n R| / handed over: retrieved with repetition, and headers."""
    return Column(ratio(overlap.shared, overlap.repeated + overlap.headers), overlap.defined, overlap.reason)


def precision_unique(overlap: Overlap) -> Column:
    """|G n R| / |R|."""
    return Column(ratio(overlap.shared, overlap.unique), overlap.defined, overlap.reason)


def iou(overlap: Overlap) -> Column:
    """|G n R| / (handed over, as for precision, + gold that was missed)."""
    given = overlap.repeated + overlap.headers
    return Column(ratio(overlap.shared, given + overlap.missed), overlap.defined, overlap.reason)


def evidence_hit(cut: Cut) -> Column:
    """Share of the evidence items wholly inside R."""
    return Column(item_mean(cut.gold, (cut.share >= 1.0).astype(np.float64)), cut.gold.defined, NO_GOLD)


def evidence_all(cut: Cut) -> Column:
    """1 if every evidence item is wholly inside R."""
    hit = evidence_hit(cut)
    return Column((hit.values >= 1.0).astype(np.float64), hit.defined, NO_GOLD)


def duplication(overlap: Overlap) -> Column:
    """1 - |R| / retrieved with repetition."""
    return Column(1.0 - ratio(overlap.unique, overlap.repeated), overlap.repeated > 0, NOTHING)


def context_tokens(cut: Cut) -> Column:
    """Budget tokens handed to the generator."""
    total = per_group(cut.pieces.lane, cut.pieces.tokens, cut.gold.questions).astype(np.float64)
    return Column(total, np.ones(len(total), dtype=np.bool_), "")


def _in_chars(value: Callable[[Overlap], Column]) -> Callable[[Cut], Column]:
    return lambda cut: value(cut.chars)


def _in_tokens(value: Callable[[Overlap], Column]) -> Callable[[Cut], Column]:
    return lambda cut: value(cut.tokens)


_ALL, _TWO = ("k", "tokens", "whole"), ("k", "tokens")
_OURS = "union of retrieved spans, characters counted once"

# Family: how it follows from an overlap, the cuts it takes in characters, its source. All exist in budget tokens, too.
_OVERLAPS: dict[str, tuple[Callable[[Overlap], Column], tuple[str, ...], str]] = {
    "span_recall": (recall, _ALL, _OURS),
    "span_precision": (precision, _ALL, _OURS),
    "span_precision_unique": (precision_unique, _TWO, _OURS),
    "span_iou": (iou, _TWO, SMITH),
}

SPAN_MEASURES: dict[Measure, Callable[[Cut], Column]] = {
    **{
        Measure(name, undefined=NO_GOLD, source=source, cuts=cuts): _in_chars(value)
        for name, (value, cuts, source) in _OVERLAPS.items()
    },
    **{
        Measure(f"{name}_in_tokens", undefined=NO_TOKEN, source=source, cuts=_TWO): _in_tokens(value)
        for name, (value, _, source) in _OVERLAPS.items()
    },
    Measure("evidence_hit", undefined=NO_GOLD, source=_OURS, cuts=_ALL): evidence_hit,
    Measure("evidence_all", undefined=NO_GOLD, source=_OURS, cuts=_TWO): evidence_all,
    Measure("duplication", undefined=NOTHING, better="lower", source=_OURS, cuts=_TWO): _in_chars(duplication),
    Measure("duplication_in_tokens", undefined=NOTHING, better="lower", source=_OURS, cuts=_TWO): (
        _in_tokens(duplication)
    ),
    Measure("context_tokens", unit="tokens", high=None, better="lower", cuts=_ALL): context_tokens,
}
register(*SPAN_MEASURES)
