"""Elements whole with their companions; split tables under their header; pages."""

from __future__ import annotations

import pytest

from bench.chunkers.base import Tools
from bench.chunkers.elements import Elements
from bench.chunkers.page import Page
from bench.chunkers.run import chunk_corpus
from bench.tokenize import get_tokenizer
from bench.types import Document

TOOLS = Tools(get_tokenizer)
HEADER = "| ticket | price |\n|---|---|\n"
ROWS = "".join(f"| ride {number} | {number}.00 |\n" for number in range(40))


def indexed(chunker: Elements | Page, text: str, kind: str = "md", **meta: object) -> list[str]:
    document = Document("d", text, kind, meta)  # type: ignore[arg-type]
    return [chunk.indexed_text for chunk in chunk_corpus(chunker, [document], TOOLS).chunks]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_part_of_a_split_table_has_its_header(newline: str) -> None:
    text = f"# Fares\n\nProse before.\n\n{HEADER}{ROWS}\nProse after.\n".replace("\n", newline)
    found = indexed(Elements(size=120, unit="characters"), text)
    parts = [part for part in found if "| ride" in part]
    assert len(parts) > 5
    assert all(part.splitlines()[:2] == HEADER.splitlines() for part in parts)
    assert [line for part in parts for line in part.splitlines()[2:]] == ROWS.splitlines()
    assert found[-1] == "Prose after."


def test_a_table_that_fits_is_whole_and_alone() -> None:
    table = HEADER + "| day | 9.00 |"
    found = indexed(Elements(size=200, unit="characters"), f"Some prose.\n\n{table}\n\nMore prose.\n")
    assert found == ["Some prose.", table, "More prose."]
    packed = Elements(size=200, unit="characters", isolate=False)
    assert indexed(packed, f"Some prose.\n\n{table}\n\nMore prose.\n") == [f"Some prose.\n\n{table}\n\nMore prose."]


def test_what_belongs_to_an_element_stays_with_it() -> None:
    parts = [
        "Plain prose.",
        "The fares are:\n\n" + HEADER + "| day | 9.00 |\n\nTable 1: all fares.",
        "Run this:\n\n```sh\nferry --go\n\nferry --back\n```",
        "![pier](pier.png)\n\n*Figure 2*: the old pier.",
        "It needs:\n\n- a boat\n- a crew",
    ]
    assert indexed(Elements(size=90, unit="characters"), "\n\n".join(parts)) == parts


def test_a_heading_is_not_parted_from_its_table() -> None:
    found = indexed(Elements(size=60, unit="characters"), f"Intro.\n\n## Fares\n\n{HEADER}{ROWS}")
    assert found[1].startswith(f"## Fares\n\n{HEADER}| ride 0")


def test_without_header_rows_the_text_is_as_it_stands() -> None:
    chunker = Elements(size=120, unit="characters", repeat_header=False)
    assert "".join(indexed(chunker, HEADER + ROWS)).replace("\n", "") == (HEADER + ROWS).replace("\n", "")


def test_tables_of_html() -> None:
    rows = "".join(f"<tr><td>ride {number}</td><td>{number}.00</td></tr>" for number in range(9))
    text = f"<p>Prose.</p><table><tr><th>ticket</th><th>price</th></tr>{rows}</table><p>Tail.</p>"
    found = indexed(Elements(size=120, unit="characters"), text, "html")
    assert found[0] == "<p>Prose.</p>"
    assert found[-1] == "<p>Tail.</p>"
    assert all(part.startswith("<table><tr><th>ticket</th><th>price</th></tr>") for part in found[1:-1])
    bare = text.replace("th>", "td>")
    assert sum(part.startswith("<table>") for part in indexed(Elements(size=120, unit="characters"), bare, "html")) == 1


def test_a_table_of_ten_thousand_rows() -> None:
    found = indexed(Elements(size=400, unit="characters"), HEADER + ROWS * 250)
    assert all(part.startswith("| ticket | price |") for part in found)
    assert sum(part.count("| ride") for part in found) == 10_000


def test_pages_of_a_pdf() -> None:
    text = "Page one.\fPage two, whose text goes on.\f\fLast page."
    wanted = ["Page one.", "Page two, whose text goes on.", "Last page."]
    assert indexed(Page(), text) == wanted
    assert indexed(Page(), text, "pdf", pages=[0, 10, 40, 41]) == wanted
    assert indexed(Page(), text.replace("\f", " "), "pdf", pages=[0, 10, 40]) == wanted
    assert indexed(Page(size=12, unit="characters"), text)[:3] == ["Page one.", "Page two,", "whose text"]


def test_a_document_without_pages_is_one_page_up_to_the_size() -> None:
    assert indexed(Page(), "One text.\n\nTwo paragraphs.") == ["One text.\n\nTwo paragraphs."]
    assert max(map(len, indexed(Page(size=50, unit="characters"), "word " * 1000))) <= 50
