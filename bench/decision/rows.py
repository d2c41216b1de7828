"""The per-question rows of one point, kept compactly: a sweep may hold a thousand points of hundreds of measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.stats.scores import Array

STATES = ("scored", "undefined", "failed", "declined")


@dataclass(frozen=True, slots=True)
class PointRows:
    """Scores of one point.

    ``values`` and ``states`` have shape (questions, measures): NaN where there is no number, and the index of the
    state in ``STATES``. ``columns`` gives each measure its column. ``votes`` maps a question's number to the repeated
    verdicts of a measure, ``hits`` are the first few of each question.
    """

    columns: Mapping[str, int]
    values: Array
    states: NDArray[np.uint8]
    votes: Mapping[int, Mapping[str, Sequence[float]]]
    hits: Sequence[Sequence[Sequence[Any]]]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], keep_hits: int) -> PointRows:
        """Pack the rows of questions.jsonl, in their order; of the hits of each the first ``keep_hits`` stay."""
        names = list(dict.fromkeys(name for row in rows for name in row["scores"]))
        columns = {name: column for column, name in enumerate(names)}
        values = np.full((len(rows), len(names)), np.nan)
        states = np.full((len(rows), len(names)), STATES.index("undefined"), dtype=np.uint8)
        for line, row in enumerate(rows):
            for name, score in row["scores"].items():
                state = str(score["status"]) if isinstance(score, dict) else "scored"
                states[line, columns[name]] = STATES.index(state)
                if state == "scored":
                    values[line, columns[name]] = float(score)
        votes = {line: row["votes"] for line, row in enumerate(rows) if row.get("votes")}
        return cls(columns, values, states, votes, [row["hits"][:keep_hits] for row in rows])

    def column(self, measure: str) -> Array:
        """Scores of one measure, shape (questions,), NaN where not scored."""
        column = self.columns.get(measure)
        return np.full(len(self.values), np.nan) if column is None else self.values[:, column]

    def counts(self, measure: str) -> Counter[str]:
        """How many questions are in each state of a measure."""
        column = self.columns.get(measure)
        if column is None:
            return Counter({"undefined": len(self.values)})
        found = np.bincount(self.states[:, column], minlength=len(STATES))
        return Counter({state: int(n) for state, n in zip(STATES, found, strict=True) if n})

    def undefined(self, measure: str) -> NDArray[np.bool_]:
        """Questions for which a measure has no meaning, shape (questions,)."""
        column = self.columns.get(measure)
        if column is None:
            return np.ones(len(self.values), dtype=np.bool_)
        return np.asarray(self.states[:, column] == STATES.index("undefined"))
