"""What holds for every strategy on any text. A new strategy joins ``STRATEGIES``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
import regex
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.chunkers.base import Chunker, Sized, Tools
from bench.chunkers.code import Code
from bench.chunkers.custom import Custom
from bench.chunkers.fixed import Fixed
from bench.chunkers.html import Html
from bench.chunkers.langchain import LangChain
from bench.chunkers.markdown import Markdown
from bench.chunkers.recursive import Recursive
from bench.chunkers.run import chunk_corpus
from bench.chunkers.sentence import Paragraph, Sentence
from bench.tokenize import get_tokenizer, overlapping
from bench.types import Document, Span

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
        return list(pairwise(borders))


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
    "fences": "# A\n````md\n```sh\n# not a heading\n```\n````\ntext\n~~~\n## nor this\n~~~~\n\nB\n===\n- x\n  ```\n"
    * 9,
    "front_matter": "\ufeff---\r\ntitle: x\r\n---\r\n\r\nPreamble.\n\nHead\n----\n\nBody.\n\n    code\n> quote\n# End",
    "html": (
        "<!DOCTYPE html><title>a<b</title><h1 class='a>b'>Head</h1><p>Text &amp; more.<h2>Two</h2><table>"
        + '<tr><td>cell</td><td title="1 > 0">é</td></tr>\n' * 30
        + "</table><script>if (a<b) { '<h1>' }</script><pre>\n# x\n</pre>tail"
    ),
    "broken_html": "<div><h1>open <table><tr><td>x<h2>y</h2><p <b>z</b> < 3 <!-- not closed <h3>q</h3> <a href='" * 9,
    "deep": "#" * 70 + " x\n" + "> " * 90 + "q\n" + "[" * 90 + "\n" + "<" * 90 + "\n" + "*" * 90,
    "code": "import a\n\nclass A:\n    def f(self):\n        return 1\n\n\ndef g(x):\n    if x:\n        return {}\n"
    * 9,
    "control": "a\x00b\x01\x1f\x7f c\ud7ff\ue000 \U0010ffff end. " * 6,
    "dots": ". . .. ... !!! ??? 。。。 ， " * 20,
}


@lru_cache(maxsize=4096)
def cluster_borders(text: str) -> frozenset[int]:
    return frozenset((0, len(text), *(match.end() for match in regex.finditer(r"\X", text))))


def check(name: str, text: str) -> None:
    """Check every promise of a strategy on one text."""
    chunker = STRATEGIES[name]
    result = chunk_corpus(chunker, [Document("d", text)], TOOLS)
    borders = cluster_borders(text)
    covered = np.zeros(len(text), dtype=bool)
    for chunk in result.chunks:
        assert chunk.span is not None
        start, end = chunk.span.start, chunk.span.end
        assert chunk.indexed_text == text[start:end]
        assert chunk.indexed_text.strip()
        assert start in borders, f"begins inside a cluster: {chunk.indexed_text[:20]!r}"
        assert end in borders, f"ends inside a cluster: {chunk.indexed_text[-20:]!r}"
        covered[start:end] = True
    left = [at for at in np.flatnonzero(~covered).tolist() if not text[at].isspace()]
    assert len(left) == result.uncovered_chars
    if name not in LOSSY:
        assert not left, f"lost {text[left[0] : left[0] + 30]!r} at {left[0]}"
    if isinstance(chunker, Sized):
        sizes = lengths(chunker, [chunk.span for chunk in result.chunks if chunk.span], text)
        over = [chunk.indexed_text for chunk, size in zip(result.chunks, sizes, strict=True) if size > chunker.size]
        assert len(over) == result.over_limit
        assert not [part for part in over if not excusable(chunker, part)]


def lengths(chunker: Sized, spans: Sequence[Span], text: str) -> Sequence[int]:
    if chunker.unit == "characters" or not spans:
        return [len(span) for span in spans]
    starts = get_tokenizer(chunker.tokenizer).starts(text)
    lows, highs = (np.array([getattr(span, side) for span in spans]) for side in ("start", "end"))
    return overlapping(starts, lows, highs).tolist()


def excusable(chunker: Sized, part: str) -> bool:
    """True if a chunk may be over its limit.

    A single cluster cannot be cut, nor can a tag; LangChain's way counts each piece on its own.
    """
    if isinstance(chunker, Html) and re.search(r"<[^<>]{6,}>", part):
        return True
    if isinstance(chunker, Recursive) and chunker.unit == "tokens":
        return int(get_tokenizer(chunker.tokenizer).count([part])[0]) <= chunker.size
    return len(regex.findall(r"\X", part)) == 1


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("name", STRATEGIES)
def test_hostile(name: str, text: str) -> None:
    check(name, text if name != "recursive_tiny" else text[:4000])


ODD = (
    f"{FAMILY}|\u0301|\u200d|👍🏽|🇫🇷|\r\n|\n\n|\n|\r| |\u3000|。|. |क्षि|น้ำ|\x00|\t|    |word |def f():\n"
    "|# h\n|```\n|~~~\n|---\n|===\n|- |> |<h1>|</h1>|<table>|</table>|<p a='|<!--|-->|<script>|</SCRIPT>|<|>"
).split("|")
LETTERS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
TEXTS = st.lists(st.one_of(st.sampled_from([*ODD, "| a |\n", "|---|\n"]), LETTERS), max_size=40).map("".join)


@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS)
def test_any_text(name: str, text: str) -> None:
    check(name, text)


@pytest.mark.parametrize("name", STRATEGIES)
def test_same_again(name: str) -> None:
    documents = [Document(str(i), text[:3000], meta={"language": "js"}) for i, text in enumerate(HOSTILE.values())]
    first = chunk_corpus(STRATEGIES[name], documents, TOOLS)
    second = chunk_corpus(STRATEGIES[name], reversed(documents), Tools(get_tokenizer))
    assert first == second
    places = [(chunk.span.doc_id, chunk.span.start, chunk.span.end) for chunk in first.chunks if chunk.span]
    assert places == sorted(places)
