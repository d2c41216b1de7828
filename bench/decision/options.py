"""What the user asks of a decision, and which points that rules out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bench.decision.choose import Rules
from bench.decision.table import COSTS, Table, lower_is_better


@dataclass(frozen=True)
class Options:
    """What the user asks for. Limits that are None do not bind; ``minimums`` maps a measure to its least mean.

    ``judge_quality`` holds the judge's measured error rates where the sweep's own header has none (or others).
    """

    objective: str = ""
    max_context_tokens: float | None = None
    max_index_mb: float | None = None
    max_latency_ms: float | None = None
    max_embedding_s: float | None = None
    minimums: Mapping[str, float] = field(default_factory=dict)
    baseline: str = ""
    prefer: str = "cheap"
    cluster: str = "document"
    trade_off: tuple[str, ...] = ()
    judge_quality: Mapping[str, Any] | None = None
    rules: Rules = field(default_factory=Rules)


def excluded(table: Table, options: Options, objective: str) -> dict[int, str]:
    """Points that break a limit or have no score, and why."""
    limits = {
        "context_tokens": options.max_context_tokens,
        "index_bytes": None if options.max_index_mb is None else options.max_index_mb * 1e6,
        "retrieval_p99_ms": options.max_latency_ms,
        "embedding_s": options.max_embedding_s,
    }
    minimums = {table.known(full_name(table, name), "--min"): bound for name, bound in options.minimums.items()}
    found: dict[int, str] = {}
    for i, record in enumerate(table.points):
        why = [_over(COSTS[name], record.cost.get(name), limit) for name, limit in limits.items() if limit is not None]
        why += [_under(name, record.mean(name), bound) for name, bound in minimums.items()]
        if record.mean(objective) is None:
            why.append(f"{objective} is undefined for it")
        if any(why):
            found[i] = ", ".join(filter(None, why))
    return found


def full_name(table: Table, name: str) -> str:
    """A family name means its variant at the headline's cut, or the one without a cut."""
    cut = str(table.header["headline"]).partition("@")[2]
    return next((full for full in (name, f"{name}@{cut}") if full in table.measures), name)


def _over(words: str, value: float | None, limit: float) -> str:
    if value is None:
        return f"{words} are not known"
    return f"{value:,.4g} {words}, over {limit:,.4g}" if value > limit else ""


def _under(name: str, mean: float | None, bound: float) -> str:
    if mean is None:
        return f"{name} is undefined for it"
    if lower_is_better(name):
        return f"{name} {mean:.3f}, over {bound:g}" if mean > bound else ""
    return f"{name} {mean:.3f}, under {bound:g}" if mean < bound else ""
