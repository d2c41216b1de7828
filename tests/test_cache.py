"""The vector cache: never a stale vector, never a lost one, one line where it cannot work."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.embedders.base import Kind
from bench.embedders.cache import SLAB_TEXTS, CachedEmbedder, Usage, VectorCache
from bench.errors import ModelError, StoreError
from bench.types import Floats
from tests.hashing import HashEmbedder

ROOT = Path(__file__).resolve().parent.parent
WRITER = """
import sys, numpy as np
from bench.embedders.cache import VectorCache
cache, name, rounds = VectorCache(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for r in range(rounds):
    keys = [f"{name} {r} {i}".encode() for i in range(50)]
    cache.put(keys, np.full((50, 8), r, dtype=np.float32))
    print(r, flush=True)
"""


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[VectorCache]:
    opened = VectorCache(tmp_path / "deep" / "vectors.sqlite")
    yield opened
    opened.close()


def writer(path: Path, name: str, rounds: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), name, str(rounds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_second_call_embeds_nothing_and_gives_the_same_vectors(cache: VectorCache) -> None:
    model = HashEmbedder()
    first = CachedEmbedder(model, cache).encode(["a b", "c", "ça va 日本 \ud800"], "passage")
    again = CachedEmbedder(HashEmbedder(), cache)
    assert (again.encode(["ça va 日本 \ud800", "a b", "c"], "passage") == first[[2, 0, 1]]).all()
    assert again.usage() == Usage(cache_hits=3)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["a", "b", "c d", "é", "", "x" * 50]), max_size=8), max_size=5), st.data())
def test_rows_are_those_of_the_plain_embedder(calls: list[list[str]], data: st.DataObject) -> None:
    store, plain = VectorCache(Path(":memory:")), HashEmbedder()
    cached = CachedEmbedder(HashEmbedder(), store)
    for texts in calls:
        kind: Kind = data.draw(st.sampled_from(["query", "passage"]))
        vectors = cached.encode(texts, kind)
        assert vectors.shape == (len(texts), cached.dim)
        assert vectors.dtype == np.float32
        assert (vectors == plain.encode(texts, kind)).all()
    store.close()


def test_equal_texts_of_one_call_are_embedded_once(cache: VectorCache) -> None:
    model = HashEmbedder()
    cached = CachedEmbedder(model, cache)
    vectors = cached.encode(["same one", "other", "same one"], "passage")
    assert [len(texts) for _, texts in model.calls] == [2]
    assert (vectors[0] == vectors[2]).all()
    assert (cached.usage().embedded_texts, cached.usage().embedded_tokens) == (2, 3)


def test_tokens_beyond_the_limit_are_not_counted_as_embedded(cache: VectorCache) -> None:
    cached = CachedEmbedder(HashEmbedder(usable_tokens=3), cache)
    before = cached.usage()
    cached.encode(["one two three four five", "one"], "query")
    assert cached.usage().since(before).embedded_tokens == 4
    assert before == Usage()


@pytest.mark.parametrize("changed", ["text", "kind", "model"])
def test_whatever_changes_is_never_served_stale(cache: VectorCache, changed: str) -> None:
    CachedEmbedder(HashEmbedder(), cache).encode(["chunk one", "chunk two"], "passage")
    texts = ["chunk one, edited", "chunk two!"] if changed == "text" else ["chunk one", "chunk two"]
    kind: Kind = "query" if changed == "kind" else "passage"
    model = HashEmbedder(fingerprint="hash-2" if changed == "model" else "hash-1")
    vectors = CachedEmbedder(model, cache).encode(texts, kind)
    assert model.calls == [(kind, tuple(sorted(texts, key=len)))]
    assert (vectors == HashEmbedder(fingerprint=model.fingerprint).encode(texts, kind)).all()


class Failing(HashEmbedder):
    """Fails on the batch that holds a given text."""

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        if any("poison" in text for text in texts):
            raise ModelError("embedder failing: a batch failed")
        return super().encode(texts, kind)


def test_failed_batch_raises_and_keeps_what_was_done_before(cache: VectorCache) -> None:
    texts = [f"text number {i:05}" for i in range(SLAB_TEXTS + 40)] + ["poison " * 10]
    with pytest.raises(ModelError, match="batch failed"):
        CachedEmbedder(Failing(), cache).encode(texts, "passage")
    kept = len(cache)
    assert kept == SLAB_TEXTS
    mended = CachedEmbedder(HashEmbedder(), cache)
    assert (mended.encode(texts, "passage") == HashEmbedder().encode(texts, "passage")).all()
    assert mended.usage().cache_hits == kept


def test_killed_writer_loses_no_committed_batch(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    process = writer(path, "killed", 1_000_000)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 20:
            break
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    reported = [int(line) for line in process.stdout] or [20]
    process.stdout.close()
    cache = VectorCache(path)
    for r in range(reported[-1] + 1):
        keys = [f"killed {r} {i}".encode() for i in range(50)]
        assert set(cache.get(keys, 8)) == set(keys)
    assert len(cache) % 50 == 0
    cache.put([b"after"], np.zeros((1, 8), dtype=np.float32))
    cache.close()


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    processes = [writer(path, "shared", 60), writer(path, "shared", 60), writer(path, "own", 60)]
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    cache = VectorCache(path)
    assert len(cache) == 2 * 60 * 50
    cache.close()


def test_twenty_thousand_vectors_come_back_whole(cache: VectorCache) -> None:
    keys = [i.to_bytes(16, "big") for i in range(20_000)]
    vectors = np.random.default_rng(0).normal(size=(20_000, 384)).astype(np.float32)
    cache.put(keys, vectors)
    found = cache.get([*keys, b"absent"], 384)
    assert len(found) == 20_000
    assert (np.stack([found[key] for key in keys]) == vectors).all()


def test_a_key_keeps_its_first_vector(cache: VectorCache) -> None:
    for value in (1, 2):
        cache.put([b"key"], np.full((1, 4), value, dtype=np.float32))
    assert cache.get([b"key"], 4)[b"key"].tolist() == [1, 1, 1, 1]


def test_full_disk_is_one_line_and_leaves_the_cache_whole(cache: VectorCache) -> None:
    cache.put([b"first"], np.ones((1, 64), dtype=np.float32))
    cache._connection.execute("PRAGMA max_page_count=20")
    keys = [i.to_bytes(4, "big") for i in range(2_000)]
    with pytest.raises(StoreError, match=r"vectors.sqlite: database or disk is full; free some space") as raised:
        cache.put(keys, np.ones((2_000, 64), dtype=np.float32))
    assert "\n" not in str(raised.value)
    assert len(cache) == 1


def test_file_that_is_no_cache_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    path.write_bytes(b"not a database at all " * 500)
    with pytest.raises(StoreError, match=r"vectors.sqlite: file is not a database; set sweep.cache to another file"):
        VectorCache(path)


def test_damaged_pages_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    cache = VectorCache(path)
    keys = [i.to_bytes(4, "big") for i in range(500)]
    cache.put(keys, np.ones((500, 64), dtype=np.float32))
    cache.close()
    content = bytearray(path.read_bytes())
    content[4096:] = bytes([255]) * (len(content) - 4096)
    path.write_bytes(bytes(content))
    damaged = VectorCache(path)
    with pytest.raises(StoreError, match="malformed; delete the file"):
        damaged.get(keys, 64)
    damaged.close()


def test_vector_of_another_length_is_damage(cache: VectorCache) -> None:
    cache.put([b"key"], np.ones((1, 4), dtype=np.float32))
    with pytest.raises(StoreError, match="a vector has not 8 numbers; delete the file"):
        cache.get([b"key"], 8)


def test_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"set sweep.cache to a file that can be written"):
        VectorCache(tmp_path / "file" / "vectors.sqlite")


def test_locked_file_waits_for_the_other_writer(cache: VectorCache) -> None:
    other = sqlite3.connect(cache.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    def write() -> None:
        mine = VectorCache(cache.path)
        mine.put([b"late"], np.ones((1, 4), dtype=np.float32))
        mine.close()

    thread = threading.Thread(target=write)
    thread.start()
    thread.join(0.5)
    assert thread.is_alive()
    assert len(cache) == 0
    other.execute("COMMIT")
    other.close()
    thread.join(60)
    assert len(cache) == 1
