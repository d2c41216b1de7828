"""Reading foreign files: every message names the place (file:line, or the path inside a JSON value)."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from bench.errors import GoldenError

Row = dict[str, Any]
_KINDS = {str: "a string", list: "a list", dict: "an object", int: "a whole number"}
_CSV_FIELD_CHARS = 1 << 30


def refuse(where: str, wrong: str, expected: str) -> NoReturn:
    """Raise the GoldenError of one place: where, what is wrong, what is expected."""
    raise GoldenError(f"{where}: {wrong}; expected {expected}")


def get(where: str, row: Row, key: str, kind: type) -> Any:
    """Return ``row[key]``, checked to be of ``kind``.

    Raises:
        GoldenError: the key is absent or its value is of another kind.
    """
    if key not in row:
        refuse(where, f"key {key!r} is missing (found: {', '.join(map(str, row)) or 'none'})", _KINDS[kind])
    value = row[key]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        refuse(where, f"{key!r} is {shorten(repr(value))}", _KINDS[kind])
    return value


def objects(where: str, row: Row, key: str) -> Iterator[tuple[str, Row]]:
    """Yield each object of the list ``row[key]`` with its place.

    Raises:
        GoldenError: it is not a list of objects.
    """
    for number, item in enumerate(get(where, row, key, list)):
        place = f"{where} {key}[{number}]"
        if not isinstance(item, dict):
            refuse(place, f"found {shorten(repr(item))}", "an object")
        yield place, item


def shorten(text: str, width_chars: int = 60) -> str:
    """Return ``text`` on one line, cut to ``width_chars`` characters."""
    line = " ".join(text.split())
    return repr(line if len(line) <= width_chars else line[: width_chars - 1] + "…")


def file_name(title: str, suffix: str, taken: Iterable[str]) -> str:
    """Return a file name for ``title``, safe on every system and not (but for case) one of ``taken``."""
    stem = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", title)).strip("._")[:80] or "untitled"
    used = {name.casefold() for name in taken}
    name, number = stem + suffix, 1
    while name.casefold() in used:
        number += 1
        name = f"{stem}_{number}{suffix}"
    return name


def read_text(path: Path, *, encoding: str = "utf-8") -> str:
    """Return the text of a file, newlines untouched.

    Raises:
        GoldenError: it cannot be read or is not UTF-8.
    """
    try:
        return path.read_bytes().decode(encoding)
    except OSError as error:
        refuse(str(path), f"cannot be read ({error.strerror})", "a readable file")
    except UnicodeDecodeError as error:
        refuse(str(path), f"byte {error.start} is not UTF-8", "UTF-8 text")


def read_folder(folder: Path) -> dict[str, str]:
    """Return doc_id (NFC) and text of every file under ``folder``; hidden ones are left out.

    Raises:
        GoldenError: it is no folder, or a file is not UTF-8 text.
    """
    if not folder.is_dir():
        refuse(str(folder), "no such folder", "a folder of documents")
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [(path, path.relative_to(folder)) for path in paths]
    shown = [(path, name) for path, name in names if not any(part.startswith(".") for part in name.parts)]
    return {unicodedata.normalize("NFC", name.as_posix()): read_text(path) for path, name in shown}


def read_json(path: Path) -> Any:
    """Return the value of a JSON file.

    Raises:
        GoldenError: it cannot be read or is not JSON.
    """
    try:
        return json.loads(read_text(path, encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        refuse(f"{path}:{error.lineno}", f"not JSON ({error.msg})", "one JSON value")


def read_json_lines(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield the place (file:line) and the object of each line that is not blank.

    Raises:
        GoldenError: a line is not a JSON object.
    """
    for number, line in enumerate(read_text(path, encoding="utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            refuse(where, f"not JSON ({error.msg})", "one JSON object a line")
        if not isinstance(row, dict):
            refuse(where, f"found {shorten(line)}", "one JSON object a line")
        yield where, row


def read_csv(path: Path, needed: Sequence[str] = ()) -> Iterator[tuple[str, Row]]:
    """Yield the place (file:line of the row's start) and the cells by column name.

    Raises:
        GoldenError: a needed column is absent, or a row is longer or shorter than the header.
    """
    csv.field_size_limit(_CSV_FIELD_CHARS)
    reader = csv.reader(io.StringIO(read_text(path, encoding="utf-8-sig"), newline=""), strict=True)
    rows = _csv_rows(path, reader)
    header = next(rows, (1, []))[1]
    for name in needed:
        if name not in header:
            refuse(f"{path}:1", f"column {name!r} is missing (found: {', '.join(header)})", f"{', '.join(needed)}")
    for number, cells in rows:
        where = f"{path}:{number}"
        if cells and len(cells) != len(header):
            refuse(where, f"{len(cells)} cells", f"{len(header)}, as in the header")
        if cells:
            yield where, dict(zip(header, cells, strict=True))


def _csv_rows(path: Path, reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the line it starts on."""
    start = 1
    try:
        for cells in reader:
            yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        refuse(f"{path}:{start}", f"not CSV ({error})", "comma-separated cells, quoted as RFC 4180 says")
