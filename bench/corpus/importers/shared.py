"""Sets laid out as golden.jsonl beside corpus/, with spans as doc, start, end, text."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from bench.corpus.importers.base import Collection, ImportResult, Quote
from bench.corpus.importers.files import Row, get, objects, read_folder, read_json_lines, refuse

_TAGS = ("corpus", "paragraph", "source", "level")


def read(source: Path) -> ImportResult:
    """Read a folder of ``golden.jsonl`` and ``corpus/``.

    A row's ``paragraph`` says that annotators chose the place of the answer: its span then stands alone. Other spans
    were found by searching the text, so every occurrence is an alternative. Rows without evidence and answer are the
    unanswerable ones.

    Raises:
        GoldenError: a file is missing or a row malformed.
    """
    found = Collection(read_folder(source / "corpus"))
    for where, row in read_json_lines(source / "golden.jsonl"):
        evidence = objects(where, row, "evidence")
        quotes = [_quote(place, item, exact="paragraph" in row) for place, item in evidence]
        found.add(where, _question(where, row, quotes), quotes)
    return found.result()


def _quote(where: str, item: Row, *, exact: bool) -> Quote:
    span = (get(where, item, "start", int), get(where, item, "end", int))
    doc_id = unicodedata.normalize("NFC", get(where, item, "doc", str))
    return Quote(get(where, item, "text", str), doc_id, span, exact)


def _question(where: str, row: Row, quotes: list[Quote]) -> Row:
    answer = row.get("answer")
    if not (answer is None or isinstance(answer, str)):
        refuse(where, f"'answer' is {answer!r}", "a string or null")
    category = get(where, row, "category", str)
    result: Row = {
        "question_id": get(where, row, "id", str),
        "question": get(where, row, "question", str),
        "answer": answer,
        "category": category,
        "answerable": bool(quotes) or answer is not None,
    }
    if row.get("answers"):
        result["answers"] = get(where, row, "answers", list)
        if not all(isinstance(text, str) for text in result["answers"]):
            refuse(where, f"'answers' is {row['answers']!r}", "a list of strings")
    sources = list(dict.fromkeys(quote.doc_id for quote in quotes))
    if category.startswith("multi_hop") and len(sources) > 1:
        result["required_sources"] = sources
    if not result["answerable"] and "doc" in row:
        result["document"] = get(where, row, "doc", str)
    meta = {key: row[key] for key in _TAGS if key in row}
    return {**result, "meta": meta} if meta else result
