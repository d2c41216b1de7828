"""What the stages share: a retriever by name whose ranking they work on, and how rankings are put together."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.errors import ConfigError, near
from bench.retrieve import Retrieval, Retriever
from bench.types import Floats, Ints, Ranking

Doubles = NDArray[np.float64]

BASES = {
    "dense": "bench.retrieve.Dense",
    "bm25": "bench.retrievers.bm25.BM25",
    "hybrid_rrf": "bench.retrievers.hybrid.HybridRRF",
    "hybrid_weighted": "bench.retrievers.hybrid.HybridWeighted",
    "rerank": "bench.retrievers.rerank.Rerank",
    "mmr": "bench.retrievers.mmr.MMR",
    "dedup": "bench.retrievers.dedup.Dedup",
    "threshold": "bench.retrievers.threshold.Threshold",
}
TYPES: dict[str, tuple[type, ...]] = {"float": (float, int), "int": (int,), "str": (str,), "dict[str, Any]": (dict,)}
GAP = 1e-4
LEAST_COSINE = -1.0


@dataclass(frozen=True)
class Stage(Retriever):
    """A retriever that works on the ranking of another: ``base`` by name, with ``base_options`` where it has any.

    A stage may stand on a stage: ``base: dedup``, ``base_options: {base: hybrid_rrf}``.
    """

    base: str = "dense"
    base_options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _ = self.first

    @cached_property
    def first(self) -> Retriever:
        """The retriever under it.

        Raises:
            ConfigError: no such name, no such option, or a value that it refuses.
        """
        return named(self.base, self.base_options)

    @property
    def needs_vectors(self) -> bool:
        """See ``Retriever.needs_vectors``."""
        return self.first.needs_vectors

    @property
    def fingerprint(self) -> str:
        """See ``Retriever.fingerprint``."""
        return self.first.fingerprint

    def prepare(self, given: Retrieval) -> Retrieval:
        """See ``Retriever.prepare``."""
        return self.first.prepare(given)


def named(base: str, options: Mapping[str, Any]) -> Retriever:
    """Return the retriever called ``base``.

    Raises:
        ConfigError: no such name, no such option, or a value that it refuses.
    """
    if base not in BASES:
        raise ConfigError(f"retriever.base: got {base!r}; {near(base, BASES)}")
    module, _, name = BASES[base].rpartition(".")
    kind = getattr(importlib.import_module(module), name)
    fields = {one.name: one for one in dataclasses.fields(kind)}
    for key, value in options.items():
        where = f"retriever.base_options.{key}"
        if key not in fields:
            raise ConfigError(f"{where}: {base} has no such parameter; {near(key, fields)}")
        wanted = TYPES.get(str(fields[key].type), (object,))
        if type(value) not in wanted and wanted != (object,):
            raise ConfigError(f"{where}: got {value!r}; allowed: one {wanted[0].__name__}")
    for key, one in fields.items():
        if key not in options and one.default is one.default_factory is dataclasses.MISSING:
            raise ConfigError(f"retriever.base_options.{key}: has no value; {base} needs one")
    made: Retriever = kind(**options)
    return made


def at_least(name: str, value: int, least: int) -> None:
    """Refuse a value of ``retriever.<name>`` below ``least``.

    Raises:
        ConfigError: it is below.
    """
    if value < least:
        raise ConfigError(f"retriever.{name}: got {value}; allowed: at least {least}")


def share(name: str, value: float) -> None:
    """Refuse a value of ``retriever.<name>`` outside 0 to 1.

    Raises:
        ConfigError: it is outside.
    """
    if not 0 <= value <= 1:
        raise ConfigError(f"retriever.{name}: got {value}; allowed: 0 to 1")


def chunk_vectors(given: Retrieval) -> Floats:
    """Return the vectors of the chunks, shape (chunks, dim).

    Raises:
        ConfigError: they were not handed over.
    """
    if given.chunk_vectors is None:
        raise ConfigError("retriever: needs the vectors of the chunks; hand them over")
    return given.chunk_vectors


def top(scores: Floats, depth: int) -> Ints:
    """Return the positions of the ``depth`` greatest scores, best first, equal ones in ascending order.

    Args:
        scores: shape (n,).
        depth: how many; all where there are fewer.
    """
    inside = np.arange(len(scores))
    if 0 < depth < len(scores):
        inside = np.flatnonzero(scores >= np.partition(scores, -depth)[-depth])
    return inside[np.argsort(-scores[inside], kind="stable")][: max(depth, 0)]


def cosines(vectors: Floats, one: Floats) -> Doubles:
    """Return the inner product of each row with ``one``, shape (n,), float64.

    Each row is summed by itself, so that equal vectors have exactly equal values wherever they stand.
    """
    products: Doubles = np.einsum("ij,j->i", vectors, one, dtype=np.float64)
    return products


def with_rest(head: Ranking, base: Ranking, depth: int) -> Ranking:
    """Return ``head`` and, behind it, the hits of ``base`` that it lacks: cuts beyond the candidates are filled too.

    The scores of those keep their differences and are lowered, where they must be, to begin below the last of ``head``.
    """
    seen = {hit.chunk for hit in head.hits}
    rest = [hit for hit in base.hits if hit.chunk not in seen]
    shift = max(0.0, rest[0].score - head.hits[-1].score + GAP) if rest and head.hits else 0.0
    lowered = tuple(replace(hit, score=hit.score - shift) for hit in rest)
    return Ranking(head.question_id, (head.hits + lowered)[:depth])
