"""Measures on ranks. A chunk is relevant if it holds gold; they depend on how the corpus was cut."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from bench.measures.registry import Measure, register

TREC = "trec_eval"
RAGAS = "RAGAS"
NO_GOLD = "the question has no gold evidence"


@dataclass(frozen=True, slots=True)
class Judged:
    """One ranking with its judgements.

    Attributes:
        ids: ranked chunks, best first.
        gains: 1 for every relevant rank, else 0; a chunk that is ranked again gains nothing.
        relevant: all relevant chunks of the index, each with the evidence items it holds.
        items: number of evidence items of the question.
    """

    ids: tuple[int, ...]
    gains: tuple[int, ...]
    relevant: Mapping[int, Collection[int]]
    items: int

    @classmethod
    def of(cls, ids: Sequence[int], relevant: Mapping[int, Collection[int]], items: int) -> Judged:
        """Judge a ranking."""
        seen: set[int] = set()
        gains = []
        for chunk in ids:
            gains.append(int(chunk in relevant and chunk not in seen))
            seen.add(chunk)
        return cls(tuple(ids), tuple(gains), relevant, items)


def average_precision(verdicts: Sequence[int], relevant: int | None = None) -> float:
    """Return the mean of the precision at every relevant rank.

    Args:
        verdicts: 1 (relevant) or 0, best rank first.
        relevant: what the sum is divided by; None: the relevant ones in ``verdicts`` (the form of RAGAS).
    """
    found, total = 0, 0.0
    for rank, verdict in enumerate(verdicts, 1):
        if verdict:
            found += 1
            total += found / rank
    count = found if relevant is None else relevant
    return total / count if count else 0.0


def reciprocal_rank(verdicts: Sequence[int]) -> float:
    """Return 1 / rank of the first relevant one, 0 where there is none."""
    return next((1.0 / rank for rank, verdict in enumerate(verdicts, 1) if verdict), 0.0)


def dcg(gains: Sequence[int]) -> float:
    """Return the discounted cumulative gain, discount log2(rank + 1)."""
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ndcg(gains: Sequence[int], relevant: int, k: int) -> float:
    """Return DCG over that of an ideal ranking of all ``relevant`` chunks of the index, both cut at ``k``.

    The ideal is never cut at the length of the result (Järvelin & Kekäläinen 2002, as trec_eval computes it).
    """
    ideal = dcg([1] * min(relevant, k))
    return dcg(gains[:k]) / ideal if ideal else 0.0


def precision_at(judged: Judged, k: int) -> float:
    """Return the share of the first ``k`` ranks that are relevant; missing ranks count as not relevant."""
    return sum(judged.gains[:k]) / k


def recall_at(judged: Judged, k: int) -> float:
    """Return the share of the evidence items that the first ``k`` chunks touch."""
    touched = {item for chunk in judged.ids[:k] for item in judged.relevant.get(chunk, ())}
    return len(touched) / judged.items if judged.items else 0.0


def id_precision(retrieved: Collection[object], gold: Collection[object]) -> float:
    """Return the share of the distinct retrieved ids that are gold (RAGAS IDBasedContextPrecision)."""
    found = set(retrieved)
    return len(found & set(gold)) / len(found) if found else 0.0


def id_recall(retrieved: Collection[object], gold: Collection[object]) -> float:
    """Return the share of the distinct gold ids that were retrieved (RAGAS IDBasedContextRecall)."""
    wanted = set(gold)
    return len(wanted & set(retrieved)) / len(wanted) if wanted else 0.0


RANK_MEASURES: dict[Measure, Callable[[Judged], float]] = {
    Measure("RR", undefined=NO_GOLD, source=TREC): lambda judged: reciprocal_rank(judged.gains),
    Measure("AP", undefined=NO_GOLD, source=TREC): (
        lambda judged: average_precision(judged.gains, len(judged.relevant))
    ),
    Measure("AP_retrieved", undefined=NO_GOLD, source=RAGAS): lambda judged: average_precision(judged.gains),
}
RANK_MEASURES_AT: dict[Measure, Callable[[Judged, int], float]] = {
    Measure("P", undefined=NO_GOLD, source=TREC, cuts=("k",)): precision_at,
    Measure("R", undefined=NO_GOLD, source="evidence items touched", cuts=("k",)): recall_at,
    Measure("Success", undefined=NO_GOLD, source=TREC, cuts=("k",)): (lambda judged, k: float(any(judged.gains[:k]))),
    Measure("nDCG", undefined=NO_GOLD, source=TREC, cuts=("k",)): (
        lambda judged, k: ndcg(judged.gains, len(judged.relevant), k)
    ),
    Measure("ragas_id_precision", undefined=NO_GOLD, source=RAGAS, cuts=("k",)): (
        lambda judged, k: id_precision(judged.ids[:k], judged.relevant)
    ),
    Measure("ragas_id_recall", undefined=NO_GOLD, source=RAGAS, cuts=("k",)): (
        lambda judged, k: id_recall(judged.ids[:k], judged.relevant)
    ),
}
register(*RANK_MEASURES, *RANK_MEASURES_AT)
