"""Kinds of approximate indexes. Each is the same for the same vectors and seed, and flat where vectors are too few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bench.errors import ConfigError
from bench.index import FlatIndex, Index
from bench.indexes.search import ApproximateIndex, library, one_thread
from bench.types import Floats

PER_CENTROID = 39
"""Vectors a centroid is trained on at least: below that FAISS itself warns of a bad clustering."""


@dataclass(frozen=True)
class HNSW:
    """A graph of near neighbours (Malkov & Yashunin 2016): fast at any size, more bytes than flat.

    A search deeper than ``ef_search`` looks at as many as it returns.

    Attributes:
        m: neighbours of a vector, twice as many on the lowest level.
        ef_construction: candidates looked at when a vector is added.
        ef_search: candidates looked at when a question is searched.
    """

    m: int = 32
    ef_construction: int = 200
    ef_search: int = 64

    def __post_init__(self) -> None:
        _at_least(self, 2, "m")
        _at_least(self, 1, "ef_construction", "ef_search")

    def build(self, vectors: Floats, seed: int) -> Index:
        """See ``IndexConfig.build``; flat where every vector would be every other's neighbour."""
        if len(vectors) <= 2 * self.m:
            return _replaced(vectors, "hnsw", f"its graph needs more than {2 * self.m}")
        faiss = library()
        made = faiss.IndexHNSWFlat(vectors.shape[1], self.m, faiss.METRIC_INNER_PRODUCT)
        made.hnsw.rng = faiss.RandomGenerator(seed)
        made.hnsw.efConstruction = self.ef_construction
        return ApproximateIndex("hnsw", made, vectors, {"efSearch": self.ef_search})


@dataclass(frozen=True)
class IVF:
    """Vectors in cells by k-means, the nearest cells searched: fast, about as many bytes as flat.

    Attributes:
        nlist: number of cells; 0: 4 · √vectors, with at least 39 vectors for each.
        nprobe: cells that are searched.
    """

    nlist: int = 0
    nprobe: int = 8

    def __post_init__(self) -> None:
        _check_cells(self)

    def build(self, vectors: Floats, seed: int) -> Index:
        """See ``IndexConfig.build``; flat where cells would have too few vectors to be trained on."""
        cells = _cells(self.nlist, len(vectors))
        if len(vectors) < PER_CENTROID * cells:
            return _replaced(vectors, "ivf", f"{cells} cells are trained on {PER_CENTROID * cells}")
        return _trained("ivf", f"IVF{cells},Flat", vectors, seed, {"nprobe": self.nprobe}, exact_scores=True)


@dataclass(frozen=True)
class PQ:
    """Vectors in ``subvectors`` codes of ``bits`` (Jégou et al. 2011): a fraction of the bytes, scores are estimates.

    Attributes:
        subvectors: codes of a vector; they divide its dimension.
        bits: size of a code, 4 or 8.
    """

    subvectors: int = 32
    bits: int = 8

    def __post_init__(self) -> None:
        _check_codes(self)

    def build(self, vectors: Floats, seed: int) -> Index:
        """See ``IndexConfig.build``; flat where there are too few vectors to train the codes.

        Raises:
            ConfigError: ``subvectors`` does not divide the dimension.
        """
        _divides(self.subvectors, vectors.shape[1])
        needed = PER_CENTROID * 2**self.bits
        if len(vectors) < needed:
            return _replaced(vectors, "pq", f"codes of {self.bits} bits are trained on {needed}")
        return _trained("pq", f"PQ{self.subvectors}x{self.bits}", vectors, seed, {})


@dataclass(frozen=True)
class IVFPQ:
    """Codes in cells: the attributes of ``IVF`` and of ``PQ``."""

    nlist: int = 0
    nprobe: int = 8
    subvectors: int = 32
    bits: int = 8

    def __post_init__(self) -> None:
        _check_cells(self)
        _check_codes(self)

    def build(self, vectors: Floats, seed: int) -> Index:
        """See ``IndexConfig.build``; flat where there are too few vectors to train cells or codes.

        Raises:
            ConfigError: ``subvectors`` does not divide the dimension.
        """
        _divides(self.subvectors, vectors.shape[1])
        cells = _cells(self.nlist, len(vectors))
        needed = PER_CENTROID * max(cells, 2**self.bits)
        if len(vectors) < needed:
            return _replaced(vectors, "ivfpq", f"{cells} cells and codes of {self.bits} bits are trained on {needed}")
        factory = f"IVF{cells},PQ{self.subvectors}x{self.bits}"
        return _trained("ivfpq", factory, vectors, seed, {"nprobe": self.nprobe})


def _trained(
    kind: str, factory: str, vectors: Floats, seed: int, settings: dict[str, int], *, exact_scores: bool = False
) -> Index:
    faiss = library()
    made = faiss.index_factory(vectors.shape[1], factory, faiss.METRIC_INNER_PRODUCT)
    for part in (made, getattr(made, "pq", made)):
        if hasattr(part, "cp"):
            part.cp.seed = seed
    with one_thread():
        made.train(vectors)
    return ApproximateIndex(kind, made, vectors, settings, exact_scores)


def _replaced(vectors: Floats, kind: str, needed: str) -> Index:
    return FlatIndex(vectors, f"flat in place of {kind}: {len(vectors)} vectors, {needed}")


def _cells(nlist: int, count: int) -> int:
    return nlist or max(1, min(round(4 * count**0.5), count // PER_CENTROID))


def _at_least(config: Any, least: int, *names: str) -> None:
    for name in names:
        if getattr(config, name) < least:
            raise ConfigError(f"index.{name}: got {getattr(config, name)}; allowed: at least {least}")


def _check_cells(config: IVF | IVFPQ) -> None:
    _at_least(config, 0, "nlist")
    _at_least(config, 1, "nprobe")
    if 0 < config.nlist < config.nprobe:
        raise ConfigError(f"index.nprobe: got {config.nprobe}; allowed: at most index.nlist, {config.nlist}")


def _check_codes(config: PQ | IVFPQ) -> None:
    _at_least(config, 1, "subvectors")
    if config.bits not in (4, 8):
        raise ConfigError(f"index.bits: got {config.bits}; allowed: 4, 8")


def _divides(subvectors: int, dim: int) -> None:
    if dim % subvectors:
        raise ConfigError(f"index.subvectors: got {subvectors}; allowed: a divisor of the vectors' {dim} dimensions")
