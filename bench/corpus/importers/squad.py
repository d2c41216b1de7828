"""SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018): one JSON file of articles, paragraphs and questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.corpus.importers.base import Collection, ImportResult, Quote
from bench.corpus.importers.files import Row, file_name, get, objects, read_json, refuse

_JOIN = "\n\n"


@dataclass(frozen=True, slots=True)
class _Paragraph:
    where: str
    row: Row
    doc_id: str
    start: int
    end: int


def read(source: Path) -> ImportResult:
    """Read a SQuAD file. The paragraphs of an article, joined by a blank line, are one document.

    The longest of the annotators' answers is the evidence, at the annotator's place alone; all answers are kept as
    ``answers``. Plausible answers of unanswerable questions are left out.

    Raises:
        GoldenError: the file is not SQuAD JSON.
    """
    data = read_json(source)
    if not isinstance(data, dict):
        refuse(str(source), "not an object", 'a SQuAD object {"data": [...]}')
    documents: dict[str, str] = {}
    paragraphs: list[_Paragraph] = []
    for where, article in objects(str(source), data, "data"):
        doc_id = file_name(get(where, article, "title", str), ".txt", documents)
        rows = list(objects(where, article, "paragraphs"))
        paragraphs += _paragraphs(doc_id, rows)
        documents[doc_id] = _JOIN.join(row["context"] for _, row in rows)
    found = Collection(documents)
    for paragraph in paragraphs:
        for where, question in objects(paragraph.where, paragraph.row, "qas"):
            _add(found, paragraph, where, question)
    return found.result()


def _paragraphs(doc_id: str, rows: list[tuple[str, Row]]) -> Iterator[_Paragraph]:
    start = 0
    for where, row in rows:
        end = start + len(get(where, row, "context", str))
        yield _Paragraph(where, row, doc_id, start, end)
        start = end + len(_JOIN)


def _add(found: Collection, paragraph: _Paragraph, where: str, question: Row) -> None:
    impossible = question.get("is_impossible", False) is True
    answers = (
        []
        if impossible
        else [
            (get(place, item, "text", str), get(place, item, "answer_start", int))
            for place, item in objects(where, question, "answers")
        ]
    )
    row: Row = {
        "question_id": get(where, question, "id", str),
        "question": get(where, question, "question", str),
        "answer": answers[0][0] if answers else None,
        "category": "unanswerable" if impossible else "factoid",
        "answerable": not impossible,
        "meta": {"paragraph": [paragraph.start, paragraph.end]},
    }
    if impossible:
        row["document"] = paragraph.doc_id
    else:
        row["answers"] = list(dict.fromkeys(text for text, _ in answers))
    quotes = []
    if answers:
        text, offset = max(answers, key=lambda answer: len(answer[0]))
        start = paragraph.start + offset
        inside = (paragraph.start, paragraph.end)
        quotes = [Quote(text, paragraph.doc_id, (start, start + len(text)), exact=True, within=inside)]
    found.add(where, row, quotes)
