"""A corpus through a strategy: verification, order, counts, and the parameters that are refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from bench.chunkers.base import Chunker, Tools
from bench.chunkers.code import Code
from bench.chunkers.fixed import Fixed
from bench.chunkers.html import Html
from bench.chunkers.langchain import LangChain
from bench.chunkers.markdown import Markdown
from bench.chunkers.recursive import Recursive
from bench.chunkers.run import chunk_corpus
from bench.chunkers.sentence import Paragraph, Sentence
from bench.config import locate
from bench.errors import ChunkingError, ConfigError
from bench.tokenize import get_tokenizer
from bench.types import Chunk, Document, Span

TOOLS = Tools(get_tokenizer)
CONF = Path(__file__).parents[1] / "conf" / "chunker"
NAMES = (
    "characters code custom html langchain markdown paragraph recursive recursive_chroma recursive_langchain sentence "
    "tokens tokens_chroma"
)


def lines(text: str) -> list[str]:
    """A user's own function."""
    return text.splitlines()


def test_fingerprint_tells_cuts_apart() -> None:
    document = [Document("d", "one two three. four five six.")]
    same = [chunk_corpus(Recursive(size=size), document, TOOLS).fingerprint for size in (100, 200)]
    other = chunk_corpus(Recursive(size=5), document, TOOLS).fingerprint
    elsewhere = chunk_corpus(Recursive(size=100), [Document("e", document[0].text)], TOOLS).fingerprint
    assert same[0] == same[1]
    assert len({same[0], other, elsewhere}) == 3


@dataclasses.dataclass(frozen=True)
class Wrong:
    chunk: Chunk
    rewrites: bool = False

    def cut(self, document: Document, tools: Tools) -> list[Chunk]:
        return [self.chunk, Chunk(Span("d", 0, 1), " ", Span("d", 0, 1))]


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        (Chunk(Span("d", 1, 3), "ab", Span("d", 1, 3)), "has the text 'ab', the document has 'bc'"),
        (Chunk(Span("d", 1, 9), "bcde", Span("d", 1, 9)), r"span \[1, 9\) of 'd' is not inside 'd', which has 5"),
        (Chunk(Span("e", 0, 1), "a", Span("e", 0, 1)), "of 'e' is not inside 'd'"),
        (Chunk(Span("d", 0, 1), "a", Span("d", 0, 6)), r"span \[0, 6\)"),
        (Chunk(None, "a", Span("d", 0, 1)), "without a span"),
    ],
)
def test_wrong_chunks_are_refused(chunk: Chunk, message: str) -> None:
    with pytest.raises(ChunkingError, match=message):
        chunk_corpus(Wrong(chunk), [Document("d", "abcde")], TOOLS)


def test_declared_rewriting_and_losses_are_counted() -> None:
    header = Chunk(Span("d", 1, 3), "Title: bc", Span("d", 0, 5))
    result = chunk_corpus(Wrong(header, rewrites=True), [Document("d", "abc e")], TOOLS)
    assert result.chunks == (header,)
    assert (result.empties_dropped, result.uncovered_chars) == (1, 2)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"size": 5, "overlap": 5}, "overlap 5 with size 5"),
        ({"size": 5, "overlap": 9.0}, "overlap 9 with size 5"),
        ({"size": 0}, "chunker.size: got 0"),
        ({"size": -3}, "chunker.size: got -3"),
        ({"size": True}, "chunker.size: got True"),
        ({"size": 12.5}, r"chunker.size: got 12\.5"),
        ({"overlap": -1}, "chunker.overlap: got -1"),
        ({"overlap": 1.5}, r"chunker.overlap: got 1\.5"),
        ({"overlap": float("nan")}, "chunker.overlap: got nan"),
        ({"unit": "token"}, "did you mean 'tokens'"),
    ],
)
@pytest.mark.parametrize("kind", [Fixed, Sentence, Paragraph, Recursive, Markdown, Html, Code, LangChain])
def test_wrong_sizes_are_refused(kind: Callable[..., Chunker], values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        kind(**values)


@pytest.mark.parametrize(
    ("size", "overlap", "units"),
    [(128, 0.15, 19), (100, 0.29, 29), (10, 0.999, 9), (10, 3.0, 3), (1, 0.5, 0), (9, 8, 8)],
)
def test_overlap_is_a_number_or_a_share(size: int, overlap: float, units: int) -> None:
    assert Fixed(size=size, overlap=overlap).overlap_units == units


@pytest.mark.parametrize("stem", NAMES.split())
def test_every_yaml_makes_its_chunker(stem: str) -> None:
    node = OmegaConf.merge({"tokenizer": "minilm"}, {"chunker": OmegaConf.load(CONF / f"{stem}.yaml")}).chunker
    values: Any = OmegaConf.to_container(node, resolve=True)
    kind, name = locate(values.pop("_target_"), "chunker"), values.pop("name")
    assert name == stem
    assert set(values) == {field.name for field in dataclasses.fields(kind)}
    if values.get("target") == "???":
        values["target"] = "tests.test_chunkers_run.lines"
    text = "# Head\n\nOne sentence. Another one.\n"
    result = chunk_corpus(kind(**values), [Document("d", text)], TOOLS)
    assert "Another one." in result.chunks[-1].indexed_text
    assert result.uncovered_chars == 0
