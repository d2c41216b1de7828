"""Sentences, paragraphs, Markdown, HTML and code: cuts where the text has them."""

from __future__ import annotations

import pytest

from bench.chunkers.base import Chunker, Tools
from bench.chunkers.code import Code, languages
from bench.chunkers.html import Html
from bench.chunkers.markdown import Markdown
from bench.chunkers.sentence import Paragraph, Sentence, sentence_starts
from bench.errors import ConfigError
from bench.tokenize import get_tokenizer
from bench.types import Document

TOOLS = Tools(get_tokenizer)


def texts(chunker: Chunker, text: str, language: str = "") -> list[str]:
    meta = {"language": language} if language else {}
    return [chunk.indexed_text for chunk in chunker.cut(Document("d", text, meta=meta), TOOLS) if chunk.indexed_text]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Dr. No paid 3.14 to J. R. Brown. He left!", ["Dr. No paid 3.14 to J. R. Brown.", "He left!"]),
        ("春が来た。夏が来た！秋は？", ["春が来た。", "夏が来た！", "秋は？"]),
        ("यह एक वाक्य है। दूसरा वाक्य है॥ तीसरा?", ["यह एक वाक्य है।", "दूसरा वाक्य है॥", "तीसरा?"]),
        ("هل أنت بخير؟ نعم، أنا بخير.", ["هل أنت بخير؟", "نعم، أنا بخير."]),
        ("One here.\r\n\r\nTwo there.", ["One here.", "Two there."]),
    ],
)
def test_sentences_of_many_scripts(text: str, parts: list[str]) -> None:
    assert texts(Sentence(size=max(map(len, parts)), unit="characters"), text) == parts


def test_sentences_are_packed_and_overlap_by_whole_ones() -> None:
    text = "Cats sit. Dogs run. Cows moo. Pigs dig. Hens lay."
    chunker = Sentence(size=29, overlap=0.34, unit="characters")
    assert texts(chunker, text) == ["Cats sit. Dogs run. Cows moo.", "Cows moo. Pigs dig. Hens lay."]


def test_windows_of_the_segmenter_do_not_show() -> None:
    sentence = "Mr. Fox of St. Ives ran on. "
    assert sentence_starts(sentence * 400, "en").tolist() == [i * len(sentence) for i in range(1, 400)]
    assert sentence_starts("漢字" * 2000 + "。" + "かな。" * 900, "en").tolist() == [4001 + 3 * i for i in range(900)]


def test_paragraphs_have_a_hard_maximum() -> None:
    text = "Short one.\n\nShort two.\n \t\nLong: " + "word " * 400 + "\n\nLast."
    parts = texts(Paragraph(size=100, unit="characters"), text)
    assert max(map(len, parts)) <= 100
    assert parts[0] == "Short one.\n\nShort two."
    assert parts[-1] == "Last."
    assert texts(Paragraph(size=100, unit="characters", pack=False), text)[:2] == ["Short one.", "Short two."]


SECTIONS = """---
title: not a heading
---
Intro.

# One

Body of one.

## Two

| a | b |
|---|---|
| 1 | 2 |
| 3 | 4 |

```sh
# no heading

echo
```

Under
-----

Text.
"""


def test_markdown_sections_keep_heading_and_body() -> None:
    parts = texts(Markdown(size=500, unit="characters"), SECTIONS)
    assert [part.split("\n")[0] for part in parts] == ["---", "# One", "## Two", "Under"]
    assert parts[0].endswith("Intro.")
    assert parts[2].endswith("echo\n```")


def test_markdown_keeps_tables_and_fences_whole_up_to_the_limit() -> None:
    parts = texts(Markdown(size=50, unit="characters"), SECTIONS)
    assert "## Two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |" in parts
    assert "```sh\n# no heading\n\necho\n```" in parts
    assert max(map(len, parts)) <= 50


def test_markdown_rows_of_a_large_table_stay_whole() -> None:
    rows = [f"| {i} | name {i} |" for i in range(100)]
    parts = texts(Markdown(size=60, unit="characters"), "# T\n\n| id | name |\n|---|---|\n" + "\n".join(rows))
    assert [line for part in parts for line in part.split("\n")][-100:] == rows
    assert parts[0].startswith("# T\n\n| id | name |")


def test_markdown_depth_merge_and_empty_sections() -> None:
    text = "# A\n\n## B\n\nb b\n\n### C\n\nc c\n"
    assert texts(Markdown(size=90, unit="characters"), text) == ["# A\n\n## B\n\nb b", "### C\n\nc c"]
    assert texts(Markdown(size=90, unit="characters", depth=2), text) == [text.strip()]
    assert texts(Markdown(size=90, unit="characters", merge=True), text) == [text.strip()]


def test_a_heading_longer_than_half_a_chunk_is_cut_like_text() -> None:
    parts = texts(Markdown(size=20, unit="characters"), "# " + "word " * 30 + "\n\nbody")
    assert max(map(len, parts)) <= 20


PAGE = (
    "<html><head><title>x</title><script>var a = '<h1>no</h1>';</script></head><body><h1>One</h1>\n"
    "<p>Text <a title='1 > 0' href='y'>link</a>.</p><h2 id=two>Two</h2><!-- <h3>no</h3> -->"
    "<table><tr><td>1</td></tr><tr><td>2</td></tr></table><p>After.</p></body></html>"
)


def test_html_sections_and_whole_tables() -> None:
    parts = texts(Html(size=400, unit="characters"), PAGE)
    assert [part[:4] for part in parts] == ["<htm", "<h1>", "<h2 "]
    smaller = texts(Html(size=105, unit="characters"), PAGE)
    assert any("<table>" in part and "</table>" in part for part in smaller)
    assert not [part for part in smaller if part.startswith("<h2") and "<table>" not in part]


@pytest.mark.parametrize("size", range(10, 60, 7))
def test_html_is_never_cut_inside_a_tag(size: int) -> None:
    document = Document("d", PAGE.split("<body>")[1].replace("<!-- <h3>no</h3> -->", ""))
    for chunk in Html(size=size, unit="characters").cut(document, TOOLS):
        text = chunk.indexed_text.replace("1 > 0", "")
        assert text.count("<") == text.count(">")


def test_code_is_cut_at_definitions_and_keeps_indentation() -> None:
    text = "import os\r\n\r\nclass A:\r\n    def f(self):\r\n        return 1\r\n\r\ndef g():\r\n    return 2\r\n"
    parts = texts(Code(size=55, unit="characters"), text, language="Python")
    assert parts == ["import os", "class A:\r\n    def f(self):\r\n        return 1", "def g():\r\n    return 2"]
    assert "        return 1" in texts(Code(size=20, unit="characters", language="python"), text)


def test_code_names_its_languages() -> None:
    assert {"python", "js", "go", "rust"} <= set(languages())
    with pytest.raises(ConfigError, match=r"chunker\.language: got 'pyhton'.*did you mean 'python'"):
        Code(language="pyhton")
    text = "function a() {}\nfunction b() {}\n"
    assert texts(Code(size=20, unit="characters"), text, language="javascript") == [
        "function a() {}",
        "function b() {}",
    ]
    assert texts(Code(size=20, unit="characters"), text, language="klingon") == ["function a() {}", "function b() {}"]


@pytest.mark.parametrize("depth", [0, 7, True])
def test_wrong_depth_is_refused(depth: int) -> None:
    with pytest.raises(ConfigError, match=r"chunker\.depth: got"):
        Markdown(depth=depth)
