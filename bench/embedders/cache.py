"""Vectors that were computed once: one SQLite file for every model, and an embedder that looks there first."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import numpy as np

from bench.embedders.base import Embedder, Kind
from bench.errors import StoreError
from bench.types import Floats, Ints

LOOKUP_KEYS = 500
SLAB_TEXTS = 512
BUSY_S = 120
TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB NOT NULL UNIQUE, vector BLOB NOT NULL)"


class VectorCache:
    """Unit vectors by key in one SQLite file (write-ahead log, ordinary rowid table).

    A killed process loses at most the batch that it was writing; several processes may write at once.
    """

    def __init__(self, path: Path | str = Path(".cache/vectors.sqlite")) -> None:
        """Open or make the file.

        Raises:
            StoreError: it cannot be written, or is not a cache.
        """
        self.path = Path(path)
        with self._errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(TABLE)

    def get(self, keys: Sequence[bytes], dim: int) -> dict[bytes, Floats]:
        """Return the vectors that are there, each of shape (dim,).

        Raises:
            StoreError: the file is damaged.
        """
        found: dict[bytes, Floats] = {}
        with self._errors():
            for start in range(0, len(keys), LOOKUP_KEYS):
                some = keys[start : start + LOOKUP_KEYS]
                marks = ",".join("?" * len(some))
                rows = self._connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some)
                found.update((key, np.frombuffer(blob, dtype="<f4")) for key, blob in rows)
        if any(vector.shape != (dim,) for vector in found.values()):
            raise StoreError(f"cache {self.path}: is damaged, a vector has not {dim} numbers; delete the file")
        return found

    def put(self, keys: Sequence[bytes], vectors: Floats) -> None:
        """Keep ``vectors`` (len(keys), dim) in one transaction; a key that is there keeps its vector.

        Raises:
            StoreError: the file cannot be written, the disk is full, or the file is damaged.
        """
        rows = zip(keys, (row.astype("<f4").tobytes() for row in vectors), strict=True)
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                self._connection.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def __len__(self) -> int:
        with self._errors():
            return int(self._connection.execute("SELECT count(*) FROM vectors").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._errors():
            self._connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"cache {self.path}: {error}; {_remedy(str(error))}") from error


def _remedy(message: str) -> str:
    if "full" in message:
        return "free some space and run the same command again, nothing that was kept is lost"
    if "not a database" in message:
        return "set sweep.cache to another file, or delete this one if it was the cache: it is filled again"
    if "malformed" in message:
        return "delete the file, it is filled again"
    return "set sweep.cache to a file that can be written"


@dataclass
class Usage:
    """What embedding took. ``forward_*`` are seconds inside the model: wall clock, and all threads' CPU."""

    embedded_texts: int = 0
    embedded_tokens: int = 0
    cache_hits: int = 0
    forward_s: float = 0.0
    forward_cpu_s: float = 0.0

    def since(self, earlier: Usage) -> Usage:
        """Return what was added after ``earlier``."""
        return Usage(*(now - then for now, then in zip(astuple(self), astuple(earlier), strict=True)))


class CachedEmbedder:
    """An embedder that computes each distinct text once per model, prompt and precision; an ``Embedder`` itself."""

    def __init__(self, embedder: Embedder, cache: VectorCache) -> None:
        self.name = embedder.name
        self.fingerprint = embedder.fingerprint
        self.dim = embedder.dim
        self.usable_tokens = embedder.usable_tokens
        self._usage = Usage()
        self._embedder, self._cache = embedder, cache

    def usage(self) -> Usage:
        """Return what embedding took since this object was made; ``usage().since(before)`` is one step's share."""
        return replace(self._usage)

    def prepare(self) -> None:
        """Read the weights now."""
        self._embedder.prepare()

    def count_tokens(self, texts: Sequence[str]) -> Ints:
        """Return the model's own token count of each text."""
        return self._embedder.count_tokens(texts)

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        """Return unit vectors of shape (len(texts), dim), row i for text i: from the cache, else computed and kept.

        Raises:
            ModelError: a batch failed; what was computed before it is kept.
            StoreError: the cache cannot be read or written.
        """
        keys = [self._key(text, kind) for text in texts]
        rows = {key: row for row, key in enumerate(keys)}
        found = self._cache.get(list(rows), self.dim)
        self._usage.cache_hits += len(found)
        missing = sorted((key for key in rows if key not in found), key=lambda key: len(texts[rows[key]]))
        if missing:
            self._embedder.prepare()
        for start in range(0, len(missing), SLAB_TEXTS):
            slab = missing[start : start + SLAB_TEXTS]
            vectors = self._compute([texts[rows[key]] for key in slab], kind)
            self._cache.put(slab, vectors)
            found.update(zip(slab, vectors, strict=True))
        return np.stack([found[key] for key in keys]) if keys else np.zeros((0, self.dim), dtype=np.float32)

    def _compute(self, texts: list[str], kind: Kind) -> Floats:
        wall, cpu = time.perf_counter(), time.process_time()
        vectors = self._embedder.encode(texts, kind)
        self._usage.forward_s += time.perf_counter() - wall
        self._usage.forward_cpu_s += time.process_time() - cpu
        tokens = self._embedder.count_tokens(texts)
        limit = self.usable_tokens
        self._usage.embedded_texts += len(texts)
        self._usage.embedded_tokens += int((tokens if limit is None else np.minimum(tokens, limit)).sum())
        return vectors

    def _key(self, text: str, kind: Kind) -> bytes:
        identity = f"{self.fingerprint}\0{kind}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(identity, digest_size=16).digest()
