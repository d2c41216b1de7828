"""Faults that users of other splitters reported, each on the reported text and on texts of the same kind."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import regex

from bench import spans
from bench.chunkers.base import Chunker, Sized, Tools
from bench.chunkers.code import Code
from bench.chunkers.fixed import Fixed
from bench.chunkers.langchain import LangChain
from bench.chunkers.markdown import Markdown
from bench.chunkers.recursive import Recursive
from bench.chunkers.run import Chunking, chunk_corpus
from bench.chunkers.sentence import Paragraph, Sentence
from bench.errors import ConfigError
from bench.tokenize import get_tokenizer
from bench.types import Document, Ints

TOOLS = Tools(get_tokenizer)
LANGCHAIN = ["\n\n", "\n", " ", ""]


def case(shared: Path, name: str) -> str:
    folder = next(shared.glob(f"cases/{name}-*"))
    return next(folder.glob("input.*")).read_bytes().decode()


def chunking(chunker: Chunker, *texts: str, tools: Tools = TOOLS) -> Chunking:
    return chunk_corpus(chunker, [Document(f"d{i}", text) for i, text in enumerate(texts)], tools)


def texts(chunker: Chunker, text: str) -> list[str]:
    return [chunk.indexed_text for chunk in chunking(chunker, text).chunks]


def starts(chunker: Chunker, text: str, tools: Tools = TOOLS) -> list[int]:
    return [chunk.span.start for chunk in chunking(chunker, text, tools=tools).chunks if chunk.span]


class Words:
    """A tokenizer whose tokens are words."""

    name = fingerprint = "words"

    def starts(self, text: str) -> Ints:
        return np.array([match.start() for match in regex.finditer(r"\S+", text)], dtype=np.int64)

    def count(self, parts: list[str]) -> Ints:
        return np.array([len(part.split()) for part in parts], dtype=np.int64)


@pytest.mark.parametrize("kind", [Recursive, LangChain])
def test_offsets_of_repeated_text_in_words(shared: Path, kind: type[Sized]) -> None:
    tools = Tools(lambda name: Words())
    chunker = kind(size=2, overlap=1) if kind is LangChain else Recursive(2, 1, separators=LANGCHAIN, keep="start")
    assert starts(chunker, case(shared, "01"), tools) == [0, 5, 9, 14, 18, 23, 27, 34]
    assert starts(chunker, "No no no no", tools) == [0, 3, 6]


def test_third_sentence_is_where_it_was_cut() -> None:
    text = "Fee is 5. Term is 9. Fee is 5. End."
    for chunker in (Sentence(size=10, unit="characters"), Recursive(size=11, unit="characters")):
        assert [(c.span.start, c.span.end) for c in chunking(chunker, text).chunks if c.span][2] == (21, 30)


@pytest.mark.parametrize("size", [1, 2, 4, 7])
def test_token_windows_cut_no_character(shared: Path, size: int) -> None:
    for text in (case(shared, "03"), "नमस्ते 🐈‍⬛ Ünïcödé \U0001f469\u200d\U0001f469"):
        parts = texts(Fixed(size=size, tokenizer="cl100k"), text)
        assert "".join("".join(parts).split()) == "".join(text.split())
        assert not any("\ufffd" in part for part in parts)


def test_regex_separators_are_not_pasted_into_chunks(shared: Path) -> None:
    for keep in ("start", "end", "none"):
        chunker = Recursive(size=20, unit="characters", separators=[r"\s*;\s*"], regex=True, keep=keep)
        text = case(shared, "05")
        parts = texts(chunker, text)
        assert "".join(parts).count("\\") == 0
        assert all(part in text for part in parts)
        assert [word for part in parts for word in regex.findall(r"\w+", part)] == regex.findall(r"\w+", text)
    assert texts(chunker, "a1 ;b2;  c3") == ["a1 ;b2;  c3"]


def test_stops_stay_with_their_sentence(shared: Path) -> None:
    text = case(shared, "07")
    expected = ["春が来た。", "夏が来た。", "秋が来た。"]
    assert texts(Recursive(size=8, unit="characters", separators=["\n\n", "\n", "。"]), text) == expected
    assert texts(Recursive(size=8, unit="characters"), text) == expected
    assert texts(Sentence(size=8, unit="characters"), text) == expected
    assert texts(Recursive(size=6, unit="characters"), "Go! No? Ok. Hm.") == ["Go!", "No?", "Ok.", "Hm."]


def test_overlaps_without_effect_are_one_chunking(shared: Path) -> None:
    settings = {"size": 60, "unit": "characters", "separators": LANGCHAIN, "keep": "start"}
    results = [chunking(Recursive(overlap=overlap, **settings), case(shared, "09")) for overlap in (0, 10, 20, 30, 50)]
    assert len({result.fingerprint for result in results}) == 1
    for chunks in (result.chunks for result in results):
        places = spans.intervals((chunk.span.start, chunk.span.end) for chunk in chunks if chunk.span)
        assert spans.length(places) == spans.length(spans.union(places))


def test_indentation_is_kept_or_does_not_count(shared: Path) -> None:
    text = case(shared, "11")
    assert text[20:36].strip() == "return 1"
    for chunker in (Recursive(size=22, unit="characters"), Code(size=26, unit="characters", language="python")):
        places = spans.intervals((c.span.start, c.span.end) for c in chunking(chunker, text).chunks if c.span)
        assert spans.covers(places, 20, 36, spans.ink(text))
    assert "        return 1" in texts(Code(size=20, unit="characters", language="python"), text)


def test_comments_in_nested_fences_are_no_headings(shared: Path) -> None:
    parts = texts(Markdown(size=400, unit="characters"), case(shared, "13"))
    assert [part.splitlines()[0] for part in parts] == ["# T", "## S"]
    assert parts[0].endswith("after")
    inner = "~~~\n```\n~~~\n# real\n- x\n\n  ```\n  # not\n  ```\n\n    # code\n"
    assert [part.splitlines()[0] for part in texts(Markdown(size=400, unit="characters"), inner)] == ["~~~", "# real"]


@pytest.mark.parametrize(
    "chunker",
    [
        Recursive(size=3, unit="characters", separators=LANGCHAIN, keep="start"),
        Fixed(size=3, unit="characters"),
        Fixed(size=2, tokenizer="cl100k"),
        LangChain(size=3, unit="characters"),
        Sentence(size=3, unit="characters"),
        Paragraph(size=2, tokenizer="cl100k"),
    ],
)
def test_joined_characters_stay_together(shared: Path, chunker: Chunker) -> None:
    for text in (case(shared, "15"), "🇫🇷🇩🇪", "e\u0301\u0323o\u0308", "क्षि", "각\u11a8", "\u0301a \u0301"):
        borders = {0, *(match.end() for match in regex.finditer(r"\X", text))}
        for chunk in chunking(chunker, text).chunks:
            assert chunk.span
            assert {chunk.span.start, chunk.span.end} <= borders
            assert chunk.span.start == 0 or not unicodedata.combining(chunk.indexed_text[0])
    assert starts(chunker, case(shared, "15")) == [0, 7]


def test_sizes_in_tokens_are_without_special_tokens(shared: Path) -> None:
    """What an embedder cuts off is another count: see its usable tokens."""
    result = chunking(Recursive(size=254, separators=LANGCHAIN, keep="start"), case(shared, "21"))
    assert get_tokenizer("minilm").count([chunk.indexed_text for chunk in result.chunks]).tolist() == [254, 46]
    assert result.over_limit == 0


@pytest.mark.parametrize("kind", [Fixed, Recursive])
def test_sizes_are_of_the_named_tokenizer(shared: Path, kind: type[Sized]) -> None:
    for text in (case(shared, "23"), "Überraschung! 漢字 and naïve Zürich. " * 9):
        counts = get_tokenizer("minilm").count(texts(kind(size=10), text))
        assert counts.max() <= 10
        if kind is Fixed:
            assert counts[:-1].min() >= 8


def test_documents_shorter_than_a_chunk_are_one_chunking(shared: Path) -> None:
    documents = json.loads(case(shared, "29"))
    strategies: list[Chunker] = [
        Recursive(size=512),
        Fixed(size=512, unit="characters"),
        Fixed(size=512),
        Recursive(size=256, overlap=64),
        Sentence(size=512),
        Markdown(size=512),
    ]
    results = [chunking(strategy, *documents) for strategy in strategies]
    assert {len(result.chunks) for result in results} == {len(documents)}
    assert len({result.fingerprint for result in results}) == 1


@pytest.mark.parametrize("kind", [Fixed, Recursive, Sentence, Paragraph, Markdown, LangChain])
def test_overlap_of_the_whole_size_is_refused(kind: type[Sized]) -> None:
    for size, overlap, unit in ((5, 5, "characters"), (4, 4, "tokens"), (4, 40.0, "tokens")):
        with pytest.raises(ConfigError, match=f"overlap {overlap:g} with size {size}"):
            kind(size=size, overlap=overlap, unit=unit)


def test_largest_overlap_still_moves_on(shared: Path) -> None:
    text = case(shared, "41")
    assert starts(Recursive(size=5, overlap=4, unit="characters"), text) == list(range(len(text) - 4))


def test_paragraphs_never_win_by_one_giant_chunk() -> None:
    result = chunking(Paragraph(size=64), "word " * 25_000)
    assert result.over_limit == 0
    assert len(result.chunks) == -(-25_000 // 64)
