"""What a sweep leaves on disk: written whole or not at all, read back by every later command."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.errors import StoreError
from bench.files import write_bytes as write_bytes
from bench.shapes import DOCUMENT, GOLDEN, HEADER, RECORD, ROW, check, check_estimates
from bench.types import Document

SCHEMA_VERSION = 1
AGAIN = "run the sweep again"


def to_json(value: Any, *, indent: int | None = None) -> str:
    """Serialise with null for what is undefined; NaN and infinity are refused."""
    separators = (",", ":") if indent is None else None
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as indented JSON, atomically."""
    write_bytes(path, (to_json(value, indent=1) + "\n").encode("utf-8", "surrogatepass"))


def write_json_lines(path: Path, rows: Iterable[Any]) -> None:
    """Write one compact JSON value a line, atomically; gzip when the name ends in .gz."""
    data = "".join(to_json(row) + "\n" for row in rows).encode("utf-8", "surrogatepass")
    write_bytes(path, gzip.compress(data, 6, mtime=0) if path.suffix == ".gz" else data)


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        StoreError: it is missing or broken.
    """
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"{path}: is not JSON ({error}); if bench wrote it, delete it and run the sweep again"
        ) from error


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON file that holds one object.

    Raises:
        StoreError: it is missing or broken, or holds something else.
    """
    found = read_json(path)
    if not isinstance(found, dict):
        raise StoreError(f"{path}: holds no JSON object; delete it and run the sweep again")
    return found


def read_json_lines(path: Path) -> list[Any]:
    """Read a JSON Lines file of objects (gzip when the name ends in .gz).

    Raises:
        StoreError: it is missing or broken; names the line.
    """
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = data.decode("utf-8", "surrogatepass")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"{path}: cannot be read ({reason}); delete it and run the sweep again") from error
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if line:
            try:
                rows.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise StoreError(f"{path}:{number}: is not JSON ({error}); delete the point and run again") from error
            if not isinstance(rows[-1], dict):
                raise StoreError(f"{path}:{number}: holds no JSON object; delete the point and run again")
    return rows


@dataclass(frozen=True, slots=True)
class PointRecord:
    """The record of one point, as in its ``record.json``; see ``bench/pipeline.py`` for what each part holds."""

    point_id: str
    label: str
    status: str
    axes: Mapping[str, Any]
    config: Mapping[str, Any]
    provenance: Mapping[str, Any]
    realised: Mapping[str, Any]
    timings_s: Mapping[str, float]
    cost: Mapping[str, Any]
    estimates: Mapping[str, Mapping[str, Any]]
    reason: str = ""
    duplicate_of: str | None = None
    identity: str = ""
    schema_version: int = SCHEMA_VERSION

    def mean(self, measure: str) -> float | None:
        """Mean of a measure over its scored questions; None where undefined or absent."""
        estimate = self.estimates.get(measure)
        return None if estimate is None else estimate["mean"]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep's folder."""

    folder: Path

    @classmethod
    def open(cls, folder: Path) -> Sweep:
        """Open an existing sweep.

        Raises:
            StoreError: the folder holds no sweep.
        """
        if not (folder / "sweep.json").is_file():
            raise StoreError(f"{folder}: holds no sweep (no sweep.json); give the folder that bench sweep wrote")
        return cls(folder)

    def header(self) -> dict[str, Any]:
        """Content of sweep.json."""
        path = self.folder / "sweep.json"
        header = read_object(path)
        _check_version(path, header.get("schema_version"))
        check(header, HEADER, path, AGAIN)
        if not all(isinstance(name, str) for name in header["points"]):
            raise StoreError(f"{path}: points are no list of names; {AGAIN}")
        return header

    def point_dir(self, point_id: str) -> Path:
        """Folder of one point."""
        return self.folder / "points" / point_id

    def has(self, point_id: str) -> bool:
        """True if the point is there and complete: it need not run again."""
        path = self.point_dir(point_id) / "record.json"
        found = read_object(path) if path.is_file() else {}
        kept = found.get("duplicate_of") or (path.parent / "questions.jsonl").is_file()
        return found.get("status") == "complete" and bool(kept)

    def record(self, point_id: str) -> PointRecord:
        """Read one record.

        Raises:
            StoreError: it is missing or broken.
        """
        path = self.point_dir(point_id) / "record.json"
        raw = read_object(path)
        _check_version(path, raw.get("schema_version", SCHEMA_VERSION))
        check(raw, RECORD, path, f"delete it and {AGAIN}")
        check_estimates(raw["estimates"], path, f"delete it and {AGAIN}")
        return PointRecord(**{name: raw[name] for name in PointRecord.__dataclass_fields__ if name in raw})

    def records(self, leave_out: Container[str] = ()) -> list[PointRecord]:
        """The points that the last run of the sweep asked for and that have a record, in its order."""
        names = [name for name in self.header()["points"] if name not in leave_out]
        return [self.record(name) for name in names if (self.point_dir(name) / "record.json").is_file()]

    def write_point(self, record: PointRecord, questions: Iterable[Any] = (), run: str = "") -> None:
        """Write a point's files, the record last: a point without a record never ran."""
        folder = self.point_dir(record.point_id)
        if record.status == "complete" and record.duplicate_of is None:
            write_json_lines(folder / "questions.jsonl", questions)
            write_bytes(folder / "run.trec", run.encode("utf-8", "surrogatepass"))
        write_json(folder / "record.json", {n: getattr(record, n) for n in PointRecord.__dataclass_fields__})

    def questions(self, record: PointRecord) -> list[dict[str, Any]]:
        """Per-question rows of a point (of the point it duplicates, where it does)."""
        path = self.point_dir(record.duplicate_of or record.point_id) / "questions.jsonl"
        rows, has_header = read_json_lines(path), (self.folder / "sweep.json").is_file()
        asked = self.header()["corpus"].get("questions") if has_header else None
        if asked is not None and len(rows) != asked:
            raise StoreError(f"{path}: has {len(rows)} of {asked} questions; delete the point's folder and run again")
        for number, row in enumerate(rows if has_header else [], 1):
            check(row, ROW, f"{path}:{number}", "delete the point's folder and run again")
        return rows

    def run_text(self, record: PointRecord) -> str:
        """The TREC run of a point (of the point it duplicates, where it does)."""
        path = self.point_dir(record.duplicate_of or record.point_id) / "run.trec"
        try:
            return path.read_bytes().decode("utf-8", "surrogatepass")
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(f"{path}: cannot be read ({error}); delete the point's folder and run again") from error

    def write_inputs(self, documents: Iterable[Document], golden: Iterable[Mapping[str, Any]]) -> None:
        """Keep what the sweep ran on, so that reports need nothing else."""
        rows = ({"doc_id": d.doc_id, "format": d.format, "text": d.text, "meta": dict(d.meta)} for d in documents)
        write_json_lines(self.folder / "documents.jsonl.gz", rows)
        write_json_lines(self.folder / "golden.jsonl", golden)

    def documents(self) -> tuple[Document, ...]:
        """The documents that the sweep ran on."""
        return tuple(Document(**{name: row[name] for name in DOCUMENT}) for row in self._inputs("documents.jsonl.gz"))

    def golden(self) -> list[dict[str, Any]]:
        """The golden questions as rows of our own format."""
        return self._inputs("golden.jsonl")

    def _inputs(self, name: str) -> list[dict[str, Any]]:
        path = self.folder / name
        rows = read_json_lines(path)
        for number, row in enumerate(rows, 1):
            check(row, GOLDEN if name == "golden.jsonl" else DOCUMENT, f"{path}:{number}", f"delete it and {AGAIN}")
        return rows


def _check_version(path: Path, version: object) -> None:
    if version != SCHEMA_VERSION:
        raise StoreError(
            f"{path}: schema_version {version!r} was written by another version (this is {SCHEMA_VERSION}); {AGAIN}"
        )


def trec_run(rows: Iterable[Mapping[str, Any]], tag: str) -> str:
    """Format rankings as a TREC run whose document ids are ``doc_id:start-end``; blanks in ids become ``%20``.

    Equal spans in one ranking (several views of one passage) are told apart by ``#2``, ``#3``…: TREC allows an id once.
    """
    return "".join(_trec_lines(row, tag) for row in rows)


def _trec_lines(row: Mapping[str, Any], tag: str) -> str:
    seen: dict[str, int] = {}
    lines = []
    question = _token(row["question_id"])
    for rank, (doc_id, start, end, score, *_rest) in enumerate(row["hits"], 1):
        name = f"{_token(doc_id)}:{start}-{end}" if doc_id is not None else f"unplaced:{rank}"
        seen[name] = seen.get(name, 0) + 1
        suffix = f"#{seen[name]}" if seen[name] > 1 else ""
        lines.append(f"{question} Q0 {name}{suffix} {rank} {score!r} {tag}\n")
    return "".join(lines)


def _token(name: str) -> str:
    return "".join(f"%{ord(c):02X}" if c.isspace() else c for c in name)
