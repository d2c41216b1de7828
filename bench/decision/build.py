"""Assembles a decision: every number of it, with where it came from, as one plain dictionary."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.decision import detail, parts
from bench.decision.choose import choose
from bench.decision.judged import judged
from bench.decision.options import Options, excluded, full_name
from bench.decision.parts import Case
from bench.decision.table import COSTS, PREFER, Table, cost_order, defined_rows, fingerprint
from bench.errors import ConfigError, near
from bench.store import read_object

METHOD = "paired sign flips by cluster, step-down maxT over all pairs"


def decide(table: Table, options: Options) -> dict[str, Any]:
    """Choose a setting of a sweep.

    Raises:
        ConfigError: unknown objective or measure, or no point meets the limits.
        StoreError: a baseline file cannot be read or is not comparable.
    """
    objective = table.known(options.objective or str(table.header["headline"]), "--objective")
    out = excluded(table, options, objective)
    points = [i for i in range(len(table.points)) if i not in out]
    if not points:
        reasons = "; ".join(f"{table.points[i].label}: {why}" for i, why in list(out.items())[:3])
        raise ConfigError(f"no point meets the limits ({reasons}); loosen one of them")
    every = table.scores(objective, options.cluster).columns(points)
    asked = defined_rows(every)
    scores, names = every.rows(asked), [c for c, keep in zip(table.categories, asked, strict=True) if keep]
    order = cost_order([table.points[p] for p in points], options.prefer, every.means())
    choice = choose(scores, order, names, options.rules)
    return _assemble(Case(table, options, objective, points, out, scores, asked, names, choice))


def _assemble(case: Case) -> dict[str, Any]:
    choice, table, options = case.choice, case.table, case.options
    shown = choice.chosen if choice.chosen is not None else choice.best
    return {
        "schema_version": 1,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "sweep": {"name": table.header["name"], "created": table.header["created"], "folder": str(table.folder)},
        "objective": {"measure": case.objective, "better": "lower" if case.sign < 0 else "higher"},
        "options": {**asdict(options), "objective": case.objective},
        "questions": parts.questions(case),
        "verdict": "none" if choice.refused else ("winner" if choice.winner else "alike"),
        "refused": choice.refused,
        "chosen": case.who(choice.chosen),
        "best": case.who(choice.best),
        "alike": [parts.alike(case, column, shown) for column in choice.alike],
        "points": parts.points(case),
        "excluded": [{"label": table.points[i].label, "reason": why} for i, why in case.excluded.items()],
        "failed": [{"label": record.label, "reason": record.reason} for record in table.failed],
        "duplicates": [{"label": r.label, "same_as": r.duplicate_of} for r in table.duplicates],
        "given_up": parts.given_up(case, shown),
        "selection": parts.selection(case),
        "family": {"pairs": len(choice.family.pairs), "exact": choice.family.exact, "method": METHOD},
        "pairs": parts.pairs(case, shown),
        "detectable": parts.detectable(case),
        "baseline": parts.baseline(case, shown),
        "categories": detail.categories(
            case.scores,
            case.names,
            [case.label(column) for column in range(len(case.points))],
            choice.chosen,
            options.rules,
        ),
        "effects": detail.what_mattered(table, case.scores, case.points, options.rules.seed),
        "robustness": detail.robustness(table, case.points, case.objective, choice.chosen),
        "trade_offs": _trade_offs(case),
        "judge": judged(
            table, case.points, case.objective, case.asked, case.scores, options.rules, options.judge_quality
        ),
        "provenance": table.header.get("provenance", {}),
        "records": _records(case),
    }


def _trade_offs(case: Case) -> dict[str, Any]:
    names = case.options.trade_off or (case.objective, "faithfulness", "span_precision")
    full = [full_name(case.table, name) for name in names]
    wanted = [n for n in dict.fromkeys(full) if n in COSTS or n in case.table.measures]
    for name in case.options.trade_off:
        if full_name(case.table, name) not in wanted:
            allowed = [*case.table.measures, *COSTS]
            raise ConfigError(f"--trade-off: {name!r} is neither a measure nor a cost; {near(name, allowed)}")
    costs = [n for n in wanted if n in COSTS and n not in case.table.measures] or list(PREFER[case.options.prefer])
    measures = [name for name in wanted if name in case.table.measures]
    return detail.trade_offs(case.table, case.points, measures, costs, case.options.cluster, case.options.rules)


def _records(case: Case) -> list[dict[str, str]]:
    folder = case.table.folder / "points"
    return [
        {"point_id": r.point_id, "questions_sha256": fingerprint(folder / r.point_id / "questions.jsonl")}
        for r in (case.table.points[p] for p in case.points)
    ]


def opened_before(path: Path, decision: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Earlier looks at the same confirmation questions for other choices: each makes the next less clean."""
    if not path.is_file():
        return []
    earlier = read_object(path)
    past = earlier.get("selection", {}).get("openings", [])
    now = opening(decision)
    return [one for one in past if one["of"] == now["of"] and one != now]


def opening(decision: Mapping[str, Any]) -> dict[str, Any]:
    """What was looked at: the sweep, its confirmation questions, the objective and the point."""
    ids = "\n".join(decision["selection"]["confirmation_ids"])
    of = f"{decision['questions']['headers']['golden_sha256']}:{hashlib.sha256(ids.encode()).hexdigest()[:12]}"
    chosen = decision["chosen"]["point_id"] if decision["chosen"] else None
    return {"of": of, "objective": decision["objective"]["measure"], "point_id": chosen}
