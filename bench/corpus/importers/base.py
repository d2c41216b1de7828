"""What every importer shares: reading files with places for messages, locating quotes, collecting questions."""

from __future__ import annotations

import csv
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from bench.errors import GoldenError

Row = dict[str, Any]
_KINDS = {str: "a string", list: "a list", dict: "an object", int: "a whole number"}
_CSV_FIELD_CHARS = 1 << 30


@dataclass(frozen=True)
class ImportResult:
    """A foreign golden set in our format.

    Attributes:
        documents: pairs of doc_id (relative POSIX path) and text.
        questions: rows of golden.jsonl.
        problems: one line each: where, what could not be located and why, whether the question was kept.
    """

    documents: list[tuple[str, str]]
    questions: list[Row]
    problems: list[str]


@dataclass(frozen=True, slots=True)
class Quote:
    """Evidence as the foreign set states it.

    Attributes:
        text: the quote; empty where the set gives only offsets.
        doc_id: its document; None where the set does not say.
        span: the offsets stated by the set, if any.
        exact: the offsets are the annotator's own choice. They then stand alone: "12" elsewhere in the document is
            no evidence. Offsets that were found by searching the text are not exact, and every occurrence counts.
        within: part of the document to search in.
    """

    text: str
    doc_id: str | None
    span: tuple[int, int] | None = None
    exact: bool = False
    within: tuple[int, int] | None = None


class Source:
    """Text of one document, searchable exactly and with white space normalised."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _words(self) -> tuple[str, list[int], list[int]]:
        """Words joined by single spaces, and the start of each word there and in the text."""
        found = [(m.start(), m.group()) for m in re.finditer(r"\S+", self.text)]
        starts, at = [], 0
        for _, word in found:
            starts.append(at)
            at += len(word) + 1
        return " ".join(word for _, word in found), starts, [start for start, _ in found]

    def find(self, quote: str) -> list[tuple[int, int]]:
        """Every place where ``quote`` stands exactly, not overlapping itself, in order."""
        return [(m.start(), m.end()) for m in re.finditer(re.escape(quote), self.text)]

    def find_loosely(self, quote: str) -> list[tuple[int, int]]:
        """Every place where ``quote`` stands when runs of white space count as one space, as offsets of the text."""
        joined, starts, origins = self._words

        def origin(position: int) -> int:
            word = bisect_right(starts, position) - 1
            return origins[word] + position - starts[word]

        wanted = re.escape(" ".join(quote.split()))
        return [(origin(m.start()), origin(m.end() - 1) + 1) for m in re.finditer(wanted, joined)]


@dataclass
class Collection:
    """Documents, and the questions located in them so far."""

    documents: dict[str, str]
    questions: dict[str, Row] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    _sources: dict[str, Source] = field(default_factory=dict)

    def add(self, where: str, row: Row, quotes: Sequence[Quote] = ()) -> None:
        """Add the question ``row`` with its evidence located, or report at ``where`` why it is kept out.

        Raises:
            GoldenError: the question has no text, or its id is taken.
        """
        question_id = row["question_id"]
        if not row["question"].strip():
            refuse(where, "the question is empty", "a question in words")
        if question_id in self.questions:
            refuse(where, f"question id {question_id!r} stands twice", "one id for each question")
        items, misses = [], []
        for quote in quotes:
            item = self._locate(where, quote, misses)
            if item is not None and item not in items:
                items.append(item)
        if row["answerable"] and not items:
            reasons = misses or ["no evidence given"]
            self.problems += [f"{where}: {reason}; question {question_id} kept out" for reason in reasons]
            return
        self.problems += [f"{where}: {miss}; question {question_id} kept with the part located" for miss in misses]
        self.questions[question_id] = {**row, "evidence": items}

    def result(self) -> ImportResult:
        """Everything collected.

        Raises:
            GoldenError: there is no document or no question.
        """
        if not self.questions:
            first = f"; first problem: {self.problems[0]}" if self.problems else ""
            raise GoldenError(f"nothing to import: no question could be kept{first}")
        return ImportResult(list(self.documents.items()), list(self.questions.values()), self.problems)

    def _locate(self, where: str, quote: Quote, misses: list[str]) -> Row | None:
        if quote.doc_id is not None and quote.doc_id not in self.documents:
            misses.append(f"document {quote.doc_id!r} is missing")
            return None
        if quote.doc_id is not None and quote.span is not None and self._stands(quote):
            given = (quote.doc_id, *quote.span)
            others = [] if quote.exact else [place for place in self._search(quote) if place != given]
            return self._evidence([given, *others])
        if not quote.text.strip():
            misses.append(f"offsets {quote.span} select no text of {quote.doc_id}" if quote.span else "an empty quote")
            return None
        places = self._search(quote)
        loosely = not places
        places = places or self._search(quote, loosely=True)
        if not places:
            misses.append(f"not found in {quote.doc_id or 'any document'}: {shorten(quote.text)}")
            return None
        if loosely or quote.span is not None:
            doc_id, start, end = places[0]
            reason = "white space differs" if loosely else f"offsets {list(quote.span or ())} hold other text"
            self.problems.append(f"{where}: moved to {doc_id} [{start}, {end}), {reason}: {shorten(quote.text)}")
        return self._evidence(places)

    def _stands(self, quote: Quote) -> bool:
        """True if the text at the stated offsets is the quote (or simply text, where there is no quote)."""
        start, end = quote.span or (0, 0)
        text = self.documents[str(quote.doc_id)]
        if not 0 <= start < end <= len(text):
            return False
        return text[start:end] == quote.text if quote.text else not text[start:end].isspace()

    def _search(self, quote: Quote, *, loosely: bool = False) -> list[tuple[str, int, int]]:
        doc_ids: Iterable[str] = self.documents if quote.doc_id is None else (quote.doc_id,)
        places = []
        for doc_id in doc_ids:
            source = self._sources.setdefault(doc_id, Source(self.documents[doc_id]))
            low, high = quote.within or (0, len(source.text))
            found = source.find_loosely(quote.text) if loosely else source.find(quote.text)
            places += [(doc_id, start, end) for start, end in found if low <= start and end <= high]
        return places

    def _evidence(self, places: Sequence[tuple[str, int, int]]) -> Row:
        spans = [
            {"doc_id": doc_id, "start": start, "end": end, "quote": self.documents[doc_id][start:end]}
            for doc_id, start, end in places
        ]
        return spans[0] if len(spans) == 1 else {"alternatives": spans}


def refuse(where: str, wrong: str, expected: str) -> NoReturn:
    """Raise the GoldenError of one place: where, what is wrong, what is expected."""
    raise GoldenError(f"{where}: {wrong}; expected {expected}")


def get(where: str, row: Row, key: str, kind: type) -> Any:
    """Return ``row[key]``, checked to be of ``kind``.

    Raises:
        GoldenError: the key is absent or its value is of another kind.
    """
    if key not in row:
        refuse(where, f"key {key!r} is missing (found: {', '.join(map(str, row)) or 'none'})", _KINDS[kind])
    value = row[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        refuse(where, f"{key!r} is {shorten(repr(value))}", _KINDS[kind])
    return value


def objects(where: str, row: Row, key: str) -> Iterator[tuple[str, Row]]:
    """Yield each object of the list ``row[key]`` with its place.

    Raises:
        GoldenError: it is not a list of objects.
    """
    for number, item in enumerate(get(where, row, key, list)):
        place = f"{where} {key}[{number}]"
        if not isinstance(item, dict):
            refuse(place, f"found {shorten(repr(item))}", "an object")
        yield place, item


def shorten(text: str, width_chars: int = 60) -> str:
    """Return ``text`` on one line, cut to ``width_chars`` characters."""
    line = " ".join(text.split())
    return repr(line if len(line) <= width_chars else line[: width_chars - 1] + "…")


def file_name(title: str, suffix: str, taken: Iterable[str]) -> str:
    """Return a file name for ``title``, safe on every system and not (but for case) one of ``taken``."""
    stem = re.sub(r"[^\w.-]+", "_", title).strip("._")[:80] or "untitled"
    used = {name.casefold() for name in taken}
    name, number = stem + suffix, 1
    while name.casefold() in used:
        number += 1
        name = f"{stem}_{number}{suffix}"
    return name


def read_text(path: Path, *, encoding: str = "utf-8") -> str:
    """Return the text of a file, newlines untouched.

    Raises:
        GoldenError: it cannot be read or is not UTF-8.
    """
    try:
        return path.read_bytes().decode(encoding)
    except OSError as error:
        refuse(str(path), f"cannot be read ({error.strerror})", "a readable file")
    except UnicodeDecodeError as error:
        refuse(str(path), f"byte {error.start} is not UTF-8", "UTF-8 text")


def read_folder(folder: Path) -> dict[str, str]:
    """Return doc_id and text of every file under ``folder``; hidden ones are left out.

    Raises:
        GoldenError: it is no folder, or a file is not UTF-8 text.
    """
    if not folder.is_dir():
        refuse(str(folder), "no such folder", "a folder of documents")
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [(path, path.relative_to(folder)) for path in paths]
    return {name.as_posix(): read_text(path) for path, name in names if not any(p.startswith(".") for p in name.parts)}


def read_json(path: Path) -> Any:
    """Return the value of a JSON file.

    Raises:
        GoldenError: it cannot be read or is not JSON.
    """
    try:
        return json.loads(read_text(path, encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        refuse(f"{path}:{error.lineno}", f"not JSON ({error.msg})", "one JSON value")


def read_json_lines(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield the place (file:line) and the object of each line that is not blank.

    Raises:
        GoldenError: a line is not a JSON object.
    """
    for number, line in enumerate(read_text(path, encoding="utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            refuse(where, f"not JSON ({error.msg})", "one JSON object a line")
        if not isinstance(row, dict):
            refuse(where, f"found {shorten(line)}", "one JSON object a line")
        yield where, row


def read_csv(path: Path, needed: Sequence[str] = (), delimiter: str = ",") -> Iterator[tuple[str, Row]]:
    """Yield the place (file:line of the row's start) and the cells by column name.

    Raises:
        GoldenError: a needed column is absent, or a row is longer or shorter than the header.
    """
    csv.field_size_limit(_CSV_FIELD_CHARS)
    lines = read_text(path, encoding="utf-8-sig").splitlines(keepends=True)
    reader = csv.reader(lines, delimiter=delimiter)
    header = next(reader, [])
    for name in needed:
        if name not in header:
            refuse(f"{path}:1", f"column {name!r} is missing (found: {', '.join(header)})", f"{', '.join(needed)}")
    start = reader.line_num + 1
    for cells in reader:
        where, start = f"{path}:{start}", reader.line_num + 1
        if cells and len(cells) != len(header):
            refuse(where, f"{len(cells)} cells", f"{len(header)}, as in the header")
        if cells:
            yield where, dict(zip(header, cells, strict=True))
