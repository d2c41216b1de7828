"""Assembles judgements: every check of all cases is asked for at once, so that a slow judge works in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.judges.base import Check, Engine, Found, Reading, cited
from bench.replies import Case, Citation, Judgement, Usage, Verdict


@dataclass
class _Draft:
    """A judgement in the making."""

    case: Case
    parts: dict[str, Any] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    answer_claims: tuple[str, ...] | None = None
    reference_claims: tuple[str, ...] | None = None

    def take(self, part: str, found: Sequence[Found[Any]]) -> list[Any] | None:
        """Keep a part, or the reason why one of its checks failed."""
        for one in found:
            self.usage = self.usage + one.usage
        lost = [one.fault for one in found if one.fault]
        if lost:
            self.faults[part] = lost[0]
            return None
        return [one.value for one in found]

    def spoil(self, part: str, others: Sequence[str]) -> None:
        """Where a part failed, those that need it have failed, too."""
        if part in self.faults:
            self.faults.update((other, self.faults[part]) for other in others)

    def done(self) -> Judgement:
        return Judgement(**self.parts, faults=self.faults, usage=self.usage)


Plan = tuple[_Draft, str, list[Any]]
Kept = Callable[[_Draft, str, list[Any]], None]


def judge_all(engine: Engine, cases: Sequence[Case], parts: Sequence[str]) -> list[Judgement]:
    """Return the judgements of all cases; what was not answered gets no verdicts, only its passages are graded."""
    drafts = [_Draft(case) for case in cases]
    answered = [draft for draft in drafts if draft.case.answer.status == "answered"]
    _split(engine, drafts, answered, parts)
    _verify(engine, drafts, answered, parts)
    if "context" in parts:
        _grade(engine, drafts)
    if "relevance" in parts:
        pairs = [(draft.case.question, draft.case.answer.text) for draft in answered]
        for draft, rating, echo in zip(answered, engine.rate(pairs), engine.echo(pairs), strict=True):
            for name, found in (("relevance", rating), ("echo", echo)):
                if (values := draft.take(name, [found])) is not None:
                    draft.parts[name] = values[0]
    return [draft.done() for draft in drafts]


def _split(engine: Engine, drafts: Sequence[_Draft], answered: Sequence[_Draft], parts: Sequence[str]) -> None:
    """Find the claims of answers and references that later parts need."""
    if {"faithfulness", "correctness"} & set(parts):
        texts = [(draft.case.question, draft.case.answer.text) for draft in answered]
        for draft, found in zip(answered, engine.claims(texts), strict=True):
            values = draft.take("claims", [found])
            draft.spoil("claims", ("correct", "covered"))
            draft.answer_claims = values[0] if values else None
    if {"context", "correctness"} & set(parts):
        known = [draft for draft in drafts if draft.case.reference]
        texts = [(draft.case.question, draft.case.reference or "") for draft in known]
        for draft, found in zip(known, engine.claims(texts), strict=True):
            values = draft.take("attributed", [found])
            draft.spoil("attributed", ("correct", "covered"))
            draft.reference_claims = values[0] if values else None


def _verify(engine: Engine, drafts: Sequence[_Draft], answered: Sequence[_Draft], parts: Sequence[str]) -> None:
    """Hold claims against passages, references and answers, all in one round."""
    plans: list[Plan] = []
    for draft in answered:
        plans += _plans_of_answer(draft, parts)
    for draft in drafts:
        if "context" in parts and draft.reference_claims is not None:
            plans.append((draft, "attributed", _against(draft.reference_claims, draft.case.passages)))
    verdicts = iter(engine.verify([check for _, _, checks in plans for check in checks]))
    for draft, part, checks in plans:
        found = [next(verdicts) for _ in checks]
        values = draft.take(part, found)
        if values is not None:
            draft.parts[part] = tuple(values)
    for draft in answered:
        if "citations" in parts and "citations" not in draft.faults:
            draft.parts["citations"] = tuple(_citations(draft, draft.parts.get("citations", ())))


def _plans_of_answer(draft: _Draft, parts: Sequence[str]) -> Iterable[Plan]:
    case = draft.case
    if "faithfulness" in parts and draft.answer_claims is not None:
        yield draft, "claims", _against(draft.answer_claims, case.passages)
    if "citations" in parts:
        yield (
            draft,
            "citations",
            [Check(claim, (case.passages[n - 1],)) for claim, n in _cited(case) if _holds(case, n)],
        )
    if (
        "correctness" in parts
        and case.reference
        and draft.answer_claims is not None
        and draft.reference_claims is not None
    ):
        yield draft, "correct", _against(draft.answer_claims, (case.reference, f"{case.question} {case.reference}"))
        yield (
            draft,
            "covered",
            _against(draft.reference_claims, (case.answer.text, f"{case.question} {case.answer.text}")),
        )


def _against(claims: Sequence[str], passages: tuple[str, ...]) -> list[Check]:
    return [Check(claim, passages) for claim in claims]


def _cited(case: Case) -> list[tuple[str, int]]:
    return [(claim, number) for claim, numbers in cited(case.answer.text) for number in numbers]


def _holds(case: Case, number: int) -> bool:
    return 1 <= number <= len(case.passages)


def _citations(draft: _Draft, verdicts: Sequence[Verdict]) -> Iterable[Citation]:
    """Join the verdicts with the citations whose passage does not exist."""
    rest = iter(verdicts)
    for claim, number in _cited(draft.case):
        if not _holds(draft.case, number):
            yield Citation(claim, number, None, "source_not_found")
            continue
        verdict = next(rest).verdict
        yield Citation(claim, number, verdict, "" if verdict == "supported" else "claim_not_supported")


def _grade(engine: Engine, drafts: Sequence[_Draft]) -> None:
    readings = [Reading(d.case.question, passage, d.case.reference) for d in drafts for passage in d.case.passages]
    found = iter(engine.grade(readings))
    for draft in drafts:
        values = draft.take("grades", [next(found) for _ in draft.case.passages])
        if values is not None:
            draft.parts["grades"] = tuple(grade for grade, _ in values)
            if draft.case.reference:
                draft.parts["helpful"] = tuple(useful for _, useful in values)
