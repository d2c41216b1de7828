"""What holds for every strategy on any text. A new strategy joins ``STRATEGIES``."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
import regex

from bench.chunkers.base import Chunker, Sized, Tools
from bench.chunkers.clusters import clusters
from bench.chunkers.code import Code
from bench.chunkers.custom import Custom
from bench.chunkers.fixed import Fixed
from bench.chunkers.html import Html
from bench.chunkers.langchain import LangChain
from bench.chunkers.markdown import Markdown
from bench.chunkers.recursive import Recursive
from bench.chunkers.run import Chunking, chunk_corpus
from bench.chunkers.sentence import Paragraph, Sentence
from bench.tokenize import get_tokenizer, overlapping
from bench.types import Chunk, Document

TOOLS = Tools(get_tokenizer)
CHARACTERS = {"unit": "characters", "size": 60, "overlap": 15}
TOKENS = {"unit": "tokens", "tokenizer": "cl100k", "size": 24, "overlap": 0.25}
LANGCHAIN_SEPARATORS = ["\n\n", "\n", " ", ""]


class Lines:
    """A user's own chunker: every line a chunk, as strings."""

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of the lines."""
        borders = [0]
        for line in text.splitlines(keepends=True):
            borders.append(borders[-1] + len(line))
        return list(zip(borders, borders[1:], strict=False))


STRATEGIES: dict[str, Chunker] = {
    "characters": Fixed(**CHARACTERS),
    "tokens": Fixed(**TOKENS),
    "tokens_stripped": Fixed(size=9, tokenizer="minilm", strip=True),
    "sentence": Sentence(**TOKENS),
    "sentence_characters": Sentence(**CHARACTERS),
    "paragraph": Paragraph(**TOKENS),
    "paragraph_apart": Paragraph(**CHARACTERS, pack=False),
    "recursive": Recursive(**TOKENS),
    "recursive_characters": Recursive(**CHARACTERS),
    "recursive_langchain": Recursive(**CHARACTERS, separators=LANGCHAIN_SEPARATORS, keep="start"),
    "recursive_unstripped": Recursive(**CHARACTERS, strip=False, separators=["\n", ". ", ""]),
    "recursive_tiny": Recursive(size=1, unit="characters"),
    "markdown": Markdown(**TOKENS),
    "markdown_merged": Markdown(**CHARACTERS, merge=True, depth=2),
    "html": Html(**TOKENS),
    "html_merged": Html(**CHARACTERS, merge=True),
    "code": Code(**TOKENS, language="python"),
    "code_by_document": Code(**CHARACTERS),
    "langchain": LangChain(**CHARACTERS),
    "custom": Custom(target="tests.test_chunkers.Lines"),
}
LOSSY: set[str] = set()
"""Strategies that leave text out and say so."""

FAMILY = "👩‍👩‍👧‍👦"
HOSTILE = {
    "empty": "",
    "white": " \n\t\r\n\u00a0\u3000\x0c \u2028",
    "crlf": "First line.\r\nSecond line, longer.\r\n\r\n# Head\r\n\r\nThird part: a, b; c.\r\n\tindented\r\n" * 12,
    "old_mac": "one line\rtwo lines\r\rthree. Four! Five?\r" * 9,
    "blanks": "a\u00a0b\u2003c\x0cpage two\x0b\x1c\u0085next\u2029par\tab\u200bzero\ufeff" * 9,
    "emoji": f"Hi {FAMILY}{FAMILY} 🇫🇷🇩🇪🇯🇵 👍🏽 ok 🏳️‍🌈. " * 14,
    "marks": "e\u0301\u0323 a\u0300 \u0301x \n\u0302y. Zalgo: " + "h\u0335\u0321\u0322" * 40 + "\r\n\u0301",
    "rtl": "مرحبا بالعالم، كيف حالك؟ أنا بخير. שלום עולם! מה שלומך? \u202eabc\u202c " * 9,
    "thai": "สวัสดีครับผมชื่อจอห์นยินดีที่ได้รู้จักน้ำใจกำลัง " * 9,
    "hindi": "नमस्ते दुनिया। यह एक परीक्षण है॥ क्षत्रिय श्री किताबें? हाँ! " * 9,
    "korean": "안녕하세요 세계. 각 \u1112\u1161\u11ab\u1100\u1173\u11af! " * 9,
    "japanese": "吾輩は猫である。名前はまだ無い。「どこで生れたか」とんと見当がつかぬ！がぎぐ" * 9,
    "long_word": "x" * 3000,
    "long_line": "Dr. No paid 3.14 to A. B. Cee, e.g. in cash; then he left. " * 5000,
    "table": "# T\n\n| id | name | note |\n|---|---|---|\n" + "| 1 | Ada Lovelace | same row again |\n" * 2000,
    "fences": "# A\n````md\n```sh\n# not a heading\n```\n````\ntext\n~~~\n## nor this\n~~~~\n\nB\n===\n- x\n  ```\n  y\n"
    * 9,
    "front_matter": "\ufeff---\r\ntitle: x\r\n---\r\n\r\nPreamble.\n\nHead\n----\n\nBody.\n\n    code\n\n> quote\n# End",
    "html": "<!DOCTYPE html><title>a<b</title><h1 class='a>b'>Head</h1><p>Text &amp; more.<h2>Two</h2>"
    + "<table>"
    + '<tr><td>cell</td><td title="1 > 0">é</td></tr>\n' * 30
    + "</table><script>if (a<b) { '<h1>' }</script><pre>\n# x\n</pre>tail",
    "broken_html": "<div><h1>open <table><tr><td>x<h2>y</h2><p <b>z</b> < 3 > 2 <!-- never closed <h3>q</h3> <a href='"
    * 9,
    "deep": "#" * 70 + " x\n" + "> " * 90 + "q\n" + "[" * 90 + "\n" + "<" * 90 + "\n" + "*" * 90,
    "code": "import a\n\nclass A:\n    def f(self):\n        return 1\n\n\ndef g(x):\n    if x:\n        return {'a': 1}\n"
    * 12,
    "control": "a\x00b\x01\x1f\x7f c\ud7ff\ue000 \U0010ffff end. " * 6,
    "dots": ". . .. ... !!! ??? 。。。 ， " * 20,
}


@lru_cache(maxsize=512)
def chunked(name: str, text: str) -> Chunking:
    return chunk_corpus(STRATEGIES[name], [Document("d", text)], TOOLS)


def check(name: str, text: str) -> None:
    """Check every promise of a strategy on one text."""
    chunker, result = STRATEGIES[name], chunked(name, text)
    known = clusters(text)
    starts = {0, len(text)} | {match.end() for match in regex.finditer(r"\X", text)}
    for chunk in result.chunks:
        assert chunk.span is not None
        assert chunk.indexed_text == text[chunk.span.start : chunk.span.end]
        assert chunk.indexed_text.strip()
        assert {chunk.span.start, chunk.span.end} <= starts, f"cut inside a cluster: {chunk.indexed_text[:20]!r}"
    assert len(known.starts) == sum(len(match.group()) > 1 for match in regex.finditer(r"\X", text))
    covered = {at for chunk in result.chunks if chunk.span for at in range(chunk.span.start, chunk.span.end)}
    left = [at for at, character in enumerate(text) if not character.isspace() and at not in covered]
    assert len(left) == result.uncovered_chars
    if name not in LOSSY:
        assert not left, f"lost {text[left[0] : left[0] + 30]!r} at {left[0]}"
    if isinstance(chunker, Sized):
        over = [chunk for chunk in result.chunks if length(chunker, chunk, text) > chunker.size]
        assert len(over) == result.over_limit
        for chunk in over:
            assert excusable(chunker, chunk.indexed_text), f"over the limit: {chunk.indexed_text[:80]!r}"


def length(chunker: Sized, chunk: Chunk, text: str) -> int:
    assert chunk.span is not None
    if chunker.unit == "characters":
        return len(chunk.span)
    starts = get_tokenizer(chunker.tokenizer).starts(text)
    return int(overlapping(starts, np.array([chunk.span.start]), np.array([chunk.span.end]))[0])


def excusable(chunker: Sized, part: str) -> bool:
    """True if a chunk may be over its limit: one cluster, an HTML tag, or tokens that LangChain's way miscounts."""
    if isinstance(chunker, Html) and regex.search(r"<[^<>]{6,}>", part):
        return True
    if isinstance(chunker, Recursive) and chunker.unit == "tokens":
        return True
    return len(regex.findall(r"\X", part)) == 1 or (isinstance(chunker, Html | Markdown) and part.lstrip()[:1] in "#<")


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("name", STRATEGIES)
def test_hostile(name: str, text: str) -> None:
    check(name, text if name != "recursive_tiny" else text[:4000])
