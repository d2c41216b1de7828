"""What the rows of a sweep say of answers and verdicts, and what was wrong with an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.report.data import Row, SweepData

WRONG = 0.5
AGAINST = ("unsupported", "contradicted")
Fault = tuple[str, str, int | None]


def answer_fault(row: Row, *, evidence_given: bool) -> Fault | None:
    """Cause and evidence of a fault of the answer; None where there is no answer, or nothing wrong with it.

    Args:
        row: one question at one point.
        evidence_given: all of the gold evidence was in the context.
    """
    made = row.get("generation")
    if not made:
        return None
    answer = made["answer"]
    status, reason = answer["status"], answer.get("reason") or answer["status"]
    if not row.get("answerable", True):
        said = f"it has no answer, but the reply is “{answer['text'][:80]}”"
        return ("answered_unanswerable", said, None) if status == "answered" else None
    if status in ("declined", "refused"):
        said = f"all of the evidence was in the context; {reason}"
        return ("declined_wrongly", said, None) if evidence_given else None
    if status != "answered":
        return ("unused", f"the generator gave no whole answer: {reason}", None) if evidence_given else None
    return _judged(row, made, evidence_given=evidence_given)


def _judged(row: Row, made: Mapping[str, Any], *, evidence_given: bool) -> Fault | None:
    faults = made.get("faults") or {}
    if faults:
        part, why = next(iter(faults.items()))
        return "judge_failed", f"{part}: {why}", None
    if evidence_given and (said := _unused(row, made)):
        return "unused", said, None
    wrong = [claim for claim in made.get("claims") or [] if claim["verdict"] in AGAINST]
    if wrong:
        return "unsupported", f"{wrong[0]['verdict']}: “{wrong[0]['claim'][:100]}”", None
    cited = [one for one in made.get("citations") or [] if one["verdict"] in (*AGAINST, None)]
    if cited:
        reason = cited[0].get("reason") or "claim_not_supported"
        return "wrong_citation", f"[{cited[0]['passage']}] {reason}: “{cited[0]['claim'][:80]}”", None
    return None


def _unused(row: Row, made: Mapping[str, Any]) -> str:
    """How little of the reference the answer holds; empty where it holds half of it or more, or none was judged."""
    covered = made.get("covered")
    if covered:
        held = sum({"supported": 1.0, "partial": 0.5}.get(claim["verdict"], 0.0) for claim in covered)
        said = f"the evidence was in the context, but the answer holds {held:g} of {len(covered)} reference statements"
        return said if held / len(covered) < WRONG else ""
    correct = row["scores"].get("answer_correctness")
    if isinstance(correct, int | float) and correct < WRONG:
        return f"the evidence was in the context, but answer_correctness is {correct:.2f}"
    return ""


def answer_block(row: Row) -> dict[str, Any] | int:
    """What the page shows of an answer: text, status, claims with verdicts and quotes, citations; 0 for none."""
    made = row.get("generation")
    if not made:
        return 0
    return {
        "text": made["answer"]["text"],
        "status": made["answer"]["status"],
        "claims": [[c["claim"], c["verdict"], c["quote"], c["reason"]] for c in made.get("claims") or []],
        "citations": [
            [c["passage"], c["verdict"], c.get("reason", ""), c["claim"]] for c in made.get("citations") or []
        ],
        "faults": [f"{part}: {why}" for part, why in (made.get("faults") or {}).items()],
    }


def answer_notes(data: SweepData) -> list[str]:
    """Who answered and who judged, and what that means for the scores; one line for each way."""
    lines = []
    for point in data.points:
        found = point.provenance.get("answers")
        if not found:
            continue
        parts = [f"{role}: {_named(found[role])}" for role in ("generator", "judge") if found.get(role)]
        if found.get("judge_is_generator"):
            parts.append("one model judges its own answers: these scores run high")
        lines.append(f"Answers by {'; '.join(parts)}.")
    return list(dict.fromkeys(lines))


def _named(described: Mapping[str, Any]) -> str:
    name = str(described.get("name", ""))
    model, note = described.get("model"), described.get("note")
    return name + (f" ({model})" if model else "") + (f", {note}" if note else "")
