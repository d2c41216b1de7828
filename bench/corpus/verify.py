"""What ``bench golden verify`` says of a golden set, and the repair of evidence that has moved."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from bench.corpus.golden import Reading, read_rows, write_lines
from bench.corpus.locate import ITEM_KEYS, find_all, nearest, resolve, show
from bench.corpus.row import parse_row
from bench.errors import GoldenError
from bench.spans import intervals, length, union
from bench.types import Document, Evidence, GoldenQuestion

MIN_SIMILARITY = 0.9
MAX_NAMES = 12


def summary(questions: Sequence[GoldenQuestion], documents: Sequence[Document]) -> list[str]:
    """Return what there is to know about a golden set, one line a fact."""
    texts = {document.doc_id: document.text for document in documents}
    answerable = sum(question.answerable for question in questions)
    clusters = Counter(q.cluster if q.cluster in texts else "(none named)" for q in questions)
    evidence = [(question, item) for question in questions for item in question.evidence]
    held = {span.doc_id for _, item in evidence for span in item.alternatives}
    bare = sum(doc_id not in held and doc_id not in clusters for doc_id in texts)
    sizes = [len(item.alternatives[0]) for _, item in evidence]
    repeated = dict.fromkeys(question.question_id for question, item in evidence if unlisted(item, texts))
    overlapping = [question.question_id for question in questions if overlaps(question)]
    return [
        f"documents: {len(documents)} ({sum(map(len, texts.values())):,} characters), {bare} without a question",
        f"questions: {len(questions)} ({answerable} answerable, {len(questions) - answerable} unanswerable)",
        f"categories: {_counts(Counter(question.category for question in questions))}",
        f"questions per document: {_counts(clusters)}",
        f"evidence: {len(sizes)} items, median {median(sizes) if sizes else 0:g} characters",
        f"repeated quotes with places that are not listed as alternatives: {_names(repeated)}",
        f"questions whose evidence items overlap: {_names(overlapping)}",
    ]


def unlisted(item: Evidence, texts: Mapping[str, str]) -> bool:
    """True if the evidence text stands in its document at a place that is not one of its alternatives."""
    first = item.alternatives[0]
    text = texts[first.doc_id]
    listed = {span.start for span in item.alternatives if span.doc_id == first.doc_id}
    return any(at not in listed for at in find_all(text, text[first.start : first.end]))


def overlaps(question: GoldenQuestion) -> bool:
    """True if two evidence items of the question share characters (their first alternatives)."""
    spans = [item.alternatives[0] for item in question.evidence]
    for doc_id in {span.doc_id for span in spans}:
        places = intervals((span.start, span.end) for span in spans if span.doc_id == doc_id)
        if length(union(places)) < length(places):
            return True
    return False


def _counts(counter: Counter[str]) -> str:
    shown = ", ".join(f"{name} {count}" for name, count in counter.most_common(MAX_NAMES))
    return (shown or "none") + (f" and {len(counter) - MAX_NAMES} more" if len(counter) > MAX_NAMES else "")


def _names(ids: Iterable[str]) -> str:
    names = list(ids)
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"{len(names)}" + (f" ({', '.join(names[:MAX_NAMES])}{more})" if names else "")


@dataclass(slots=True)
class Repair:
    """What a repair did: lines of the copy, what was moved, the problems of the rows that were kept out."""

    lines: list[str] = field(default_factory=list)
    moves: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    rows_lost: int = 0


def repair(path: Path, documents: Sequence[Document], target: Path) -> Repair:
    """Write a copy of the golden file in which quotes stand where the documents have them.

    A quote that stands once gets its offsets; one that stands several times gets all of them as alternatives; a
    missing one is replaced by the nearest text if that is at least 0.9 like it and has the same numbers. Good rows
    are copied as they are; rows that stay wrong are left out.

    Raises:
        GoldenError: the file cannot be read, the copy cannot be written, or it would replace the file.
    """
    if target.exists() and path.exists() and target.samefile(path):
        raise GoldenError(f"--repair {target}: is the golden file itself, which is never overwritten; name another")
    texts = {document.doc_id: document.text for document in documents}
    reading, done = Reading(path), Repair()
    seen: dict[str, int] = {}
    rows = read_rows(reading)
    done.rows_lost = len(reading.noted)  # lines that hold no JSON object
    for row in rows:
        data: dict[str, Any] = row.data
        moves: list[str] = []
        question, problems = parse_row(data, texts)
        if problems and isinstance(data.get("evidence"), list):
            data, moves = repair_row(data, texts)
            question, problems = parse_row(data, texts)
        if question and question.question_id in seen:
            problems = [f"question_id {question.question_id!r} is that of line {seen[question.question_id]}"]
        reading.report(row.line, problems)
        done.rows_lost += bool(problems)
        if question and not problems:
            seen[question.question_id] = row.line
            done.lines.append(json.dumps(data, ensure_ascii=False) if moves else row.source.rstrip("\r"))
            done.moves += [f"{path}:{row.line}: {move}" for move in moves]
    done.lost = reading.problems
    write_lines(target, done.lines)
    return done


def repair_row(data: Mapping[str, Any], texts: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return the row with its evidence put right where that can be done safely, and what was moved."""
    items, moves = [], []
    for number, item in enumerate(data["evidence"], 1):
        mended, notes = _repair_item(item, texts)
        items.append(mended)
        moves += [f"evidence {number}: {note}" for note in notes]
    return {**data, "evidence": items}, moves


def _repair_item(item: Any, texts: Mapping[str, str]) -> tuple[Any, list[str]]:
    try:
        resolve(item, texts, explain=False)
        return item, []
    except GoldenError:
        options = item.get("alternatives") if isinstance(item, dict) else None
    if not isinstance(options, list):
        places, note = _relocate(item, texts)
        whole: Any = places[0] if len(places) == 1 else {"alternatives": places}
        return (whole, [note]) if places else (item, [])
    mended: list[Any] = []
    notes: list[str] = []
    for option in options:
        new, said = _repair_item(option, texts)
        mended += new["alternatives"] if said and "alternatives" in new else [new]
        notes += said
    return {**item, "alternatives": mended}, notes


def _relocate(item: Any, texts: Mapping[str, str]) -> tuple[list[dict[str, Any]], str]:
    """Return where the quote of an item stands, and a note from where to where; no place if it is not safe to say."""
    sound = isinstance(item, dict) and set(item) <= set(ITEM_KEYS)
    doc_id, quote = (item.get("doc_id"), item.get("quote")) if sound else (None, None)
    if not isinstance(doc_id, str) or doc_id not in texts or not isinstance(quote, str) or not quote.strip():
        return [], ""
    text = texts[doc_id]
    ends = [(at, at + len(quote)) for at in find_all(text, quote)]
    how = f"the quote stands {len(ends)} times" if len(ends) > 1 else "the quote stands there"
    if not ends:
        found = [place for place in nearest(text, quote) if place.similarity >= MIN_SIMILARITY]
        same = [place for place in found if _numbers(text[place.start : place.end]) == _numbers(quote)]
        ends = [(place.start, place.end) for place in same]
        how = f"similarity {same[0].similarity:.2f}: {show(quote)} is {show(text[slice(*ends[0])])}" if same else ""
    places = [{"doc_id": doc_id, "start": start, "end": end, "quote": text[start:end]} for start, end in ends]
    before = f"{item['start']}:{item.get('end')}" if "start" in item else "quote"
    return places, f"{doc_id} {before} -> {', '.join(f'{start}:{end}' for start, end in ends)} ({how})"


def _numbers(text: str) -> list[str]:
    """The numbers of a text: "30 days" is never repaired into "60 days", however similar."""
    return re.findall(r"\d+", text)
