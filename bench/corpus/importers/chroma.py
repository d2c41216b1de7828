"""Chroma's chunking_evaluation: a CSV of questions with references, and one text a corpus.

Source: github.com/brandonstarxel/chunking_evaluation, general_evaluation_data.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

from bench.corpus.importers.base import Collection, ImportResult, Quote
from bench.corpus.importers.files import get, objects, read_csv, read_text, refuse

_COLUMNS = ("question", "references", "corpus_id")


def read(source: Path) -> ImportResult:
    """Read the CSV ``source``; its corpora lie in ``corpora/`` beside or above it, or beside it.

    The set's offsets are those of a quote's first occurrence: the others become alternatives.

    Raises:
        GoldenError: a column, a corpus or valid JSON references are missing.
    """
    rows = list(read_csv(source, _COLUMNS))
    corpora: dict[str, tuple[str, str]] = {}
    for where, row in rows:
        if row["corpus_id"] not in corpora:
            path = _corpus(where, source, row["corpus_id"])
            corpora[row["corpus_id"]] = (path.name, read_text(path))
    found = Collection(dict(corpora.values()))
    for number, (where, row) in enumerate(rows):
        doc_id = corpora[row["corpus_id"]][0]
        quotes = _quotes(where, row["references"], doc_id)
        question = {
            "question_id": f"chroma-{number:04d}",
            "question": row["question"],
            "answer": None,
            "category": "multi_span" if len(quotes) > 1 else "single_span",
            "answerable": True,
            "meta": {"corpus": row["corpus_id"]},
        }
        found.add(where, question, quotes)
    return found.result()


def _corpus(where: str, source: Path, corpus_id: str) -> Path:
    folders = (source.parent / "corpora", source.parent.parent / "corpora", source.parent)
    name = PurePosixPath(corpus_id).name
    for folder in folders:
        for candidate in (f"{name}.md", f"{name}.txt", name):
            if name and (folder / candidate).is_file():
                return folder / candidate
    refuse(where, f"no text of corpus {corpus_id!r}", f"{name}.md or {name}.txt in {folders[0]}")


def _quotes(where: str, references: str, doc_id: str) -> list[Quote]:
    try:
        items = json.loads(references)
    except json.JSONDecodeError as error:
        refuse(where, f"'references' is not JSON ({error.msg})", "a list of {content, start_index, end_index}")
    return [
        Quote(
            get(place, item, "content", str),
            doc_id,
            (get(place, item, "start_index", int), get(place, item, "end_index", int)),
        )
        for place, item in objects(where, {"references": items}, "references")
    ]
