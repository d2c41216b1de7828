"""What a point is called: its identity (a hash), its readable label, and its axes for tables and figures."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

from bench.config import GROUPS, PointConfig, as_plain
from bench.store import to_json

SIZES = ("size", "overlap", "unit", "tokenizer")


def plain_config(point: PointConfig) -> dict[str, Any]:
    """The point's configuration as plain values, as its record keeps it and as it can be run again."""
    groups = {name: as_plain(getattr(point, name)) | {"name": point.names[name]} for name in GROUPS}
    scoring = dataclasses.asdict(point.scoring)
    return {"tokenizer": point.tokenizer, "seed": point.seed, "scoring": scoring, **groups}


def point_id(point: PointConfig, inputs: Mapping[str, str]) -> str:
    """Twelve hex digits that change whenever the point's result could.

    Args:
        point: the configuration.
        inputs: hashes of what lies outside of it: documents, golden questions, model files, version of the measures.
    """
    identity = plain_config(point) | {"corpus": point.names["corpus"], "inputs": dict(sorted(inputs.items()))}
    return hashlib.sha256(to_json(identity).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def axes(point: PointConfig) -> dict[str, Any]:
    """Flat swept parameters: strategy, size, overlap, unit, embedder, retriever, then the rest by dotted name."""
    sizes = {name: getattr(point.chunker, name) for name in SIZES[:3] if hasattr(point.chunker, name)}
    named = {
        "strategy": point.names["chunker"],
        "embedder": point.names["embedder"],
        "retriever": point.names["retriever"],
    }
    rest = {
        f"{group}.{key}": value
        for group in GROUPS[1:]
        for key, value in dataclasses.asdict(getattr(point, group)).items()
        if key not in SIZES[:3] and isinstance(value, str | int | float | bool)
    }
    return named | sizes | rest


def label(point: PointConfig) -> str:
    """Readable name: strategy, size/overlap, what differs from the defaults, embedder, retriever if not dense."""
    parts = [point.names["chunker"]]
    values = axes(point)
    if "size" in values:
        overlap = f"/{values['overlap']:g}" if "overlap" in values else ""
        unit = " chars" if values.get("unit") == "characters" else ""
        parts.append(f"{values['size']}{overlap}{unit}")
    parts += _unusual(point.chunker)
    parts += [point.names["embedder"], *_unusual(point.embedder)]
    if point.names["retriever"] != "dense":
        parts.append(point.names["retriever"])
    return " ".join([*parts, *_unusual(point.retriever)])


def _unusual(configured: Any) -> list[str]:
    """Parameters that differ from the class's own default, sizes aside."""
    shown = []
    for field in dataclasses.fields(configured):
        value = getattr(configured, field.name)
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        if field.name not in SIZES and default is not dataclasses.MISSING and value != default:
            shown.append(f"{field.name}={str(value)[:24]!r}" if isinstance(value, str) else f"{field.name}={value}")
    return shown
