"""What the rows of a sweep say of answers and verdicts, and what was wrong with an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.report.data import Row

WRONG = 0.5


def answer_fault(row: Row, *, evidence_given: bool) -> tuple[str, str, int | None] | None:
    """Cause and evidence of a fault of the answer; None where there is no answer, or nothing wrong with it.

    Args:
        row: one question at one point.
        evidence_given: all of the gold evidence was in the context.
    """
    answer = row.get("answer")
    if not isinstance(answer, Mapping):
        return None
    status = str(answer.get("status", "answered"))
    if not row.get("answerable", True):
        said = str(answer.get("text", ""))[:80]
        return (
            ("answered_unanswerable", f"it has no answer, but the reply is “{said}”", None)
            if status == "answered"
            else None
        )
    if status == "declined":
        return ("declined_wrongly", "all of the evidence was in the context", None) if evidence_given else None
    return _judged(row, evidence_given=evidence_given)


def _judged(row: Row, *, evidence_given: bool) -> tuple[str, str, int | None] | None:
    failed = [f"{name}: {score['reason']}" for name, score in row["scores"].items() if _failed(score)]
    if failed:
        return "judge_failed", failed[0], None
    correct = row["scores"].get("answer_correctness")
    if evidence_given and isinstance(correct, int | float) and correct < WRONG:
        return "unused", f"the evidence was in the context, but answer_correctness is {correct:.2f}", None
    wrong = [claim for claim in claims_of(row) if claim["verdict"] in ("unsupported", "contradicted")]
    if wrong:
        return "unsupported", f"{wrong[0]['verdict']}: “{str(wrong[0]['claim'])[:100]}”", None
    cited = [
        one for one in citations_of(row) if one.get("verdict") in ("unsupported", "contradicted") or one.get("reason")
    ]
    if cited:
        reason = cited[0].get("reason") or "claim_not_supported"
        return "wrong_citation", f"[{cited[0].get('passage')}] {reason}: “{str(cited[0].get('claim', ''))[:80]}”", None
    return None


def _failed(score: Any) -> bool:
    return isinstance(score, Mapping) and score.get("status") == "failed"


def claims_of(row: Row) -> list[Mapping[str, Any]]:
    """Claims of the answer with their verdicts and quotes; empty where none were judged."""
    return list((row.get("judgement") or {}).get("claims") or [])


def citations_of(row: Row) -> list[Mapping[str, Any]]:
    """Judged citations of the answer; empty where there are none."""
    return list((row.get("judgement") or {}).get("citations") or [])


def answer_block(row: Row) -> dict[str, Any] | int:
    """What the page shows of an answer: text, status, claims with verdicts and quotes, citations; 0 for none."""
    answer = row.get("answer")
    if not isinstance(answer, Mapping):
        return 0
    claims = [[c["claim"], c["verdict"], c.get("quote", ""), c.get("reason", "")] for c in claims_of(row)]
    cited = [
        [c.get("passage"), c.get("verdict"), c.get("reason", ""), str(c.get("claim", ""))] for c in citations_of(row)
    ]
    block: dict[str, Any] = {"text": answer.get("text", ""), "status": answer.get("status", "answered")}
    faults = (row.get("judgement") or {}).get("faults") or {}
    return block | {"claims": claims, "citations": cited, "faults": [f"{part}: {why}" for part, why in faults.items()]}
