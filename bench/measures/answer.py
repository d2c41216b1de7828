"""Measures of answers. Each is one definition and one function of what was asked, given, answered and judged.

A lost reply is ``failed``, a refusal to answer ``declined``, a value without meaning ``undefined``: none of them is a
number, so none moves a mean silently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bench.measures.answered import Answered, declined, failed, undefined
from bench.measures.rank import average_precision
from bench.measures.registry import Measure, register
from bench.replies import Verdict
from bench.types import Score

NO_CLAIM = "the answer makes no claim"
NO_REFERENCE = "the question has no reference answer"
NO_CITATION = "the answer cites nothing"
NO_SUPPORT = "the context bears out no claim of the reference"
FEW_SOURCES = "fewer than 2 required sources"
NO_REVISIONS = "no superseded revision of the gold's documents is in the corpus"
NO_PLANT = "no planted instruction is in the context"
RAGAS, RAGCHECKER = "Es et al. 2023, RAGAS", "Ru et al. 2024, RAGChecker"


def state_of(item: Answered, part: str = "") -> Score | None:
    """Return why an answer, or a part of its judgement, has no value; None where it has one."""
    status = item.answer.status
    if status == "declined":
        return declined("the generator declined to answer")
    if status != "answered":
        return failed(f"answer {status}: {item.answer.reason}".rstrip(": "))
    return lost(item, part) if part else None


def lost(item: Answered, part: str) -> Score | None:
    """Return why a part of the judgement is missing; None where it is there."""
    if part in item.judgement.faults:
        return failed(f"judge: {item.judgement.faults[part]}")
    return undefined("not judged") if getattr(item.judgement, part) is None else None


def faithfulness(item: Answered) -> Score:
    """Supported claims / claims; a partly supported one counts half. With no passage at all: 0."""
    if missing := state_of(item, "claims"):
        return missing
    claims = item.judgement.claims or ()
    if not claims:
        return undefined(NO_CLAIM)
    if not item.context.passages:
        return Score(0.0)
    worth = {"supported": 1.0, "partial": item.partial_worth}
    return Score(sum(worth.get(claim.verdict, 0.0) for claim in claims) / len(claims))


def fully_faithful(item: Answered) -> Score:
    """1 if every claim is supported."""
    score = faithfulness(item)
    if score.value is None:
        return score
    supported = all(claim.verdict == "supported" for claim in item.judgement.claims or ())
    return Score(float(supported and bool(item.context.passages)))


def unsupported_claims(item: Answered) -> Score:
    """Number of claims that are not supported, not even partly; the row keeps the list."""
    if missing := state_of(item, "claims"):
        return missing
    return Score(float(sum(c.verdict in ("unsupported", "contradicted") for c in item.judgement.claims or ())))


def context_relevance(item: Answered) -> Score:
    """Mean grade of the passages (0, 1, 2) / 2; an empty context is worth 0."""
    if not item.context.passages:
        return Score(0.0)
    if missing := lost(item, "grades"):
        return missing
    grades = item.judgement.grades or ()
    return Score(sum(grade.grade for grade in grades) / (2 * len(grades)))


def context_precision_judged(item: Answered) -> Score:
    """Average precision of the passages judged useful for the reference answer, over those retrieved."""
    if not item.question.answer:
        return undefined(NO_REFERENCE)
    if not item.context.passages:
        return Score(0.0)
    if missing := lost(item, "helpful" if "grades" not in item.judgement.faults else "grades"):
        return missing
    useful = item.judgement.helpful or ()
    return Score(average_precision(useful, sum(useful)))


def context_recall_judged(item: Answered) -> Score:
    """Claims of the reference that the context supports / claims of the reference."""
    return _reference(item, "attributed", lambda claims: sum(_held(claim) for claim in claims) / len(claims))


def answer_relevance(item: Answered) -> Score:
    """Rating from 1 to 5, brought to [0, 1]."""
    if missing := state_of(item, "relevance"):
        return missing
    return Score(((item.judgement.relevance or 1) - 1) / 4)


def answer_relevance_cosine(item: Answered) -> Score:
    """Mean cosine between the question and questions made from the answer."""
    if missing := state_of(item, "echo"):
        return missing
    return Score(min(1.0, max(0.0, item.judgement.echo or 0.0)))


def correctness_f1(item: Answered) -> Score:
    """F1 over claims: TP and FP of the answer by the reference, FN of the reference that the answer leaves out."""
    if not item.question.answer:
        return undefined(NO_REFERENCE)
    if missing := state_of(item, "correct") or lost(item, "covered"):
        return missing
    correct, covered = item.judgement.correct or (), item.judgement.covered or ()
    hits = sum(_held(claim) for claim in correct)
    wrong, left = len(correct) - hits, sum(not _held(claim) for claim in covered)
    return Score(hits / (hits + (wrong + left) / 2)) if hits else Score(0.0)


def answer_similarity(item: Answered) -> Score:
    """Cosine between answer and reference."""
    if not item.question.answer:
        return undefined(NO_REFERENCE)
    if missing := state_of(item, "similarity"):
        return missing
    return Score(min(1.0, max(0.0, item.judgement.similarity or 0.0)))


def answer_correctness(item: Answered) -> Score:
    """0.75 F1 + 0.25 cosine."""
    parts = correctness_f1(item), answer_similarity(item)
    for part in parts:
        if part.value is None:
            return part
    return Score(0.75 * (parts[0].value or 0.0) + 0.25 * (parts[1].value or 0.0))


def citation_accuracy(item: Answered) -> Score:
    """Citations whose passage exists and supports the claim / citations."""
    if missing := state_of(item, "citations"):
        return missing
    cited = item.judgement.citations or ()
    return Score(sum(not citation.reason for citation in cited) / len(cited)) if cited else undefined(NO_CITATION)


def uncited(item: Answered) -> Score:
    """1 if the answer cites nothing."""
    return state_of(item) or Score(float(not item.answer.citations))


def decline_rate(item: Answered) -> Score:
    """1 if a question without an answer was declined."""
    return undefined("the question is answerable") if item.question.answerable else _was_declined(item)


def false_refusal(item: Answered) -> Score:
    """1 if a question with an answer was declined."""
    return _was_declined(item) if item.question.answerable else undefined("the question is unanswerable")


def context_utilisation(item: Answered) -> Score:
    """Claims of the reference in both context and answer / those in the context."""

    def value(attributed: Sequence[Verdict]) -> float | None:
        covered = item.judgement.covered or ()
        both = [_held(answered) for given, answered in zip(attributed, covered, strict=True) if _held(given)]
        return sum(both) / len(both) if both else None

    missing = undefined(NO_REFERENCE) if not item.question.answer else state_of(item, "covered")
    return missing or _reference(item, "attributed", value, NO_SUPPORT)


def noise_sensitivity(item: Answered, *, relevant: bool) -> Score:
    """Claims that are wrong and come from useful (or from other) passages / claims."""
    if not item.question.answer:
        return undefined(NO_REFERENCE)
    if missing := state_of(item, "claims") or lost(item, "correct") or lost(item, "helpful"):
        return missing
    claims, correct = item.judgement.claims or (), item.judgement.correct or ()
    if not claims:
        return undefined(NO_CLAIM)
    useful = {number for number, is_useful in enumerate(item.judgement.helpful or (), 1) if is_useful}
    noise = 0
    for claim, truth in zip(claims, correct, strict=True):
        misled = claim.verdict == "supported" and not _held(truth)
        noise += misled and bool(useful.intersection(claim.passages)) == relevant
    return Score(noise / len(claims))


def _was_declined(item: Answered) -> Score:
    missing = state_of(item)
    return Score(1.0) if item.answer.status == "declined" else missing or Score(0.0)


def _held(verdict: Verdict) -> bool:
    return verdict.verdict == "supported"


def _reference(
    item: Answered, part: str, value: Callable[[Sequence[Verdict]], float | None], reason: str = NO_REFERENCE
) -> Score:
    """Score a part that is made of the reference's claims."""
    if not item.question.answer:
        return undefined(NO_REFERENCE)
    if missing := lost(item, part):
        return missing
    claims = getattr(item.judgement, part)
    result = value(claims) if claims else None
    return undefined(reason) if result is None else Score(result)


ANSWER_MEASURES: dict[Measure, Callable[[Answered], Score]] = {
    Measure("faithfulness", undefined=NO_CLAIM, source=RAGAS): faithfulness,
    Measure("fully_faithful", undefined=NO_CLAIM, source="all claims supported"): fully_faithful,
    Measure("unsupported_claims", unit="claims", high=None, better="lower", source=RAGAS): unsupported_claims,
    Measure("context_relevance", source="graded 0, 1, 2 as in TREC"): context_relevance,
    Measure("context_precision_judged", undefined=NO_REFERENCE, source=RAGAS): context_precision_judged,
    Measure("context_recall_judged", undefined=NO_REFERENCE, source=RAGAS): context_recall_judged,
    Measure("answer_relevance", source="rating from 1 to 5"): answer_relevance,
    Measure("answer_relevance_cosine", source=RAGAS): answer_relevance_cosine,
    Measure("answer_correctness", undefined=NO_REFERENCE, source=RAGAS): answer_correctness,
    Measure("answer_correctness_f1", undefined=NO_REFERENCE, source=RAGAS): correctness_f1,
    Measure("answer_similarity", undefined=NO_REFERENCE, source=RAGAS): answer_similarity,
    Measure(
        "citation_accuracy", undefined=NO_CITATION, source="source exists and supports the claim"
    ): citation_accuracy,
    Measure("uncited", better="lower", source="answers without any citation"): uncited,
    Measure("decline_rate", undefined="the question is answerable", source="right refusals"): decline_rate,
    Measure("false_refusal", undefined="the question is unanswerable", better="lower"): false_refusal,
    Measure("context_utilisation", undefined=NO_SUPPORT, source=RAGCHECKER): context_utilisation,
    Measure("noise_sensitivity_relevant", undefined=NO_REFERENCE, better="lower", source=RAGAS): (
        lambda item: noise_sensitivity(item, relevant=True)
    ),
    Measure("noise_sensitivity_irrelevant", undefined=NO_REFERENCE, better="lower", source=RAGAS): (
        lambda item: noise_sensitivity(item, relevant=False)
    ),
}
register(*ANSWER_MEASURES)
