"""Importers: each turns one foreign golden set into documents and rows of golden.jsonl."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from bench.corpus.importers import beir, chroma, legalbench, rows, shared, squad
from bench.corpus.importers.base import ImportResult
from bench.errors import ConfigError, GoldenError, StoreError, near

IMPORTERS: dict[str, Callable[[Path], ImportResult]] = {
    "beir": beir.read,
    "chroma": chroma.read,
    "legalbench": legalbench.read,
    "rows": rows.read,
    "shared": shared.read,
    "squad": squad.read,
}


def run_import(name: str, source: Path, target: Path) -> ImportResult:
    """Read ``source`` by the importer ``name``; write ``target/documents/<doc_id>`` and ``target/golden.jsonl``.

    The target appears complete or not at all.

    Raises:
        ConfigError: there is no importer of that name.
        GoldenError: the source is missing or malformed, or a document id is no safe relative path.
        StoreError: the target exists and is not empty, or cannot be written.
    """
    if name not in IMPORTERS:
        raise ConfigError(f"golden import: no format {name!r}; {near(name, IMPORTERS)}")
    if not source.exists():
        raise GoldenError(f"{source}: no such file or folder; expected a set in the format {name!r}")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise StoreError(f"{target}: exists and is not an empty folder; name a new one, nothing was written")
    result = IMPORTERS[name](source)
    files = _files(result)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as scratch:
            whole = Path(scratch) / "set"
            for path, content in files.items():
                (whole / path).parent.mkdir(parents=True, exist_ok=True)
                (whole / path).write_bytes(content)
            os.replace(whole, target)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written ({error.strerror}); nothing was left there") from error
    return result


def _files(result: ImportResult) -> dict[str, bytes]:
    """Content by path under the target."""
    files = {f"documents/{_safe(doc_id)}": _encode(doc_id, text) for doc_id, text in result.documents}
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in result.questions]
    return {**files, "golden.jsonl": _encode("golden.jsonl", "".join(lines))}


def _safe(doc_id: str) -> str:
    path = PurePosixPath(doc_id)
    if path.is_absolute() or ".." in path.parts or path.as_posix() != doc_id or "\0" in doc_id or not path.name:
        raise GoldenError(f"document id {doc_id!r} is no safe path; expected a relative one such as guide/intro.txt")
    return doc_id


def _encode(name: str, text: str) -> bytes:
    if "\0" in text:
        raise GoldenError(f"{name}: character {text.index(chr(0))} is NUL; expected text")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise GoldenError(
            f"{name}: character {error.start} is half of a surrogate pair; expected Unicode text"
        ) from error
