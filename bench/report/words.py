"""The first screen in words: the decision, how sure it is, and what changes against today's setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.report.data import Interval, SweepData
from bench.report.figures.base import questions
from bench.report.figures.forest import differences


@dataclass(frozen=True, slots=True)
class Opening:
    """Three sentences and the facts beside them."""

    decision: str
    certainty: str
    difference: str
    facts: tuple[tuple[str, str], ...]


def opening_of(data: SweepData) -> Opening:
    """What the first screen says."""
    return Opening(_decision(data), _certainty(data), _difference(data), _facts(data))


def _decision(data: SweepData) -> str:
    if not data.points:
        return "This sweep has no complete point, so there is nothing to choose from."
    best = data.best_first()[0]
    name, score = data.points[best].label, _score(data.intervals(data.headline)[best])
    if data.points[best].mean(data.headline) is None:
        return f"No point has a score of {data.headline}, so nothing can be chosen."
    if data.decision is None:
        return f"No setting has been chosen yet (bench decide does it); the highest score has {name}: {score}."
    if data.marks.chosen is None:
        return f"No winner is named: {data.decision['refused']}. The highest score has {name}: {score}."
    chosen = data.points[data.marks.chosen].label
    found = _score(data.intervals(data.headline)[data.marks.chosen])
    why = {"winner": "better than every other setting", "alike": _alike_words(data)}[data.decision["verdict"]]
    return f"Ship {chosen}: it finds {found} of the evidence in {data.budget_tokens:,} tokens, and is {why}."


def _alike_words(data: SweepData) -> str:
    others = len(data.marks.alike)
    return f"the cheapest of {others} settings that cannot be told from the best" if others > 1 else "the best"


def _certainty(data: SweepData) -> str:
    decision = data.decision
    if decision is None or not data.points:
        return "How sure that is has not been tested."
    part: Mapping[str, Any] = decision["selection"]
    parts = [given] if (given := _given_up(decision)) else []
    if part.get("confirmed_score") is not None:
        low, high = part["confirmed_interval"]
        parts.append(
            f"on {part['confirmation_questions']} questions that did not choose it, it scores "
            f"{_percent(part['confirmed_score'])} [{_percent(low)}, {_percent(high)}]"
        )
    elif part.get("optimism") is not None:
        parts.append(f"over repeated splits the best score is {_points(part['optimism'])} too high")
    row = next(
        (r for r in decision["points"] if decision["chosen"] and r["label"] == decision["chosen"]["label"]), None
    )
    if row is not None:
        parts.append(f"it is the best in {row['wins']:.0%} of the resamples")
    found = decision.get("detectable")
    if found:
        parts.append(f"these questions can show differences from {_points(found['difference'])} on")
    if data.unit == "question":
        parts.append("questions are taken as independent, so all this holds for these documents only")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else "How sure that is cannot be said with these questions."


def _given_up(decision: Mapping[str, Any]) -> str:
    """What the cheaper choice may cost; empty where it is the best itself."""
    lost = decision.get("given_up")
    if not decision["chosen"] or not lost or lost["to"] == decision["chosen"]["label"]:
        return ""
    real = lost["p_adjusted"] <= 0.05
    beyond = ", beyond chance" if real else ", not beyond chance once all pairs are counted"
    return (
        f"it gives up {_points(lost['difference'])} [{100 * lost['low']:+.1f}, {100 * lost['high']:+.1f}] "
        f"against {lost['to']}, the highest{beyond}"
    )


def _difference(data: SweepData) -> str:
    marks = data.marks
    if marks.chosen is None and data.decision is not None:
        today = "" if marks.baseline is None else f" {data.points[marks.baseline].label}"
        return f"There is no chosen setting to hold against today's{today}."
    if marks.baseline is None:
        return "No setting was named as today's: give it with --baseline to see what would change."
    if marks.chosen in (None, marks.baseline):
        return f"Today's setting is {data.points[marks.baseline].label}" + (
            ", which is the chosen one." if marks.chosen is not None else "."
        )
    found = next((d for d in differences(data) if d.point == marks.chosen), None)
    if found is None:
        return "Today's setting and the chosen one share no scored question."
    verdict = "beyond chance" if found.p <= 0.05 else "which may be chance"
    return (
        f"Against today's {data.points[marks.baseline].label} that is {100 * found.mean:+.1f} points "
        f"[{100 * found.low:+.1f}, {100 * found.high:+.1f}], {verdict} (p = {found.p:.2g}, adjusted)."
    )


def _facts(data: SweepData) -> tuple[tuple[str, str], ...]:
    corpus = data.header["corpus"]
    facts = [
        ("budget", f"{data.budget_tokens:,} tokens ({data.header['tokenizer']})"),
        ("questions", f"{questions(data)} scored of {corpus.get('questions', len(data.golden))}"),
        ("documents", f"{corpus['documents']:,}" if "documents" in corpus else "not recorded"),
        ("settings", f"{len(data.points)}" + (f", {len(data.failed)} failed" if data.failed else "")),
        ("corpus", str(corpus["name"])),
        ("run", str(data.header["created"])[:16].replace("T", " ")),
    ]
    return tuple(facts)


def _score(interval: Interval | None) -> str:
    if interval is None:
        return "undefined"
    return f"{_percent(interval.mean)} [{_percent(interval.low)}, {_percent(interval.high)}]"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _points(value: float) -> str:
    return f"{100 * value:.1f} points"
