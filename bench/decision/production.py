"""Files of a decision that run as they are: the configuration, and a program without this package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.decision.table import Table
from bench.store import PointRecord, write_bytes

GROUPS = ("corpus", "chunker", "embedder", "retriever")


def write_production(table: Table, decision: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write ``production.yaml`` and ``production_chunker.py`` of the chosen point; without one, remove old ones."""
    config_path, program_path = folder / "production.yaml", folder / "production_chunker.py"
    for path in (config_path, program_path):
        path.unlink(missing_ok=True)
    if decision["chosen"] is None:
        return []
    record = table.points[table.find(decision["chosen"]["point_id"])]
    write_bytes(config_path, production_yaml(record, str(table.header["name"])).encode())
    return [config_path]


def production_yaml(record: PointRecord, sweep: str) -> str:
    """The point's configuration as ``bench sweep --config`` and ``bench cut --config`` read it."""
    import yaml

    config = {key: value for key, value in record.config.items() if key not in GROUPS}
    chosen = {group: dict(record.config[group]) for group in GROUPS if group in record.config}
    defaults = [{f"override /{group}": values.pop("name")} for group, values in chosen.items() if "name" in values]
    content = {"defaults": defaults, "sweep": {"name": f"{sweep}-production"}, **config, **chosen}
    header = (
        f"# {record.label}: chosen by bench decide from the sweep {sweep}, point {record.point_id}.\n"
        "# Run it again: bench sweep --config production.yaml\n"
        "# Cut a folder: bench cut --config production.yaml FOLDER -o chunks.jsonl\n"
    )
    return header + yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
