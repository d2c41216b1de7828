"""Documents from a folder: text, Markdown, HTML, code and PDF, text kept as loaded (offsets are code points)."""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from bench.corpus.formats import LANGUAGES, MARKUP, OUT, html_to_markdown, read_pdf, read_text, title_of, version
from bench.corpus.locate import near_document
from bench.errors import CorpusError, near
from bench.types import Document, Format

HTML_MODES = ("source", "markdown")


def load_documents(
    folder: Path,
    *,
    include: Sequence[str] = ("**/*",),
    meta: Mapping[str, Mapping[str, Any]] | None = None,
    html: str = "source",
) -> tuple[Document, ...]:
    """Return the documents of ``folder`` in order of their id: the path below the folder, NFC, with ``/``.

    Hidden files and folders are skipped. A file whose suffix is not known is plain text if it decodes.

    Args:
        folder: where the files are.
        include: patterns of paths below the folder: ``*`` stays within a folder, ``**`` crosses folders.
        meta: fields added to the ``meta`` of single documents, by id.
        html: "source" keeps HTML as it stands; "markdown" converts it, so that headings and tables are Markdown.

    Raises:
        CorpusError: folder missing or empty; a file is unreadable, binary, not UTF-8/UTF-16, or has no text; two
            files claim one id; ``meta`` names a document that is not there.
    """
    if html not in HTML_MODES:
        raise CorpusError(f"html: {html!r} is not a way to load HTML; {near(html, HTML_MODES)}")
    paths = _distinct(folder, [path for path in _walk(folder) if _included(path.relative_to(folder), include)])
    if not paths:
        raise CorpusError(
            f"{folder}: no file to load (include: {', '.join(include)}); hidden files are skipped; "
            "add documents or widen include"
        )
    fields = meta or {}
    for doc_id in fields:
        if doc_id not in paths:
            near_ones = near_document(doc_id, paths)
            raise CorpusError(f"{folder}: {doc_id!r} is listed (meta, manifest) but not there; {near_ones}")
    return tuple(_load_all(paths, fields, html))


def corpus_sha256(documents: Iterable[Document]) -> str:
    """Return a hash of everything that reaches a chunker: ids, texts, formats, meta. Order does not matter."""
    digest = hashlib.sha256()
    for document in sorted(documents, key=lambda document: document.doc_id):
        meta = json.dumps(dict(document.meta), sort_keys=True, default=str)
        digest.update("\0".join((document.doc_id, document.sha256(), document.format, meta, "")).encode())
    return digest.hexdigest()


def _walk(folder: Path) -> Iterator[Path]:
    """Yield every file below ``folder`` that is not hidden; links are followed, loops refused."""
    if not folder.is_dir():
        kind = "not a folder" if folder.exists() else "no such folder"
        raise CorpusError(f"{folder}: {kind}; give a folder of documents (corpus.documents)")
    try:
        for here, folders, files in os.walk(folder, onerror=_raise, followlinks=True):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in folders:
                if Path(here).resolve().is_relative_to((Path(here) / name).resolve()):
                    raise CorpusError(f"{Path(here) / name}: a link to a folder that holds it; remove the link")
            yield from (Path(here) / name for name in sorted(files) if not name.startswith("."))
    except OSError as error:
        raise CorpusError(f"{error.filename or folder}: cannot be listed ({error.strerror}); allow reading") from error


def _raise(error: OSError) -> None:
    raise error


def _included(relative: Path, include: Sequence[str]) -> bool:
    return any(_matches(relative.parts, tuple(pattern.split("/"))) for pattern in include)


def _matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return _matches(parts, pattern[1:]) or (bool(parts) and _matches(parts[1:], pattern))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _distinct(folder: Path, paths: Sequence[Path]) -> dict[str, Path]:
    """Return the paths by document id, refusing two files with one id and one file with two ids."""
    found: dict[str, Path] = {}
    by_key: dict[str, Path] = {}
    for path in paths:
        doc_id = unicodedata.normalize("NFC", path.relative_to(folder).as_posix())
        if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", doc_id):
            raise CorpusError(f"{str(path)!a}: the file name is not UTF-8 or holds control characters; rename the file")
        for key, why in (
            (f"id {doc_id.casefold()}", "have one id on some systems"),
            (f"file {_real(path)}", "are one file"),
        ):
            if key in by_key:
                raise CorpusError(
                    f"{folder}: {str(by_key[key])!a} and {str(path)!a} {why}: two documents would claim "
                    "one text; remove, rename or leave out one of them (corpus.include)"
                )
            by_key[key] = path
        found[doc_id] = path
    return found


def _real(path: Path) -> Path:
    """Where the links of a path lead; a link to itself leads nowhere and is told when it is read."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()


def _load_all(paths: Mapping[str, Path], meta: Mapping[str, Mapping[str, Any]], html: str) -> list[Document]:
    documents, problems = [], []
    for doc_id in sorted(paths):
        try:
            documents.append(_load(doc_id, paths[doc_id], meta.get(doc_id, {}), html))
        except CorpusError as error:
            problems.append(str(error))
    if problems:
        others = f" ({len(problems) - 1} more files cannot be loaded)" if len(problems) > 1 else ""
        raise CorpusError(problems[0] + others)
    return documents


def _load(doc_id: str, path: Path, meta: Mapping[str, Any], html: str) -> Document:
    suffix = path.suffix.lower()
    fields: dict[str, Any] = {"language": LANGUAGES[suffix]} if suffix in LANGUAGES else {}
    kind: Format = MARKUP.get(suffix, "code" if fields else "txt")
    if kind == "pdf":
        text, fields = read_pdf(path)
    else:
        text = read_text(path)
    title = fields.pop("title", "") or title_of(text, kind)
    if kind == "html" and html == "markdown":
        text, kind, fields = html_to_markdown(text), "md", {"converted": f"markdownify {version('markdownify')}"}
    if not text.strip().strip("\ufeff"):
        raise CorpusError(f"{path}: an empty document (no text but white space); fill it, {OUT}")
    return Document(doc_id, text, kind, {**fields, **({"title": title} if title else {}), **meta})
