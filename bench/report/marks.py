"""Which points a decision marks: the chosen one, today's, and those that cannot be told from the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.errors import BenchError, ConfigError, near
from bench.shapes import DECISION, check
from bench.store import PointRecord, read_object


@dataclass(frozen=True, slots=True)
class Marks:
    """Indices of points. ``reference`` is what the others are compared with: the baseline, else the chosen or best."""

    chosen: int | None
    baseline: int | None
    alike: frozenset[int]
    reference: int | None

    def named(self, index: int) -> str:
        """What a point is marked as; empty for most."""
        parts = ["chosen"] if index == self.chosen else []
        parts += ["baseline"] if index == self.baseline else []
        parts += ["cannot be told apart"] if index in self.alike and index != self.chosen else []
        return ", ".join(parts)


def read_decision(folder: Path, point_ids: Sequence[str]) -> dict[str, Any] | None:
    """Read ``decision.json`` if it was made on these points (their ids are hashes of all that they depend on)."""
    path = folder / "decision.json"
    if not path.is_file():
        return None
    decision = read_object(path)
    check(decision, DECISION, path, "run bench decide again")
    decided = {row["point_id"] for row in decision.get("records", [])}
    left_out = len(decision.get("excluded", []))
    known = decided <= set(point_ids) and len(decided) + left_out == len(point_ids)
    return decision if decided and known else None


def default_decision(folder: Path, baseline: str) -> dict[str, Any] | None:
    """Decide as ``bench decide`` does without options, in memory; None where nothing can be decided."""
    from bench.decision.build import decide
    from bench.decision.options import Options
    from bench.decision.table import Table

    try:
        return decide(Table.read(folder), Options(baseline=baseline)) | {"by_default": True}
    except BenchError:
        return None


def find_marks(
    points: Sequence[PointRecord], best_first: Sequence[int], decision: Mapping[str, Any] | None, baseline: str
) -> Marks:
    """Find the marked points.

    Raises:
        ConfigError: no point is called ``baseline``.
    """
    place = {point.point_id: i for i, point in enumerate(points)}
    chosen = place.get((decision["chosen"] or {}).get("point_id", "")) if decision else None
    alike = (
        frozenset(place[row["point_id"]] for row in decision["alike"] if row["point_id"] in place) if decision else ()
    )
    name = baseline or ((decision.get("baseline") or {}).get("label", "") if decision else "")
    current = find_point(points, name, strict=bool(baseline)) if name else None
    scored = [i for i in best_first if points[i].estimates]
    first = scored[0] if scored else None
    reference = next((i for i in (current, chosen, first) if i is not None), None)
    return Marks(chosen, current, frozenset(alike), reference)


def find_point(points: Sequence[PointRecord], name: str, *, strict: bool = True) -> int | None:
    """Index of the point with this id, start of an id (4 digits or more), or label.

    Raises:
        ConfigError: there is none, or several; with ``strict`` only.
    """
    hits = [i for i, point in enumerate(points) if name in (point.point_id, point.label)]
    hits = hits or [i for i, point in enumerate(points) if len(name) >= 4 and point.point_id.startswith(name)]
    if len(hits) == 1:
        return hits[0]
    if not strict:
        return None
    state = "names several points" if hits else "names no point of the sweep"
    raise ConfigError(f"point {name!r} {state}; {near(name, [point.label for point in points][:40])}")
