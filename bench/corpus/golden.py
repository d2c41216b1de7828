"""The golden set: JSON Lines of questions whose evidence is verified against the documents, character by character."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.corpus.row import as_row, parse_row
from bench.errors import GoldenError
from bench.types import Document, GoldenQuestion

MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a golden file: its number (from 1), its text, and the object on it."""

    line: int
    source: str
    data: dict[str, Any]


@dataclass(slots=True)
class Reading:
    """What was read of a golden file: the good questions with their rows, and a line for each problem."""

    path: Path
    rows: list[Row] = field(default_factory=list)
    questions: list[GoldenQuestion] = field(default_factory=list)
    noted: list[tuple[int, str]] = field(default_factory=list)

    def report(self, line: int, messages: Iterable[str]) -> None:
        """Note problems of one line of the file."""
        self.noted.extend((line, f"{self.path}:{line}: {message}") for message in messages)

    @property
    def problems(self) -> list[str]:
        """Every problem as one line with file:line, in the order of the file."""
        return [problem for _, problem in sorted(self.noted, key=lambda noted: noted[0])]


def load_golden(path: Path, documents: Sequence[Document]) -> tuple[GoldenQuestion, ...]:
    """Return the questions of the JSON Lines file ``path``, evidence located and verified in ``documents``.

    Raises:
        GoldenError: there is no question, or rows are wrong: one line a problem with file:line, the first 20 of them.
    """
    reading = read_golden(path, documents)
    problems = reading.problems
    if len(problems) == 1:
        raise GoldenError(problems[0])
    if problems:
        more = [f"and {len(problems) - MAX_SHOWN} more"] if len(problems) > MAX_SHOWN else []
        raise GoldenError("\n".join([f"{path}: {len(problems)} problems", *problems[:MAX_SHOWN], *more]))
    if not reading.questions:
        raise GoldenError(
            f"{path}: no questions; write one JSON object a line with "
            '"question" and "evidence" (or "answerable": false)'
        )
    return tuple(reading.questions)


def read_golden(path: Path, documents: Sequence[Document]) -> Reading:
    """Return the good questions and every problem of ``path``; nearest texts are shown for the first 20 problems."""
    texts = {document.doc_id: document.text for document in documents}
    reading = Reading(path)
    seen: dict[str, int] = {}
    for row in read_rows(reading):
        question, problems = parse_row(row.data, texts, explain=len(reading.noted) < MAX_SHOWN)
        name = question.question_id if question else ""
        if name in seen:
            problems.append(f"question_id {name!r} is that of line {seen[name]}; give each question its own")
        elif question:
            seen[name] = row.line
            reading.questions.append(question)
            reading.rows.append(row)
        reading.report(row.line, problems)
    return reading


def read_rows(reading: Reading) -> list[Row]:
    """Return the JSON objects of the file, noting the lines that hold none."""
    try:
        text = reading.path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise GoldenError(
            f"{reading.path}: cannot be read ({error.strerror}); give a JSON Lines file (corpus.golden)"
        ) from error
    except UnicodeDecodeError as error:
        raise GoldenError(f"{reading.path}: byte {error.start} is not UTF-8; convert the file to UTF-8") from error
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            rows += [Row(number, line, _parse(line))] if line.strip() else []
        except GoldenError as error:
            reading.report(number, [str(error)])
    return rows


def _parse(line: str) -> dict[str, Any]:
    try:
        data = json.loads(line, object_pairs_hook=_unique)
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
    except json.JSONDecodeError as error:
        raise GoldenError(f"column {error.colno}: bad JSON ({error.msg}); write one JSON object a line") from error
    except UnicodeEncodeError as error:
        raise GoldenError("a \\u escape is half of a surrogate pair; write the character itself") from error
    except (ValueError, RecursionError) as error:
        raise GoldenError(f"bad JSON ({error}); write one JSON object a line") from error
    if not isinstance(data, dict):
        raise GoldenError(f"not a JSON object but {type(data).__name__}; write one JSON object a line")
    return data


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise GoldenError(f"key {twice!r} is given twice; keep one")
    return dict(pairs)


def dump_golden(questions: Sequence[GoldenQuestion], documents: Sequence[Document], path: Path) -> None:
    """Write ``questions`` as JSON Lines with spans and their quotes; ``load_golden`` gives them back equal.

    Raises:
        GoldenError: ``load_golden`` would refuse a question, or the file cannot be written.
    """
    texts = {document.doc_id: document.text for document in documents}
    rows = [as_row(question, texts) for question in questions]
    for question, row in zip(questions, rows, strict=True):
        if problems := parse_row(row, texts)[1]:
            raise GoldenError(f"{path}: question {question.question_id!r} cannot be written: {problems[0]}")
    write_lines(path, [json.dumps(row, ensure_ascii=False) for row in rows])


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes("".join(f"{line}\n" for line in lines).encode())
        os.replace(part, path)
    except (OSError, UnicodeEncodeError) as error:
        why = error.strerror if isinstance(error, OSError) else f"half a surrogate pair at character {error.start}"
        with contextlib.suppress(OSError):
            part.unlink()
        raise GoldenError(f"{path}: cannot be written ({why}); choose another place, or correct the text") from error


def golden_sha256(questions: Iterable[GoldenQuestion]) -> str:
    """Return a hash of the questions with all their fields, in the order of their ids."""
    rows = [as_row(question, None) for question in sorted(questions, key=lambda question: question.question_id)]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()
