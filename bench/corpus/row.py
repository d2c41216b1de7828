"""One row of a golden file: its keys, what they must hold, and the question it stands for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench.corpus.locate import check_keys, near_document, resolve
from bench.errors import GoldenError
from bench.types import Evidence, GoldenQuestion, Span

EXTRA = ("answers", "difficulty", "document")


def _strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


KINDS: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "question_id": ("a string without white space", lambda value: _text(value) and len(str(value).split()) == 1),
    "question": ("a string that is not empty", _text),
    "answer": ("a string", lambda value: isinstance(value, str)),
    "answers": ("a list of strings", _strings),
    "evidence": ("a list of objects", lambda value: isinstance(value, list)),
    "category": ("a string that is not empty", _text),
    "answerable": ("true or false", lambda value: isinstance(value, bool)),
    "required_sources": ("a list of document ids", _strings),
    "scope": ("a list of document ids, not empty", lambda value: _strings(value) and value != []),
    "document": ("a document id", _text),
    "difficulty": ("a string or a number", lambda value: isinstance(value, str | int | float)),
    "meta": ("an object", lambda value: isinstance(value, dict)),
}


def parse_row(
    data: Mapping[str, Any], texts: Mapping[str, str], *, explain: bool = True
) -> tuple[GoldenQuestion | None, list[str]]:
    """Return the question of one row, or None and what is wrong with it (messages without file:line)."""
    try:
        check_keys(data, tuple(KINDS))
    except GoldenError as error:
        return None, [f"{error} (for files of other tools: bench golden import)"]
    row = {key: value for key, value in data.items() if value is not None}
    problems = [
        f'"{key}" must be {KINDS[key][0]}; received {value!r:.80}'
        for key, value in row.items()
        if not KINDS[key][1](value)
    ]
    if "question" not in row:
        problems.append('"question" is missing; every row needs one')
    if problems:
        return None, problems
    evidence: list[Evidence] = []
    for number, item in enumerate(row.get("evidence", ()), 1):
        try:
            evidence.append(resolve(item, texts, explain=explain))
        except GoldenError as error:
            problems.append(f"evidence {number}: {error}")
    problems += _unknown_documents(row, texts)
    problems = problems or _contradictions(row, evidence)
    return (None if problems else _question(row, evidence)), problems


def _unknown_documents(row: Mapping[str, Any], texts: Mapping[str, str]) -> list[str]:
    named = [(key, name) for key in ("required_sources", "scope") for name in row.get(key, ())]
    named += [("document", row["document"])] if "document" in row else []
    return [
        f'"{key}": unknown document {name!r}; {near_document(name, texts)}' for key, name in named if name not in texts
    ]


def _contradictions(row: Mapping[str, Any], evidence: Sequence[Evidence]) -> list[str]:
    problems = []
    holding = {span.doc_id for item in evidence for span in item.alternatives}
    if evidence and row.get("answerable") is False:
        problems.append("unanswerable, but evidence is given; remove one of the two")
    if not evidence and row.get("answerable") is not False:
        problems.append('no evidence; give "evidence", or state "answerable": false')
    for source in row.get("required_sources", ()):
        if source not in holding:
            problems.append(
                f'"required_sources": {source!r} holds no evidence of this question; '
                f"allowed: {', '.join(sorted(holding)) or 'none'}"
            )
    for number, item in enumerate(evidence, 1):
        if "scope" in row and not any(span.doc_id in row["scope"] for span in item.alternatives):
            problems.append(
                f'evidence {number} is in {item.alternatives[0].doc_id}, outside "scope" '
                f"({', '.join(row['scope'])}): it could never be retrieved"
            )
    return problems


def _question(row: Mapping[str, Any], evidence: Sequence[Evidence]) -> GoldenQuestion:
    digest = hashlib.blake2b(row["question"].encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
    answers = row.get("answers", [])
    return GoldenQuestion(
        question_id=row.get("question_id", f"q-{digest}"),
        text=row["question"],
        answer=row.get("answer", answers[0] if answers else None),
        evidence=tuple(evidence),
        category=row.get("category", "uncategorised"),
        answerable=bool(evidence),
        required_sources=tuple(row.get("required_sources", ())),
        scope=tuple(row["scope"]) if "scope" in row else None,
        meta={**row.get("meta", {}), **{key: row[key] for key in EXTRA if key in row}},
    )


def as_row(question: GoldenQuestion, texts: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the row of a question in our format; spans carry their quotes where ``texts`` are given."""

    def place(span: Span) -> dict[str, Any]:
        quote = {"quote": texts.get(span.doc_id, "")[span.start : span.end]} if texts is not None else {}
        return {"doc_id": span.doc_id, "start": span.start, "end": span.end, **quote}

    def item(evidence: Evidence) -> dict[str, Any]:
        places = [place(span) for span in evidence.alternatives]
        return places[0] if len(places) == 1 else {"alternatives": places}

    row: dict[str, Any] = {
        "question_id": question.question_id,
        "question": question.text,
        "answer": question.answer,
        "evidence": [item(evidence) for evidence in question.evidence],
        "category": question.category,
        "answerable": question.answerable,
        "required_sources": list(question.required_sources),
        "scope": list(question.scope) if question.scope is not None else None,
        **{key: question.meta[key] for key in EXTRA if key in question.meta},
        "meta": {key: value for key, value in question.meta.items() if key not in EXTRA},
    }
    return {key: value for key, value in row.items() if key == "answerable" or value not in (None, [], {})}
