"""The evidence of all questions of a golden set as arrays, and which alternative of each item a cut covers best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench import spans
from bench.errors import ConfigError, near
from bench.layout import Layout
from bench.measures.lanes import Axis, Cover, Flags, Values
from bench.spans import Intervals
from bench.types import GoldenQuestion, Ints, Span


@dataclass(frozen=True, slots=True)
class Rules:
    """How characters are compared.

    Attributes:
        white_space: white space counts as text.
        touching: a chunk that only touches gold holds it (precision_omega).
        first_only: only the first place of repeated text counts: the first alternative of an item, the first
            occurrence of a chunk's text.
        gold_repeats: gold characters that stand in two items count twice in the size of the gold, and what the
            oracle's chunks leave uncovered counts among what it retrieved.
    """

    white_space: bool = False
    touching: bool = False
    first_only: bool = False
    gold_repeats: bool = False


RULES = {
    "standard": Rules(),
    "chroma": Rules(white_space=True, touching=True, first_only=True, gold_repeats=True),
}


def rules_of(name: str) -> Rules:
    """Return the rules of that name: ``standard`` (ours) or ``chroma`` (those of the published Chroma table).

    Raises:
        ConfigError: unknown name.
    """
    if name not in RULES:
        raise ConfigError(f"rules {name!r} are unknown; {near(name, RULES)}")
    return RULES[name]


@dataclass(frozen=True, slots=True)
class Gold:
    """Evidence of all questions. Rows are alternatives, grouped by item, items grouped by question.

    Attributes:
        questions: number of questions (lanes).
        axis: what counts as a character.
        axis_tokens: budget tokens.
        spans: the alternatives, as written.
        keys: the alternatives as keys, shape (rows, 2).
        sizes: what counts in each, shape (rows,).
        item: item of each row, shape (rows,), non-decreasing.
        first: first row of each item, shape (items,).
        lane: question of each item, shape (items,).
        defined: which questions have gold at all, shape (questions,).
        rules: how characters are compared.
    """

    questions: int
    axis: Axis
    axis_tokens: Axis
    spans: tuple[Span, ...]
    keys: Intervals
    sizes: Ints
    item: Ints
    first: Ints
    lane: Ints
    defined: Flags
    rules: Rules

    @classmethod
    def of(cls, questions: Sequence[GoldenQuestion], layout: Layout, rules: Rules) -> Gold:
        """Lay out the evidence. Alternatives that hold nothing that counts are left out, and items without any.

        Raises:
            CorpusError: evidence names an unknown document or leaves its text.
        """
        axis = Axis(np.arange(layout.width, dtype=np.int32) if rules.white_space else layout.axis_ink)
        rows = [
            (lane, number, span)
            for lane, question in enumerate(questions)
            for number, evidence in enumerate(question.evidence)
            for span in _allowed(evidence.alternatives[:1] if rules.first_only else evidence.alternatives, question)
        ]
        lanes = np.array([lane for lane, _, _ in rows], dtype=np.int64)
        keys = axis.keys(lanes, layout.place([span for _, _, span in rows]))
        sizes = axis.sizes(keys)
        kept = np.flatnonzero(sizes)
        owners = np.array([(lane, number) for lane, number, _ in rows], dtype=np.int64).reshape(-1, 2)[kept]
        new = np.concatenate(([True], (owners[1:] != owners[:-1]).any(axis=1)))[: len(owners)]
        first = np.flatnonzero(new)
        lane = owners[first, 0]
        return cls(
            questions=len(questions),
            axis=axis,
            axis_tokens=Axis(layout.axis_tokens),
            spans=tuple(rows[row][2] for row in kept),
            keys=keys[kept],
            sizes=sizes[kept],
            item=np.cumsum(new) - 1,
            first=first,
            lane=lane,
            defined=np.bincount(lane, minlength=len(questions)) > 0,
            rules=rules,
        )

    @property
    def row_lane(self) -> Ints:
        """Question of each row."""
        lanes: Ints = self.lane[self.item]
        return lanes

    def best(self, covered: Ints) -> tuple[Ints, Values]:
        """Return for each item its best-covered row (ties: the first) and the share of it that is covered.

        Args:
            covered: what is covered of each row, shape (rows,).
        """
        share = covered / self.sizes
        if not len(share):
            return np.zeros(0, dtype=np.int64), share
        most = np.maximum.reduceat(share, self.first)
        rows = np.flatnonzero(share == most[self.item])
        _, at = np.unique(self.item[rows], return_index=True)
        return rows[at], most

    def set_of(self, rows: Ints) -> Intervals:
        """Return the union of the gold of ``rows`` as keys."""
        return spans.union(self.keys[rows])

    def cover(self, keys: Intervals, *, tokens: bool = False) -> Cover:
        """Return the union of ``keys``, counted in characters or in budget tokens."""
        return Cover.of(self.axis_tokens if tokens else self.axis, keys)


def _allowed(alternatives: tuple[Span, ...], question: GoldenQuestion) -> tuple[Span, ...]:
    """Return the alternatives within the question's scope; all of them where none is."""
    if question.scope is None:
        return alternatives
    return tuple(span for span in alternatives if span.doc_id in question.scope) or alternatives
