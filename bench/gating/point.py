"""Which point of a sweep is meant where none is named."""

from __future__ import annotations

from bench.decision.baseline import Baseline, configuration_hash
from bench.decision.table import Table
from bench.errors import ConfigError
from bench.store import read_object


def pick(table: Table, name: str = "", baseline: Baseline | None = None) -> int:
    """The point to judge: the one named, the decided one, the only one, or the one configured as the baseline.

    Raises:
        ConfigError: several points, and nothing says which.
    """
    if name:
        return table.find(name, "--point")
    path = table.folder / "decision.json"
    chosen = read_object(path).get("chosen") if path.is_file() else None
    if chosen:
        return table.find(str(chosen["point_id"]), "decision.json")
    if len(table.points) == 1:
        return 0
    hashes = [configuration_hash(record.config) for record in table.points]
    if baseline is not None and hashes.count(str(baseline.point["configuration_sha256"])) == 1:
        return hashes.index(str(baseline.point["configuration_sha256"]))
    raise ConfigError(
        f"{table.folder}: holds {len(table.points)} points and no decision; "
        f"name one with --point, for example --point {table.points[0].point_id}, or run bench decide first"
    )
