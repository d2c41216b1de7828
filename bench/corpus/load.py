"""Documents from a folder: text, Markdown, HTML, code and PDF, text kept as loaded (offsets are code points)."""

from __future__ import annotations

import codecs
import hashlib
import html as entities
import importlib.metadata
import itertools
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from bench.errors import CorpusError, near
from bench.types import Document, Format

HTML_MODES = ("source", "markdown")
MAX_TITLE_CHARS = 120
OUT = "or leave it out (corpus.include)"
UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
MARKUP: Mapping[str, Format] = {
    ".md": "md", ".markdown": "md", ".mdx": "md", ".html": "html", ".htm": "html", ".xhtml": "html", ".pdf": "pdf"
}  # fmt: skip
LANGUAGES: Mapping[str, str] = {
    ".py": "python", ".pyi": "python", ".ts": "ts", ".tsx": "ts", ".js": "js", ".jsx": "js", ".mjs": "js",
    ".cjs": "js", ".go": "go", ".java": "java", ".kt": "kotlin", ".scala": "scala", ".swift": "swift", ".rs": "rust",
    ".c": "c", ".h": "c", ".cpp": "cpp", ".cc": "cpp", ".cxx": "cpp", ".hpp": "cpp", ".hh": "cpp", ".cs": "csharp",
    ".rb": "ruby", ".php": "php", ".pl": "perl", ".lua": "lua", ".r": "r", ".hs": "haskell", ".ex": "elixir",
    ".ps1": "powershell", ".proto": "proto", ".sol": "sol", ".tex": "latex", ".sh": "sh", ".bash": "sh", ".sql": "sql",
    ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".jsonl": "json", ".toml": "toml", ".ini": "ini",
    ".xml": "xml", ".css": "css",
}  # fmt: skip


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
        raise CorpusError(f"{folder}: no file to load (include: {', '.join(include)}); hidden files are skipped; "
                          "add documents or widen include")
    fields = meta or {}
    for doc_id in fields:
        if doc_id not in paths:
            raise CorpusError(f"{folder}: {doc_id!r} is listed (meta, manifest) but not there; {near(doc_id, paths)}")
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
        for key, why in ((f"id {doc_id.casefold()}", "have one id on some systems"),
                         (f"file {path.resolve()}", "are one file")):
            if key in by_key:
                raise CorpusError(f"{folder}: {str(by_key[key])!a} and {str(path)!a} {why}: two documents would claim "
                                  "one text; remove, rename or leave out one of them (corpus.include)")
            by_key[key] = path
        found[doc_id] = path
    return found


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
        text, fields = _read_pdf(path)
    else:
        text = _read_text(path)
    title = fields.get("title") or _title(text, kind)
    if kind == "html" and html == "markdown":
        text, kind, fields = _html_to_markdown(text), "md", {"converted": f"markdownify {_version('markdownify')}"}
    if not text.strip().strip("\ufeff"):
        raise CorpusError(f"{path}: an empty document (no text but white space); fill it, {OUT}")
    return Document(doc_id, text, kind, {**fields, **({"title": title} if title else {}), **meta})


def _read_text(path: Path) -> str:
    """Return the file's text with every character kept, a leading byte order mark as U+FEFF."""
    try:
        data = path.read_bytes() if path.is_file() else None
    except OSError as error:
        why = f"cannot be read ({error.strerror}); mend the file or its permissions"
        raise CorpusError(f"{path}: {why}, {OUT}") from error
    if data is None:
        raise CorpusError(f"{path}: not a file (a broken link or a device); mend it, {OUT}")
    encoding = UTF16.get(data[:2], "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        text, bad = "", f"byte {error.start} (0x{data[error.start]:02x}) is not {encoding.upper()}"
    else:
        bad = ""
    if "\0" in text or (encoding == "utf-8" and b"\0" in data):
        bad = f"a binary file (NUL at byte {data.index(0)})"
    if bad:
        raise CorpusError(f"{path}: {bad}; allowed: text (UTF-8, or UTF-16 with a byte order mark) and PDF; "
                          f"convert it, {OUT}")
    return text


def _read_pdf(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the pages joined by a form feed, with ``pages``: the start offset of each page in code points."""
    import pypdf

    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise CorpusError(f"{path}: the PDF is encrypted with a password; save it without one, {OUT}")
        pages = [_whole(page.extract_text()) for page in reader.pages]
        scans = [n for n, page in enumerate(reader.pages, 1) if not pages[n - 1].strip() and _has_image(page)]
        title = str((reader.metadata and reader.metadata.title) or "")
    except CorpusError:
        raise
    except Exception as error:  # a parser of foreign bytes raises almost anything; the file is the user's to mend
        detail = " ".join(str(error).split()) or type(error).__name__
        raise CorpusError(f"{path}: cannot be read as PDF ({detail}); save it anew, {OUT}") from error
    if scans or not any(page.strip() for page in pages):
        which = f"page {', '.join(map(str, scans[:5]))} is" if scans else f"all {len(pages)} pages are"
        raise CorpusError(f"{path}: {which} without text (scanned?); recognise the text first (OCR), {OUT}")
    starts = list(itertools.accumulate((len(page) + 1 for page in pages[:-1]), initial=0))
    return "\f".join(pages), {"pages": starts, "title": title.strip(), "converted": f"pypdf {_version('pypdf')}"}


def _whole(text: str) -> str:
    """Replace lone surrogates, which some PDF fonts map to: no encoder takes them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _has_image(page: Any) -> bool:
    from pypdf.generic import DictionaryObject

    none: Any = DictionaryObject()
    objects = page.get("/Resources", none).get_object().get("/XObject", none).get_object()
    return any(item.get_object().get("/Subtype") == "/Image" for item in objects.values())


def _html_to_markdown(source: str) -> str:
    from bs4 import BeautifulSoup
    from markdownify import ATX, MarkdownConverter

    soup = BeautifulSoup(source, "html.parser")
    if soup.head:
        soup.head.decompose()
    converter = MarkdownConverter(heading_style=ATX, escape_asterisks=False, escape_underscores=False)
    return str(converter.convert_soup(soup))


def _version(package: str) -> str:
    return importlib.metadata.version(package)


def _title(text: str, kind: Format) -> str:
    """Return the first h1 of Markdown, the title or h1 of HTML, the first line of plain text; "" if none."""
    text = text[:20_000]
    if kind == "md":
        prose = re.sub(r"(?ms)^ {0,3}(```+|~~~+).*?^ {0,3}\1", "", text.lstrip("\ufeff"))
        found = re.search(r"(?m)^ {0,3}#[ \t]+(\S[^\r\n]*?)[ \t#]*\r?$|^(\S[^\r\n]*)\r?\n=+[ \t]*\r?$", prose)
    elif kind == "html":
        found = re.search(r"(?is)<title[^>]*>(.*?)</title>", text) or re.search(r"(?is)<h1[^>]*>(.*?)</h1>", text)
    elif kind in ("txt", "pdf"):
        found = re.search(rf"\A[\s\ufeff]*([^\r\n\f]{{1,{MAX_TITLE_CHARS}}})(?=[\r\n\f]|\Z)", text)
    else:
        found = None
    title = next((group for group in found.groups() if group), "") if found else ""
    return " ".join((entities.unescape(re.sub(r"<[^>]+>", "", title)) if kind == "html" else title).split())
