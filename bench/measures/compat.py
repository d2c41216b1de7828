"""Forms that other tools report, so that numbers can be held beside theirs. They compare text, not places.

Only at the first 5 chunks. Levenshtein with a cut-off costs a few microseconds a pair of chunk and quote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from rapidfuzz.distance import Levenshtein

from bench.measures.rank import average_precision
from bench.measures.registry import Measure, register

K = 5
SIMILAR = 0.5
_WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]|\w+")


def similarity(a: str, b: str) -> float:
    """Return 1 - Levenshtein distance / length of the longer text; 0 where that is below one half."""
    return Levenshtein.normalized_similarity(a, b, score_cutoff=SIMILAR)


def nonllm_precision(retrieved: Sequence[str], references: Sequence[str]) -> float:
    """Return average precision where a chunk is relevant if it is at least half similar to some reference.

    RAGAS NonLLMContextPrecisionWithReference.
    """
    return average_precision(
        [int(any(similarity(chunk, quote) >= SIMILAR for quote in references)) for chunk in retrieved]
    )


def nonllm_recall(retrieved: Sequence[str], references: Sequence[str]) -> float:
    """Return the share of references that are more than half similar to some chunk (RAGAS NonLLMContextRecall)."""
    if not references:
        return 0.0
    found = sum(any(similarity(chunk, quote) > SIMILAR for chunk in retrieved) for quote in references)
    return found / len(references)


def containment_recall(retrieved: Sequence[str], references: Sequence[str]) -> float:
    """Return the share of references that stand in a chunk, or in which a chunk stands. **Unsafe.**

    Text found elsewhere counts, evidence cut in two does not. A chunk of fewer than two words never counts (in scripts
    without spaces between words each character is taken for a word).
    """
    if not references:
        return 0.0
    chunks = [chunk for chunk in retrieved if _two_words(chunk)]
    found = sum(any(quote in chunk or chunk in quote for chunk in chunks) for quote in references)
    return found / len(references)


def _two_words(text: str) -> bool:
    words = _WORD.finditer(text)
    return next(words, None) is not None and next(words, None) is not None


_NO_GOLD = "the question has no gold evidence"

TEXT_MEASURES: dict[Measure, Callable[[Sequence[str], Sequence[str]], float]] = {
    Measure(name, undefined=_NO_GOLD, source=source, cuts=("k",), fixed=K): value
    for name, source, value in (
        ("ragas_nonllm_precision", "RAGAS, Levenshtein >= 0.5", nonllm_precision),
        ("ragas_nonllm_recall", "RAGAS, Levenshtein > 0.5", nonllm_recall),
        ("context_recall_containment", "substring either way; unsafe, for comparison only", containment_recall),
    )
}
register(*TEXT_MEASURES)
