"""The record of a point: as far as it is known once the corpus is cut, as a duplicate, as a failure, and its cost."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bench.chunkers.deliver import identity
from bench.chunkers.run import Chunking
from bench.config import PointConfig
from bench.embedders.cache import Usage
from bench.embedders.passages import read_tokens
from bench.measures.realised import realised
from bench.points import axes, label, plain_config
from bench.provenance import provenance
from bench.session import Session
from bench.store import PointRecord, Sweep, to_json

ENOUGH_TO_TIME = 20_000
"""Tokens that a process must have embedded before its speed says anything about a whole corpus."""


def started(point: PointConfig, session: Session, chunking: Chunking, spent: Mapping[str, Any]) -> PointRecord:
    """The record as far as it is known once the corpus is cut, with what was spent on that."""
    embedder, embeds = session.embedder(point), point.retriever.needs_vectors
    tokens = embedder.count_tokens([chunk.indexed_text for chunk in chunking.chunks]) if embeds else None
    found = realised(
        chunking.chunks,
        session.layout,
        embedder_tokens=tokens,
        usable_tokens=embedder.usable_tokens,
        fingerprint=chunking.fingerprint,
        over_limit=chunking.over_limit,
        empties_dropped=chunking.empties_dropped,
        uncovered_chars=chunking.uncovered_chars,
    )
    read = 0 if tokens is None else read_tokens(embedder, tokens, session.texts)
    found |= {"embedder_tokens": read, **spent}
    config = plain_config(point)
    depends = [
        chunking.fingerprint,
        identity(point.chunker),
        embedder.fingerprint if embeds else "",
        point.retriever.fingerprint,
        to_json([config[k] for k in ("retriever", "scoring", "seed", "generator", "judge", "answers")]),
        to_json(config["index"]) if embeds else "",
    ]
    return PointRecord(
        point_id=session.point_id(point),
        label=label(point),
        status="failed",
        axes=axes(point),
        config=config,
        provenance=provenance() | {"embedder": embedder.fingerprint, "usable_tokens": embedder.usable_tokens},
        realised=found,
        timings_s={},
        cost={},
        estimates={},
        identity=hashlib.sha256("\n".join(depends).encode()).hexdigest(),
    )


def write_twin(record: PointRecord, session: Session, sweep: Sweep) -> bool:
    """Write ``record`` as a duplicate if a complete point of the sweep rests on the same chunks and vectors.

    Points that other processes have completed meanwhile count. Two that compute equal points at the same moment both
    write them, with equal scores: nothing is lost by it but the time.
    """
    others = sweep.records(leave_out=session.seen) if (sweep.folder / "sweep.json").is_file() else []
    for other in (r for r in others if r.status == "complete"):
        session.seen.add(other.point_id)
        if not other.duplicate_of:
            session.done.setdefault(other.identity, other.point_id)
    twin = session.done.get(record.identity)
    if twin is None or twin == record.point_id or not sweep.has(twin):
        return False
    first = sweep.record(twin)
    sweep.write_point(replace(record, status="complete", duplicate_of=twin, estimates=first.estimates, cost=first.cost))
    return True


def cost_of(index_bytes: int, now: Usage, before: Usage, found: Mapping[str, Any]) -> dict[str, Any]:
    """What the point costs: ``embedding_*`` of a first run, ``embedded_now_*`` of what was not in the cache."""
    step = now.since(before)
    rate = now.embedded_tokens / now.forward_s if now.embedded_tokens >= ENOUGH_TO_TIME else None
    tokens = found["embedder_tokens"] + found["cutting_tokens"]
    return {
        "index_bytes": index_bytes,
        "embedding_tokens": tokens,
        "embedding_s": round(tokens / rate, 3) if rate else None,
        "embedded_now_tokens": step.embedded_tokens,
        "embedded_now_s": round(step.forward_s, 4),
        "embedded_now_cpu_s": round(step.forward_cpu_s, 4),
    }


def failed(point: PointConfig, name: str, reason: str, trace: str) -> PointRecord:
    reason = reason.encode("utf-8", "backslashreplace").decode()
    made = provenance() | ({"traceback": trace} if trace else {})
    return PointRecord(
        name, label(point), "failed", axes(point), plain_config(point), made, {}, {}, {}, {}, reason=reason
    )
