"""Rows of question, answer and contexts, as RAGAS and DeepEval write them: JSON, JSON Lines or CSV."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.corpus.importers.base import Collection, ImportResult, Quote
from bench.corpus.importers.files import (
    Row,
    objects,
    read_csv,
    read_folder,
    read_json,
    read_json_lines,
    refuse,
    shorten,
)

# The first name present wins. Where a row has both, `answer` is what a system said and `ground_truth` is the reference.
_QUESTION = ("user_input", "question", "input", "query")
_ANSWER = ("reference", "ground_truth", "ground_truths", "expected_output", "reference_answer", "answer")
_CONTEXTS = (
    "reference_contexts",
    "ground_truth_contexts",
    "context",
    "contexts",
    "retrieved_contexts",
    "retrieval_context",
)
_RETRIEVED = ("retrieved_contexts", "retrieval_context")
_CATEGORY = ("category", "synthesizer_name", "evolution_type")
_ID = ("question_id", "id")


def read(source: Path) -> ImportResult:
    """Read rows; contexts are searched in the files of ``documents/`` beside ``source``.

    Where there is no such folder, each distinct context becomes a document of its own, and ``problems`` says so:
    such a set cannot tell one chunking from another.

    Raises:
        GoldenError: the file is of no known form, or a row has no question.
    """
    rows = list(_rows(source))
    contexts = [_contexts(where, row) for where, row in rows]
    folder = source.parent / "documents"
    found = Collection(read_folder(folder) if folder.is_dir() else _as_documents(contexts))
    if not folder.is_dir():
        count = len(found.documents)
        found.problems.append(
            f"{source}: no folder {folder.name}/ beside it; {count} distinct contexts became documents"
        )
    for number, ((where, row), texts) in enumerate(zip(rows, contexts, strict=True)):
        question = _question(where, row, f"{source.stem}-{number:04d}")
        found.add(where, question, [Quote(text, None) for text in texts if question["answerable"]])
    retrieved = sum(_first(row, _CONTEXTS)[0] in _RETRIEVED for _, row in rows)
    if retrieved:
        found.problems.append(f"{source}: {retrieved} rows have retrieved contexts only; taken as evidence, unreviewed")
    return found.result()


def _rows(source: Path) -> Iterator[tuple[str, Row]]:
    kind = source.suffix.lower()
    if kind == ".csv":
        return read_csv(source)
    if kind in (".jsonl", ".ndjson"):
        return read_json_lines(source)
    if kind != ".json":
        refuse(str(source), f"suffix {kind!r}", ".json, .jsonl or .csv")
    value = read_json(source)
    lists = [key for key, item in value.items() if isinstance(item, list)] if isinstance(value, dict) else []
    if len(lists) == 1:
        return objects(str(source), value, lists[0])
    if not isinstance(value, list):
        refuse(str(source), f"found {shorten(repr(value))}", "a list of rows, or an object with one list of rows")
    return objects(str(source), {"rows": value}, "rows")


def _first(row: Row, names: Sequence[str]) -> tuple[str, Any]:
    """The first of ``names`` that ``row`` fills, and its value."""
    return next(((name, row[name]) for name in names if row.get(name) not in (None, "", [])), ("", None))


def _contexts(where: str, row: Row) -> list[str]:
    name, value = _first(row, _CONTEXTS)
    if isinstance(value, str):
        value = _as_list(value)
    if not isinstance(value, list | None) or not all(isinstance(item, str) for item in value or []):
        refuse(where, f"{name!r} is {shorten(repr(value))}", "a list of strings")
    return value or []


def _as_list(cell: str) -> list[Any]:
    """A CSV cell: a list written as JSON or as Python does, else one context."""
    for parse in (json.loads, ast.literal_eval) if cell.lstrip().startswith("[") else ():
        try:
            value = parse(cell)
        except (ValueError, SyntaxError):
            continue
        if isinstance(value, list):
            return value
    return [cell]


def _as_documents(contexts: list[list[str]]) -> dict[str, str]:
    distinct = dict.fromkeys(text for texts in contexts for text in texts if text.strip())
    return {f"context_{number:04d}.txt": text for number, text in enumerate(distinct, 1)}


def _question(where: str, row: Row, fallback_id: str) -> Row:
    name, question = _first(row, _QUESTION)
    if not isinstance(question, str):
        refuse(where, f"no question (found: {', '.join(row)})", f"text under one of {', '.join(_QUESTION)}")
    name, answer = _first(row, _ANSWER)
    answers = answer if isinstance(answer, list) else [answer] if answer is not None else []
    if not all(isinstance(item, str) for item in answers):
        refuse(where, f"{name!r} is {shorten(repr(answer))}", "a string or a list of strings")
    name, question_id = _first(row, _ID)
    result: Row = {
        "question_id": str(question_id) if name else fallback_id,
        "question": question,
        "answer": answers[0] if answers else None,
        "category": str(_first(row, _CATEGORY)[1] or "uncategorised"),
        "answerable": row.get("answerable") is not False,
    }
    return {**result, "answers": answers} if len(answers) > 1 else result
