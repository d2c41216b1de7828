"""The parts of a document that a chunker should keep whole: tables, headings, code fences, lists, sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from bench.types import Document

Range = tuple[int, int]
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_ATX = re.compile(r"^ {0,3}#{1,6}[ \t]+\S[^\n]*$", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$")
_ITEM = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\S")
_TAGS = {
    "tables": re.compile(r"<table\b.*?</table\s*>", re.IGNORECASE | re.DOTALL),
    "headings": re.compile(r"<h([1-6])\b.*?</h\1\s*>", re.IGNORECASE | re.DOTALL),
    "fences": re.compile(r"<pre\b.*?</pre\s*>", re.IGNORECASE | re.DOTALL),
    "lists": re.compile(r"<(ul|ol)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL),
}
_ROW = re.compile(r"<tr\b.*?</tr\s*>", re.IGNORECASE | re.DOTALL)
_SENTENCE_END = re.compile(r"(?:[.!?…。！？।]+[\"'”’)\]]*(?=\s|$)|[。！？।]+[」』）]*)")
_BREAK = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+#>|]|\d{1,3}[.)]))")


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its range, its header row, its body rows."""

    whole: Range
    header: Range
    rows: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """Ranges of one document. A heading runs to the first character of its body."""

    tables: tuple[Table, ...] = ()
    headings: tuple[Range, ...] = ()
    fences: tuple[Range, ...] = ()
    lists: tuple[Range, ...] = ()
    sentence_ends: frozenset[int] = field(default=frozenset())


@lru_cache(maxsize=4096)
def _parts(text: str, kind: str) -> Parts:
    if kind == "html":
        return _of_html(text)
    if kind == "code":
        return Parts()
    return _of_markdown(text) if kind == "md" else Parts(sentence_ends=_ends(text))


def parts_of(document: Document) -> Parts:
    """Find the parts of a document; none in code, sentences alone in plain text."""
    return _parts(document.text, document.format)


def _ends(text: str) -> frozenset[int]:
    """Offsets at which a sentence, a paragraph or a line of a list or table is over."""
    ends = {match.end() for match in _SENTENCE_END.finditer(text)}
    return frozenset(ends | {match.start() for match in _BREAK.finditer(text)} | {len(text.rstrip())})


def _of_html(text: str) -> Parts:
    found = {name: [match.span() for match in pattern.finditer(text)] for name, pattern in _TAGS.items()}
    tables = [table for start, end in found["tables"] if (table := _html_table(text, start, end))]
    ends = _ends(text) | {match.start() for match in re.finditer("<", text)} | {m.end() for m in re.finditer(">", text)}
    return Parts(
        tuple(tables), tuple(_with_body(text, found["headings"])), tuple(found["fences"]), tuple(found["lists"]), ends
    )


def _html_table(text: str, start: int, end: int) -> Table | None:
    rows = [match.span() for match in _ROW.finditer(text, start, end)]
    return Table((start, end), rows[0], tuple(rows[1:])) if len(rows) > 1 else None


def _of_markdown(text: str) -> Parts:
    fences = [match.span() for match in _FENCE.finditer(text)]
    headings = [match.span() for match in _ATX.finditer(text) if not _within(match.start(), fences)]
    lines = [line for line in _lines(text) if not _within(line[0], fences)]
    tables = tuple(_tables(text, lines))
    lists = tuple(_lists(text, lines))
    rows = {edge for table in tables for row in (table.header, *table.rows) for edge in row}
    edges = {edge for start, end in [*fences, *headings] for edge in (start, end)}
    return Parts(tables, tuple(_with_body(text, headings)), tuple(fences), lists, _ends(text) | rows | edges)


def _within(offset: int, ranges: list[Range]) -> bool:
    return any(start <= offset < end for start, end in ranges)


def _lines(text: str) -> Iterator[Range]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _tables(text: str, lines: list[Range]) -> Iterator[Table]:
    number = 1
    while number < len(lines):
        above, rule = lines[number - 1], lines[number]
        is_table = "|" in text[slice(*above)] and _RULE.match(text[slice(*rule)]) and rule[0] == above[1] + 1
        number += 1
        if not is_table:
            continue
        rows = []
        while (
            number < len(lines) and "|" in text[slice(*lines[number])] and lines[number][0] == lines[number - 1][1] + 1
        ):
            rows.append(lines[number])
            number += 1
        if rows:
            yield Table((above[0], rows[-1][1]), (above[0], above[1]), tuple(rows))


def _lists(text: str, lines: list[Range]) -> Iterator[Range]:
    """Runs of two list items or more, with their indented lines; a blank line between items does not end a run."""
    start = end = items = 0
    for low, high in lines:
        line = text[low:high]
        if _ITEM.match(line):
            start = start if items else low
            items, end = items + 1, high
        elif items and line[:1] in (" ", "\t") and line.strip():
            end = high
        elif items and line.strip():
            if items > 1:
                yield start, end
            items = 0
    if items > 1:
        yield start, end


def _with_body(text: str, headings: list[Range]) -> Iterator[Range]:
    """From the heading to the end of the first word under it; a heading right under another reaches over it."""
    ends = dict(headings)
    for start, end in headings:
        at = _skip(text, end)
        while at in ends:
            at = _skip(text, ends[at])
        if at < len(text):
            yield start, at + 1


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
