"""LegalBench-RAG (arXiv 2408.10343): JSON of tests with character spans, over a folder of contracts and policies."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from bench.corpus.importers.base import Collection, ImportResult, Quote
from bench.corpus.importers.files import Row, get, objects, read_json, read_text, refuse

Test = tuple[str, Row, list[tuple[str, Row]]]


def read(source: Path) -> ImportResult:
    """Read one benchmark file, with the documents it names in ``corpus/`` beside or above it.

    The spans are the annotators' own: each stands alone. ``answer``, where given, is the text of the span.

    Raises:
        GoldenError: the file is not such JSON, or there is no corpus folder.
    """
    folder = next((p for p in (source.parent / "corpus", source.parent.parent / "corpus") if p.is_dir()), None)
    if folder is None:
        refuse(str(source), "no corpus folder", f"{source.parent / 'corpus'} or {source.parent.parent / 'corpus'}")
    data = read_json(source)
    if not isinstance(data, dict):
        refuse(str(source), "not an object", 'an object {"tests": [...]}')
    tests = [
        (where, test, list(objects(where, test, "snippets"))) for where, test in objects(str(source), data, "tests")
    ]
    found = Collection(_documents(folder, tests))
    for number, (where, test, snippets) in enumerate(tests):
        question = {
            "question_id": f"{source.stem}-{number:04d}",
            "question": get(where, test, "query", str),
            "answer": None,
            "category": source.stem,
            "answerable": True,
        }
        found.add(where, question, [_quote(found, place, snippet) for place, snippet in snippets])
    return found.result()


def _documents(folder: Path, tests: list[Test]) -> dict[str, str]:
    """The documents the tests name; one that is absent is left to be reported with its question."""
    documents: dict[str, str] = {}
    for _, _, snippets in tests:
        for where, snippet in snippets:
            doc_id = get(where, snippet, "file_path", str)
            if PurePosixPath(doc_id).is_absolute() or ".." in PurePosixPath(doc_id).parts:
                refuse(where, f"file_path {doc_id!r} leaves the corpus", "a path relative to the corpus folder")
            if doc_id not in documents and (folder / doc_id).is_file():
                documents[doc_id] = read_text(folder / doc_id)
    return documents


def _quote(found: Collection, where: str, snippet: Row) -> Quote:
    span = get(where, snippet, "span", list)
    if len(span) != 2 or not all(type(offset) is int for offset in span):
        refuse(where, f"'span' is {span!r}", "two whole numbers: start and end")
    doc_id, answer = snippet["file_path"], snippet.get("answer") or ""
    if not answer and "\r\n" in found.documents.get(doc_id, ""):
        # Readers of this set count a CRLF as one character; without the text, the place cannot be checked.
        found.problems.append(f"{where}: {doc_id} has CRLF and the span no text; kept, its place is not certain")
    return Quote(answer, doc_id, (span[0], span[1]), exact=True)
