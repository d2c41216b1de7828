"""One file as text: decoding, PDF pages, HTML as Markdown, titles. The only place that knows file formats."""

from __future__ import annotations

import codecs
import html
import importlib.metadata
import itertools
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.errors import CorpusError
from bench.types import Format

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


def read_text(path: Path) -> str:
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
        raise CorpusError(
            f"{path}: {bad}; allowed: text (UTF-8, or UTF-16 with a byte order mark) and PDF; convert it, {OUT}"
        )
    return text


def read_pdf(path: Path) -> tuple[str, dict[str, Any]]:
    """Return the pages joined by a form feed, with ``pages``: the start offset of each page in code points."""
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it cannot read is told once, as the error below
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
    return "\f".join(pages), {"pages": starts, "title": title.strip(), "converted": f"pypdf {version('pypdf')}"}


def _whole(text: str) -> str:
    """Replace lone surrogates, which some PDF fonts map to: no encoder takes them."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _has_image(page: Any) -> bool:
    from pypdf.generic import DictionaryObject

    none: Any = DictionaryObject()
    objects = page.get("/Resources", none).get_object().get("/XObject", none).get_object()
    return any(item.get_object().get("/Subtype") == "/Image" for item in objects.values())


def html_to_markdown(source: str) -> str:
    """Return the body of an HTML page as Markdown with ATX headings and pipe tables (package markdownify)."""
    from bs4 import BeautifulSoup
    from markdownify import ATX, MarkdownConverter

    soup = BeautifulSoup(source, "html.parser")
    if soup.head:
        soup.head.decompose()
    converter = MarkdownConverter(heading_style=ATX, escape_asterisks=False, escape_underscores=False)
    return str(converter.convert_soup(soup))


def version(package: str) -> str:
    """Return the installed version of a package."""
    return importlib.metadata.version(package)


def title_of(text: str, kind: Format) -> str:
    """Return the title of front matter, else the first h1 of Markdown; the title or h1 of HTML; the first line of
    plain text and PDF if it is short; "" if there is none.
    """
    text = text[:20_000].lstrip("\ufeff")
    if kind == "md":
        title = _markdown_title(text)
    elif kind == "html":
        found = re.search(r"(?is)<title[^>]*>(.*?)</title>", text) or re.search(r"(?is)<h1[^>]*>(.*?)</h1>", text)
        title = html.unescape(re.sub(r"<[^>]+>", "", found[1])) if found else ""
    else:
        found = re.match(rf"\s*([^\r\n\f]{{1,{MAX_TITLE_CHARS}}})(?=[\r\n\f]|\Z)", text)
        title = found[1] if found and kind != "code" else ""
    return " ".join(title.split())


def _markdown_title(text: str) -> str:
    front = re.match(r"---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", text, re.DOTALL)
    if front and (named := re.search(r"(?m)^title:[ \t]*([^\r\n]+)", front[1])):
        return named[1].strip().strip("'\"")
    prose = re.sub(r"(?ms)^ {0,3}(```+|~~~+).*?^ {0,3}\1", "", text[front.end() :] if front else text)
    found = re.search(r"(?m)^ {0,3}#[ \t]+(\S[^\r\n]*?)[ \t#]*\r?$|^(\S[^\r\n]*)\r?\n=+[ \t]*\r?$", prose)
    return (found[1] or found[2]) if found else ""
