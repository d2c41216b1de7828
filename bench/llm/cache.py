"""Replies on disk: one SQLite file, one row a reply, written as it arrives, so that a crash loses none."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.errors import StoreError

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT NOT NULL UNIQUE, model TEXT NOT NULL, reply TEXT NOT NULL)"


def key_of(parts: Mapping[str, Any]) -> str:
    """Return the key of a call: a hash of all that its reply depends on."""
    text = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


class ReplyCache:
    """Keyed store of replies; several processes may share the file. ``None`` as path keeps them in memory."""

    def __init__(self, path: Path | None) -> None:
        self._lock = threading.Lock()
        self._path = path or "memory"
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path or ":memory:", timeout=60, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(_TABLE)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"{path}: the reply cache cannot be opened ({error}); delete it or name another"
            ) from error

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the stored reply, or None.

        Raises:
            StoreError: the file is damaged.
        """
        with self._lock, self._errors():
            row = self._db.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            return json.loads(row[0]) if row else None

    def put(self, key: str, model: str, reply: Mapping[str, Any]) -> None:
        """Store a reply; the first one stored under a key stays.

        Raises:
            StoreError: the file cannot be written, or the disk is full.
        """
        text = json.dumps(reply, ensure_ascii=False)
        with self._lock, self._errors():
            self._db.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (key, model, text))

    def __len__(self) -> int:
        with self._lock, self._errors():
            return int(self._db.execute("SELECT count(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError) as error:
            full = "full" in str(error)
            remedy = "free some space" if full else "delete the file (it is filled again)"
            raise StoreError(f"{self._path}: the reply cache fails ({error}); {remedy}, then run again") from error
