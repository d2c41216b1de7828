"""Headers of the indexed text: titles, heading paths, what is not repeated."""

from __future__ import annotations

import pytest

from bench.chunkers.base import Tools
from bench.chunkers.contextual import Contextual
from bench.chunkers.outline import outline
from bench.chunkers.run import chunk_corpus
from bench.tokenize import get_tokenizer
from bench.types import Document

TOOLS = Tools(get_tokenizer)
MARKDOWN = """# Harbour

Intro.

## Fees

Boats pay. Boats pay daily. Boats pay at noon.

### Small *boats* ###

Small boats pay less.

Rules
-----

No swimming.
"""
HTML = "<h1>Harbour</h1><p>Intro.</p><h2>Fees &amp; <b>tolls</b></h2><p>Boats pay.</p><p>Boats pay at noon.</p>"


def headers(chunker: Contextual, document: Document) -> list[tuple[str, str]]:
    """Pairs of header and first word of the source."""
    found = []
    for chunk in chunk_corpus(chunker, [document], TOOLS).chunks:
        assert chunk.span is not None
        assert chunk.delivered == chunk.span
        source = document.text[chunk.span.start : chunk.span.end]
        assert chunk.indexed_text.endswith(source)
        found.append((chunk.indexed_text[: -len(source)].removesuffix("\n\n"), source.split("\n")[0][:12]))
    return found


def test_the_path_of_every_chunk() -> None:
    document = Document("d", MARKDOWN, "md", {"title": "Port guide"})
    assert headers(Contextual(size=30, unit="characters"), document) == [
        ("Port guide", "# Harbour"),
        ("Port guide > Harbour", "## Fees"),
        ("Port guide > Harbour > Fees", "Boats pay da"),
        ("Port guide > Harbour > Fees", "Boats pay at"),
        ("Port guide > Harbour > Fees", "### Small *b"),
        ("Port guide > Harbour > Fees > Small *boats*", "Small boats "),
        ("Port guide > Harbour", "Rules"),
    ]


def test_nearest_headings_only_and_no_title() -> None:
    document = Document("d", MARKDOWN, "md", {"title": "Port guide"})
    found = headers(Contextual(size=30, unit="characters", levels=1, title=False, separator=" / "), document)
    assert found[0][0] == ""
    assert found[3] == ("Fees", "Boats pay at")
    assert headers(Contextual(size=30, unit="characters", levels=1), document)[3][0] == "Port guide > Fees"
    assert headers(Contextual(size=30, unit="characters", levels=0), document)[3][0] == "Port guide"


def test_a_title_that_is_the_first_heading_stands_once() -> None:
    document = Document("d", MARKDOWN, "md", {"title": "Harbour"})
    assert headers(Contextual(size=30, unit="characters"), document)[2][0] == "Harbour > Fees"
    assert outline(document).path(0) == ("Harbour",)


def test_headings_of_html_without_tags() -> None:
    document = Document("d", HTML, "html")
    found = headers(Contextual(size=40, unit="characters"), document)
    assert ("Harbour > Fees & tolls", "<p>Boats pay") in found


@pytest.mark.parametrize("kind", ["txt", "pdf", "code"])
def test_other_formats_have_a_title_at_most(kind: str) -> None:
    chunker = Contextual(size=30, unit="characters", base="recursive")
    assert {header for header, _ in headers(chunker, Document("d", MARKDOWN, kind))} == {""}  # type: ignore[arg-type]
    titled = Document("d", MARKDOWN, kind, {"title": " Port\n guide "})  # type: ignore[arg-type]
    assert {header for header, _ in headers(chunker, titled)} == {"Port guide"}


def test_the_base_decides_the_spans() -> None:
    document = Document("d", MARKDOWN, "md", {"title": "Port guide"})
    for base in ("recursive", "tokens", "sentence", "paragraph", "markdown"):
        chunker = Contextual(size=12, base=base)
        plain = Contextual(size=12, base=base, levels=0, title=False)
        cut = [chunk.span for chunk in chunk_corpus(chunker, [document], TOOLS).chunks]
        assert cut == [chunk.span for chunk in chunk_corpus(plain, [document], TOOLS).chunks]
        assert headers(plain, document)[-1][0] == ""


def test_the_header_is_handed_over_where_it_is_wanted() -> None:
    document = Document("d", MARKDOWN, "md", {"title": "Port guide"})
    given = chunk_corpus(Contextual(size=30, unit="characters", hand_over=True), [document], TOOLS)
    plain = chunk_corpus(Contextual(size=30, unit="characters"), [document], TOOLS)
    assert [chunk.header for chunk in given.chunks][2] == "Port guide > Harbour > Fees"
    assert {chunk.header for chunk in plain.chunks} == {""}
    assert [(c.span, c.indexed_text) for c in given.chunks] == [(c.span, c.indexed_text) for c in plain.chunks]
    assert given.fingerprint != plain.fingerprint
