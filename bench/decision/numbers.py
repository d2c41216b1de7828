"""Numbers of a decision as a reader wants them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.decision.table import COSTS

SHOWN = 8


def cost_words(cost: Mapping[str, float | None]) -> str:
    """All known costs of a point in one line; a language model that was not asked is not named."""
    parts = []
    for name, text in COSTS.items():
        amount = cost.get(name)
        if amount is None or (amount == 0 and name.startswith(("llm_", "price_"))):
            continue
        number = f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"
        parts.append(f"{amount / 1e6:.2f} MB index" if name == "index_bytes" else f"{number} {text}")
    return " · ".join(parts) or "not recorded"


def value(number: float) -> str:
    """A mean as it is recorded, three decimals."""
    return f"{number:.3f}" if abs(number) < 10 else f"{number:,.1f}"


def points_of(difference: float, decision: Mapping[str, Any]) -> str:
    """A difference in percentage points, or in the measure's own unit where it is no share."""
    if all(abs(row["mean"]) <= 1 for row in decision["points"]):
        return f"{difference * 100:.1f} points"
    return f"{difference:,.3g}"


def score(decision: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    interval = f"[{value(row['low'])}, {value(row['high'])}]"
    return f"{value(row['mean'])} {interval} on all {row['scored']} questions ({1 - alpha(decision):.0%} interval)"


def alpha(decision: Mapping[str, Any]) -> float:
    return float(decision["options"]["rules"]["alpha"])


def find_row(decision: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(row for row in decision["points"] if row["label"] == label)
    return found


def more(rows: Sequence[Any]) -> list[str]:
    return [f"  … and {len(rows) - SHOWN} more (decision.json)"] if len(rows) > SHOWN else []
