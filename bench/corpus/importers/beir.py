"""BEIR folders (Thakur et al. 2021): corpus.jsonl, queries.jsonl, qrels/<split>.tsv."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from bench.corpus.importers.base import Collection, ImportResult, Quote
from bench.corpus.importers.files import Row, file_name, get, read_json_lines, read_text, refuse

_HEADER = ["query-id", "corpus-id", "score"]


def read(source: Path) -> ImportResult:
    """Read a BEIR folder with the judgements of every split under ``qrels/``.

    Judgements are of whole documents: each document judged above 0 is one piece of evidence over its whole text
    (``meta.evidence`` says so, ``meta.relevance`` keeps the grades). A title stands before the text, a blank line
    between them.

    Raises:
        GoldenError: a file is missing or a line malformed.
    """
    documents, names = _documents(source / "corpus.jsonl")
    judged = _judgements(source / "qrels")
    found = Collection(documents)
    unjudged = 0
    for where, row in read_json_lines(source / "queries.jsonl"):
        query_id = get(where, row, "_id", str)
        grades = judged.pop(query_id, {})
        if grades:
            found.add(
                where, _question(query_id, get(where, row, "text", str), grades), _quotes(grades, names, documents)
            )
        unjudged += not grades
    if unjudged:
        found.problems.append(f"{source / 'queries.jsonl'}: {unjudged} queries have no judgement; kept out")
    found.problems += [f"{source / 'qrels'}: query {name!r} is not in queries.jsonl; kept out" for name in judged]
    return found.result()


def _documents(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Texts by doc_id, and the doc_id of each ``_id``."""
    documents: dict[str, str] = {}
    names: dict[str, str] = {}
    for where, row in read_json_lines(path):
        corpus_id, title = get(where, row, "_id", str), row.get("title") or ""
        if corpus_id in names:
            refuse(where, f"_id {corpus_id!r} stands twice", "one document for each _id")
        names[corpus_id] = file_name(corpus_id, ".txt", documents)
        documents[names[corpus_id]] = "\n\n".join(part for part in (title, get(where, row, "text", str)) if part)
    return documents, names


def _judgements(folder: Path) -> dict[str, dict[str, float]]:
    """Grades by query and document, of every split."""
    paths = sorted(folder.glob("*.tsv"))
    if not paths:
        refuse(str(folder), "no .tsv file", "qrels/<split>.tsv of query-id, corpus-id, score")
    judged: dict[str, dict[str, float]] = defaultdict(dict)
    for path in paths:
        for query_id, corpus_id, score in _lines(path):
            judged[query_id][corpus_id] = score
    return judged


def _lines(path: Path) -> Iterator[tuple[str, str, float]]:
    for number, line in enumerate(read_text(path, encoding="utf-8-sig").split("\n"), 1):
        cells = line.rstrip("\r").split("\t")
        if cells in ([""], _HEADER):
            continue
        try:
            query_id, corpus_id, score = cells
            yield query_id, corpus_id, float(score)
        except ValueError:
            refuse(f"{path}:{number}", f"found {line!r}", "query-id, corpus-id and a number, separated by tabs")


def _question(query_id: str, text: str, grades: dict[str, float]) -> Row:
    return {
        "question_id": query_id,
        "question": text,
        "answer": None,
        "category": "uncategorised",
        "answerable": True,
        "meta": {"evidence": "whole documents", "relevance": grades},
    }


def _quotes(grades: dict[str, float], names: dict[str, str], documents: dict[str, str]) -> list[Quote]:
    quotes = []
    for corpus_id in (name for name, score in grades.items() if score > 0):
        doc_id = names.get(corpus_id, f"corpus-id {corpus_id}")
        text = documents.get(doc_id, "")
        quotes.append(Quote(text, doc_id, (0, len(text)), exact=True))
    return quotes
