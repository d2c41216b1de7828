"""Splitters of others: offsets read from masks, placed by alignment, or refused."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.chunkers.base import Chunker, Tools
from bench.chunkers.custom import Custom
from bench.chunkers.exact import Masked, align, split_exactly
from bench.chunkers.langchain import LangChain
from bench.chunkers.recursive import Recursive
from bench.chunkers.run import chunk_corpus
from bench.errors import ChunkingError, ConfigError
from bench.tokenize import get_tokenizer
from bench.types import Chunk, Document, Span

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from langchain_text_splitters import CharacterTextSplitter, RecursiveCharacterTextSplitter, TokenTextSplitter

TOOLS = Tools(get_tokenizer)
HERE = "tests.test_chunkers_custom"
REPEATED = st.lists(st.sampled_from(["Yes. ", "No. ", "a", "\n", "\n\n", "🐈", "ab ", "..", "\t"]), max_size=60).map(
    "".join
)


@dataclass
class Words:
    """A class with an argument, called on the text."""

    size: int

    def __call__(self, text: str) -> list[str]:
        words = text.split(" ")
        return [" ".join(words[i : i + self.size]) for i in range(0, len(words), self.size)]


class Nodes:
    """LlamaIndex-like: ``split_text`` that returns strings."""

    def split_text(self, text: str) -> list[str]:
        return text.splitlines()


class Cutter:
    """A ``Chunker`` of one's own."""

    rewrites = True

    def cut(self, document: Document, tools: Tools) -> list[Chunk]:
        span = Span(document.doc_id, 0, len(document.text))
        return [Chunk(span, "Title. " + document.text, span)]


@dataclass
class Piece:
    start_index: int
    end_index: int


def spans(text: str, step: int = 3) -> list[tuple[int, int]]:
    return [(i, min(i + step, len(text))) for i in range(0, len(text), step)]


def pieces(text: str) -> list[Piece]:
    return [Piece(0, 2), Piece(2, len(text))]


def upper(text: str) -> list[str]:
    return [text.upper()]


def numbers(text: str) -> list[int]:
    return [1, 2]


def outside(text: str) -> list[tuple[int, int]]:
    return [(0, len(text) + 1)]


def broken(text: str) -> list[str]:
    raise KeyError("lost")


def one_string(text: str) -> str:
    return text


def nothing(text: str) -> None:
    return None


def cut(target: str, text: str, **arguments: Any) -> list[tuple[int, int]]:
    chunker: Chunker = Custom(target=target if "." in target else f"{HERE}.{target}", arguments=arguments)
    result = chunk_corpus(chunker, [Document("d", text)], TOOLS)
    return [(chunk.span.start, chunk.span.end) for chunk in result.chunks if chunk.span]


def test_what_a_custom_chunker_may_be_and_return() -> None:
    text = "one two\nthree"
    assert cut("Words", "one two three", size=2) == [(0, 7), (8, 13)]
    assert cut("Nodes", text) == [(0, 7), (8, 13)]
    assert cut("spans", text, step=8) == [(0, 8), (8, 13)]
    assert cut("pieces", text) == [(0, 2), (2, 13)]
    assert cut(
        "langchain_text_splitters.CharacterTextSplitter", text, separator="\n", chunk_size=8, chunk_overlap=0
    ) == [
        (0, 7),
        (8, 13),
    ]
    whole = chunk_corpus(Custom(target=f"{HERE}.Cutter"), [Document("d", text)], TOOLS)
    assert [chunk.indexed_text for chunk in whole.chunks] == ["Title. " + text]


def test_custom_spans_do_not_cut_clusters_unless_asked_to() -> None:
    text = "abe\u0301cd"
    assert cut("spans", text) == [(0, 2), (2, 6)]
    chunker = Custom(target=f"{HERE}.spans", whole_clusters=False)
    assert [chunk.indexed_text for chunk in chunker.cut(Document("d", text), TOOLS)] == ["abe", "\u0301cd"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("upper", "'d': the chunk 'TEXT' is not in the document"),
        ("numbers", "got a int"),
        ("one_string", "got one str .*allowed: a list of"),
        ("nothing", "got one NoneType .*allowed: a list of"),
        ("outside", r"got the span \(0, 5\); allowed: 0 <= start <= end <= 4"),
        ("broken", "broken failed on 'd' with KeyError: 'lost'"),
    ],
)
def test_what_a_custom_chunker_may_not_return(target: str, message: str) -> None:
    with pytest.raises(ChunkingError, match=message):
        cut(target, "text")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"target": ""}, "chunker.target: got ''"),
        ({"target": "nothing.here"}, "cannot import 'nothing.here'"),
        ({"target": "plain"}, "cannot import 'plain'"),
        ({"target": f"{HERE}.HERE"}, "is a str; allowed: a class or a function"),
    ],
)
def test_wrong_targets_are_refused(values: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Custom(**values)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"chunker\.arguments: .*Words refuses"):
        cut("Words", "text", length=3)
    with pytest.raises(ConfigError, match=r"chunker\.arguments: .*CharacterTextSplitter refuses {'sep'"):
        LangChain(splitter="langchain_text_splitters.CharacterTextSplitter", arguments={"sep": "\n"})
    with pytest.raises(ConfigError, match="has no split_text"):
        LangChain(splitter=f"{HERE}.cut_nothing")


def cut_nothing(**_: Any) -> object:
    return object()


@settings(max_examples=300, deadline=None)
@given(
    text=REPEATED,
    size=st.integers(2, 12),
    share=st.floats(0, 0.9),
    tokenizer=st.sampled_from(["", "cl100k"]),
    keep=st.sampled_from(["start", "end"]),
)
def test_langchain_offsets_are_those_of_our_recursive(
    text: str, size: int, share: float, tokenizer: str, keep: str
) -> None:
    """Two roads to one place: masks on LangChain's splitter, and our own splitter that never loses an offset."""
    separators = ["\n\n", "\n", " ", ""]
    sizes = {"size": size, "overlap": int(size * share), "unit": "tokens" if tokenizer else "characters"}
    ours = Recursive(**sizes, tokenizer=tokenizer or "minilm", separators=separators, keep=keep)
    arguments = {"separators": separators, "keep_separator": keep}
    theirs = LangChain(**sizes, tokenizer=tokenizer or "minilm", arguments=arguments)
    document = [Document("d", text)]
    assert chunk_corpus(theirs, document, TOOLS).chunks == chunk_corpus(ours, document, TOOLS).chunks


def test_lengths_are_counted_on_the_true_text() -> None:
    seen: list[str] = []

    def length(part: str) -> int:
        seen.append(part)
        return len(part)

    splitter = RecursiveCharacterTextSplitter(chunk_size=9, chunk_overlap=3, length_function=length)
    text = "naïve 漢字 text 🐈 here"
    assert [text[slice(*span)] for span in split_exactly(splitter, text, "d")] == splitter.split_text(text)
    assert all(part in text for part in seen)


def test_separators_that_look_like_masks() -> None:
    text = "a\U00010000b\U00010001\U00010000c"
    splitter = CharacterTextSplitter(separator="\U00010000", chunk_size=2, chunk_overlap=0, keep_separator="end")
    assert [text[slice(*span)] for span in split_exactly(splitter, text, "d")] == splitter.split_text(text)


def test_a_text_with_more_characters_than_masks_is_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.chunkers.exact._LAST_MASK", 0x10000 + 5)
    assert Masked.of("abcdef", frozenset()) is None
    splitter = RecursiveCharacterTextSplitter(chunk_size=4, chunk_overlap=0)
    assert split_exactly(splitter, "abc abc abc", "d") == [(0, 3), (4, 7), (8, 11)]


def test_a_splitter_that_breaks_characters_is_refused() -> None:
    get_tokenizer("cl100k")
    splitter = TokenTextSplitter(encoding_name="cl100k_base", chunk_size=4, chunk_overlap=0)
    with pytest.raises(ChunkingError, match="is not in the document as it stands"):
        split_exactly(splitter, "漢字の猫🐈と魚を読む", "d")
    assert split_exactly(splitter, "plain words are exact here", "d")[-1][1] == 26


@given(st.lists(st.sampled_from(["row ", "a ", "bb ", "\n", "row\n"]), max_size=60), st.data())
def test_tiles_are_placed_however_often_they_repeat(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    inner = data.draw(st.sets(st.integers(0, len(text)), max_size=12))
    true = [(a, b) for a, b in pairwise(sorted({0, len(text), *inner})) if text[a:b].strip()]
    assert align(text, [text[a:b] for a, b in true], "d") == true


def test_alignment() -> None:
    rows = "| 1 | 2 |\n" * 3000
    tiles = [(i, i + 50) for i in range(0, len(rows), 50)]
    assert align(rows, [rows[a:b] for a, b in tiles], "d") == tiles
    assert align("one, two, three", ["one", "two", "three"], "d") == [(0, 3), (5, 8), (10, 15)]
    assert align("  \n", [" ", ""], "d") == []
    with pytest.raises(ChunkingError, match="stands more than once"):
        align("x, one, one", ["one"], "d")
    with pytest.raises(ChunkingError, match="stands more than once"):
        align("aaaa", ["aaa", "aa", "aa"], "d")
