"""What a point is called: its identity (a hash), its readable label, and its axes for tables and figures."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from bench.config import GROUPS, PointConfig, as_plain
from bench.paths import conf_dir
from bench.store import to_json

SIZES = ("size", "overlap", "unit", "tokenizer")
USUAL = {"index": "flat", "retriever": "dense", "generator": "extractive", "judge": "offline"}
"""Files that a label passes over in silence."""
HOW_TO_RUN = {
    "api_key_env", "batch_size", "batch_tokens", "connect_timeout_s", "device", "max_calls", "max_concurrency",
    "max_cost_usd", "max_wait_s", "read_timeout_s", "retries",
}  # fmt: skip
"""Parameters that say how a result is made, not what it is: they are left out of a point's identity."""
UNSAID = {"completion_usd_per_mtok", "identity", "note", "prompt_usd_per_mtok"}
"""Parameters that tell no reader of a label anything."""


def plain_config(point: PointConfig) -> dict[str, Any]:
    """The point's configuration as plain values, as its record keeps it and as it can be run again."""
    groups = {name: as_plain(getattr(point, name)) | {"name": point.names[name]} for name in GROUPS}
    scoring = dataclasses.asdict(point.scoring)
    answers = dataclasses.asdict(point.answers)
    return {"tokenizer": point.tokenizer, "seed": point.seed, "scoring": scoring, "answers": answers, **groups}


def point_id(point: PointConfig, inputs: Mapping[str, str]) -> str:
    """Twelve hex digits that change whenever the point's result could.

    Args:
        point: the configuration.
        inputs: hashes of what lies outside of it: documents, golden questions, model files, version of the measures.
    """
    plain = {key: _lasting(value) for key, value in plain_config(point).items()}
    identity = plain | {"corpus": point.names["corpus"], "inputs": dict(sorted(inputs.items()))}
    return hashlib.sha256(to_json(identity).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _lasting(value: Any) -> Any:
    """Leave out how to run; an endpoint that names its identity may move to another address."""
    if not isinstance(value, dict):
        return value
    moving = {"base_url"} if value.get("identity") else set()
    return {k: v for k, v in value.items() if k not in HOW_TO_RUN | moving}


def axes(point: PointConfig) -> dict[str, Any]:
    """Flat swept parameters: strategy, size, overlap, unit, embedder, retriever, then the rest by dotted name."""
    sizes = {name: getattr(point.chunker, name) for name in SIZES[:3] if hasattr(point.chunker, name)}
    named = {"strategy": point.names["chunker"]} | {group: point.names[group] for group in GROUPS[2:]}
    rest = {
        f"{group}.{key}": value
        for group in GROUPS[1:]
        for key, value in _flat(dataclasses.asdict(getattr(point, group))).items()
        if key not in SIZES[:3] and isinstance(value, str | int | float | bool)
    }
    return named | sizes | rest | {"answers.order": point.answers.order}


def label(point: PointConfig) -> str:
    """Readable name: strategy, size/overlap, embedder, what differs from their files."""
    parts = [point.names["chunker"]]
    values = axes(point)
    if "size" in values:
        overlap = f"/{values['overlap']:g}" if "overlap" in values else ""
        unit = " chars" if values.get("unit") == "characters" else ""
        parts.append(f"{values['size']}{overlap}{unit}")
    parts += _unusual(point, "chunker")
    parts += [point.names["embedder"], *_unusual(point, "embedder")]
    for group, usual in USUAL.items():
        named = [point.names[group]] if point.names[group] not in (usual, "none") else []
        parts += [*named, *_unusual(point, group)]
    ordered = [f"order={point.answers.order}"] if point.answers.order != "rank" else []
    return " ".join([*parts, *ordered])


def _unusual(point: PointConfig, group: str) -> list[str]:
    """Parameters that differ from the chosen file (from the class, where a file is silent), sizes aside."""
    configured = getattr(point, group)
    shown = []
    for field in dataclasses.fields(configured):
        if field.name in SIZES or field.name in HOW_TO_RUN | UNSAID:
            continue
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        usual = _file_values(group, point.names[group]).get(field.name, default)
        value = getattr(configured, field.name)
        if usual not in (value, dataclasses.MISSING, "???"):
            shown += [f"{name}={shorten(one)}" for name, one in _flat({field.name: value}).items()]
    return shown


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested mappings by dotted name: the options of a retriever that another stands on are axes too."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        inner = (
            {f"{key}.{name}": one for name, one in _flat(value).items()} if isinstance(value, dict) else {key: value}
        )
        flat |= inner
    return flat


def shorten(value: Any, limit: int = 24) -> str:
    """One short line for a value of whatever type."""
    text = repr(value) if isinstance(value, list | dict) else " ".join(str(value).split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


@lru_cache(maxsize=256)
def _file_values(group: str, name: str) -> Mapping[str, Any]:
    """What ``conf/<group>/<name>.yaml`` sets; nothing where there is no such file."""
    import yaml

    path = conf_dir() / group / f"{name}.yaml"
    content = yaml.safe_load(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return content if isinstance(content, dict) else {}
