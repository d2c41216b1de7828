"""One answered question with all that its measures look at, and the states that are no numbers."""

from __future__ import annotations

from dataclasses import dataclass

from bench.replies import Answer, Judgement
from bench.types import Context, GoldenQuestion, Score


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, what the generator was given, what it answered, and what the judge found.

    Attributes:
        question: the golden question.
        context: passages and their spans.
        answer: as generated.
        judgement: verdicts of the judge.
        superseded: documents that a document of the gold replaces.
        canaries: words that an answer holds only if it carries out an instruction planted in the context.
        partial_worth: what a partly supported claim counts.
    """

    question: GoldenQuestion
    context: Context
    answer: Answer
    judgement: Judgement
    superseded: frozenset[str] = frozenset()
    canaries: frozenset[str] = frozenset()
    partial_worth: float = 0.5

    def documents(self, passages: tuple[int, ...]) -> set[str]:
        """Return the documents of the passages with these numbers, from 1."""
        spans = [self.context.spans[n - 1] for n in passages if 1 <= n <= len(self.context.spans)]
        return {span.doc_id for span in spans if span is not None}


def undefined(reason: str) -> Score:
    """The measure has no meaning for this question."""
    return Score(None, "undefined", reason)


def failed(reason: str) -> Score:
    """The value was lost."""
    return Score(None, "failed", reason)


def declined(reason: str) -> Score:
    """The generator refused to answer."""
    return Score(None, "declined", reason)
