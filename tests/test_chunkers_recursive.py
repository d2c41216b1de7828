"""The recursive splitter against langchain-text-splitters, and what it does better."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.chunkers.base import Tools
from bench.chunkers.fixed import Fixed
from bench.chunkers.pieces import merge
from bench.chunkers.recursive import MULTILINGUAL, Recursive
from bench.errors import ConfigError
from bench.tokenize import get_tokenizer
from bench.types import Document

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from langchain_text_splitters import CharacterTextSplitter, RecursiveCharacterTextSplitter

TOOLS = Tools(get_tokenizer)
WORDS = st.sampled_from(
    ["a", "ab", " ", "\n", "\n\n", ".", "?", "。", "word ", "x " * 5, "\t", "long" * 6, "漢字", "12", "\u3000"]
)
TEXTS = st.lists(WORDS, max_size=80).map("".join)
SEPARATORS = st.sampled_from(
    [["\n\n", "\n", " ", ""], ["\n\n", "\n", ".", "?", "!", " ", ""], ["。", "\n"], [" "], ["\n\n", "ab", ""]]
)


def length(tokenizer: str) -> Callable[[str], int]:
    return len if not tokenizer else lambda text: int(get_tokenizer(tokenizer).count([text])[0])


def texts(chunker: Recursive | Fixed, text: str) -> list[str]:
    return [chunk.indexed_text for chunk in chunker.cut(Document("d", text), TOOLS)]


def inked(parts: list[str], strip: bool) -> list[str]:
    """What LangChain cannot cut further it returns with its white space, which may be all there is."""
    return [part.strip() if strip else part for part in parts if part.strip()]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    text=TEXTS,
    separators=SEPARATORS,
    keep=st.sampled_from(["start", "end"]),
    size=st.integers(1, 30),
    share=st.floats(0, 0.99),
    tokenizer=st.sampled_from(["", "cl100k", "minilm"]),
    strip=st.booleans(),
)
def test_same_chunks_as_langchain(
    text: str, separators: list[str], keep: str, size: int, share: float, tokenizer: str, strip: bool
) -> None:
    overlap = int(size * share)
    unit = {"unit": "tokens", "tokenizer": tokenizer} if tokenizer else {"unit": "characters"}
    ours = Recursive(size=size, overlap=overlap, separators=separators, keep=keep, strip=strip, **unit)
    theirs = RecursiveCharacterTextSplitter(
        separators=separators,
        keep_separator=keep,
        chunk_size=size,
        chunk_overlap=overlap,
        length_function=length(tokenizer),
        strip_whitespace=strip,
    )
    assert inked(texts(ours, text), strip) == inked(theirs.split_text(text), strip)


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, size=st.integers(2, 30), tokenizer=st.sampled_from(["", "cl100k"]))
def test_the_default_separators_work_in_langchain_too(text: str, size: int, tokenizer: str) -> None:
    unit = {"unit": "tokens", "tokenizer": tokenizer} if tokenizer else {"unit": "characters"}
    theirs = RecursiveCharacterTextSplitter(
        separators=list(MULTILINGUAL),
        is_separator_regex=True,
        keep_separator="end",
        chunk_size=size,
        chunk_overlap=size // 4,
        length_function=length(tokenizer),
    )
    ours = Recursive(size=size, overlap=size // 4, **unit)
    assert inked(texts(ours, text), True) == inked(theirs.split_text(text), True)


@settings(max_examples=150, deadline=None)
@given(words=st.lists(st.text("abc", min_size=1, max_size=9), max_size=40), size=st.integers(1, 30), data=st.data())
def test_separators_between_chunks_are_left_out_with_keep_none(
    words: list[str], size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    theirs = CharacterTextSplitter(separator=";", keep_separator=False, chunk_size=size, chunk_overlap=overlap)
    ours = Recursive(size=size, overlap=overlap, unit="characters", separators=[";"], keep="none")
    assert inked(texts(ours, ";".join(words)), True) == theirs.split_text(";".join(words))


@given(st.lists(st.integers(0, 6), max_size=30), st.integers(1, 12), st.data())
def test_merge_is_the_rule_written_out(sizes: list[int], size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    expected: list[tuple[int, int]] = []
    low = total = 0
    for at, one in enumerate(sizes):
        if total + one > size and low < at:
            expected.append((low, at))
            while total > overlap or (total + one > size and total > 0):
                total -= sizes[low]
                low += 1
        total += one
    if sizes:
        expected.append((low, len(sizes)))
    ends = np.cumsum(np.array(sizes, dtype=np.int64))
    assert list(merge((ends - sizes, ends), size, overlap)) == expected


@pytest.mark.parametrize("overlap", [0, 3, 7])
def test_token_windows_are_those_of_langchain(overlap: int) -> None:
    text = "The quick brown fox jumps over the lazy dog, and 12345 more words follow it here. " * 9
    starts = [*get_tokenizer("cl100k").starts(text).tolist(), len(text)]
    expected = []
    for first in range(0, len(starts) - 1, 10 - overlap):
        last = min(first + 10, len(starts) - 1)
        expected.append(text[starts[first] : starts[last]])
        if last == len(starts) - 1:
            break
    assert texts(Fixed(size=10, overlap=overlap, tokenizer="cl100k"), text) == expected


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Fee is 5. Term is 9. Fee is 5. End.", ["Fee is 5.", "Term is 9.", "Fee is 5.", "End."]),
        (
            "これは本棚だよ。それは紙！「はい。」終わりですか？",
            ["これは本棚だよ。", "それは紙！「はい。」", "終わりですか？"],
        ),
        ("यह घर है। वह बाग॥ क्या?", ["यह घर है।", "वह बाग॥", "क्या?"]),
        ("Pi is 3.14 or so. See v1.2.3 of it.", ["Pi is 3.14", "or so.", "See v1.2.3", "of it."]),
        ("one\r\n\r\ntwo\r\nthree four", ["one", "two", "three four"]),
    ],
)
def test_default_separators_keep_stops_with_their_sentence(text: str, parts: list[str]) -> None:
    chunks = Recursive(size=11, unit="characters").cut(Document("d", text), TOOLS)
    assert [chunk.indexed_text for chunk in chunks] == parts
    assert [text[chunk.span.start : chunk.span.end] for chunk in chunks if chunk.span] == parts


def test_lookbehinds_see_what_stands_before_a_piece() -> None:
    chunker = Recursive(size=4, unit="characters", separators=["\n", r"(?<=\n)b", ""], regex=True, keep="start")
    assert texts(chunker, "a\nbcccc") == ["a", "", "bccc", "c"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"keep": "begin"}, "chunker.keep: got 'begin'.*allowed: end, none, start"),
        ({"separators": []}, "chunker.separators: got \\[\\]"),
        ({"separators": ["("], "regex": True}, "'\\(', which is no regular expression"),
    ],
)
def test_wrong_separators_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Recursive(**values)  # type: ignore[arg-type]
