"""Records: whole or not at all, readable by others, never NaN."""

from __future__ import annotations

import gzip
import json
import os
import re
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.errors import StoreError
from bench.shapes import HEADER, RECORD
from bench.store import (
    PointRecord,
    Sweep,
    read_json_lines,
    read_object,
    to_json,
    trec_run,
    write_bytes,
    write_json,
    write_json_lines,
)
from bench.types import Document


def record(point_id: str, status: str = "complete", duplicate_of: str | None = None) -> PointRecord:
    return PointRecord(point_id, "a point", status, {}, {}, {}, {}, {}, {}, {}, duplicate_of=duplicate_of)


def test_nan_is_refused_and_null_is_written() -> None:
    assert to_json({"m": None}) == '{"m":null}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"m": float("nan")})


def test_lines_survive_every_line_separator_of_unicode(tmp_path: Path) -> None:
    rows = [{"text": "a\u2028b\u0085c\r\nd"}, {"text": "漢字 🧪"}]
    for name in ("x.jsonl", "x.jsonl.gz"):
        write_json_lines(tmp_path / name, rows)
        assert read_json_lines(tmp_path / name) == rows


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n{"a": \n', encoding="utf-8")
    with pytest.raises(StoreError, match=r"x\.jsonl:2: is not JSON"):
        read_json_lines(tmp_path / "x.jsonl")


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be written"):
        write_json(tmp_path / "file" / "record.json", {})


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """A file size limit is a full disk as the kernel reports it: writing fails half-way."""
    path = tmp_path / "record.json"
    write_bytes(path, b"old")
    code = (
        "import resource, signal, sys\nfrom pathlib import Path\nfrom bench.store import write_bytes\n"
        "from bench.errors import StoreError\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try:\n    write_bytes(Path(sys.argv[1]), b'x' * 100000)\n"
        "except StoreError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert "cannot be written (File too large)" in done.stdout
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["record.json"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 100


def test_only_a_complete_record_counts_as_done(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path)
    assert not sweep.has("a")
    sweep.write_point(record("a", "failed"))
    assert not sweep.has("a")
    sweep.write_point(record("a"), [{"question_id": "q"}], "")
    assert sweep.has("a")


def test_a_duplicate_reads_the_questions_of_its_twin(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path)
    sweep.write_point(record("a"), [{"question_id": "q"}], "")
    twin = record("b", duplicate_of="a")
    sweep.write_point(twin)
    assert sweep.questions(twin) == [{"question_id": "q"}]
    assert not (sweep.point_dir("b") / "questions.jsonl").exists()


def test_a_folder_without_a_sweep_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no sweep"):
        Sweep.open(tmp_path)


def test_records_of_another_schema_are_refused(tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text(json.dumps({"schema_version": 99}), encoding="utf-8")
    with pytest.raises(StoreError, match="written by another version"):
        Sweep.open(tmp_path).header()


def test_trec_ids_are_spans_and_stay_unique() -> None:
    rows = [{"question_id": "q 1", "hits": [["a b.md", 0, 5, 0.5, 0, 5], ["a b.md", 0, 5, 0.25, 0, 5]]}]
    assert trec_run(rows, "tag").splitlines() == [
        "q%201 Q0 a%20b.md:0-5 1 0.5 tag",
        "q%201 Q0 a%20b.md:0-5#2 2 0.25 tag",
    ]


@pytest.mark.parametrize("text", ["[]", "{}", '{"x":', "\x00", '{"point_id": "a", "status": "complete"}'])
def test_a_broken_record_is_one_line(tmp_path: Path, text: str) -> None:
    sweep = Sweep(tmp_path)
    sweep.write_point(record("a"))
    (sweep.point_dir("a") / "record.json").write_text(text, encoding="utf-8")
    with pytest.raises(StoreError, match=r"record\.json: .*run the sweep again") as caught:
        sweep.record("a")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("header", [[], {"schema_version": 1}, {"schema_version": 1, "points": []}])
def test_a_broken_header_is_one_line(tmp_path: Path, header: object) -> None:
    write_json(tmp_path / "sweep.json", header)
    with pytest.raises(StoreError, match=r"sweep\.json: .*run the sweep again"):
        Sweep.open(tmp_path).records()


@pytest.mark.parametrize("data", [b"\xff\xfe", b"[]\n", b"{", b"3\n"])
def test_broken_rows_are_one_line(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "rows.jsonl").write_bytes(data)
    with pytest.raises(StoreError, match=r"rows\.jsonl"):
        read_json_lines(tmp_path / "rows.jsonl")


@pytest.mark.parametrize("size", [5, 15, 40])
def test_a_cut_archive_is_one_line(tmp_path: Path, size: int) -> None:
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(b'{"a": "many letters: abcdefghijklmnop"}\n')[:size])
    with pytest.raises(StoreError, match="cannot be read"):
        read_json_lines(tmp_path / "rows.jsonl.gz")


def kept(folder: Path) -> Sweep:
    """A sweep of one point, whole."""
    sweep = Sweep(folder)
    header = {name: kind() for name, kind in HEADER.items() if isinstance(kind, type)}
    write_json(folder / "sweep.json", header | {"schema_version": 1, "points": ["a"], "corpus": {"questions": 1}})
    row = {"question_id": "q", "cluster": "d", "hits": [], "scores": {}}
    sweep.write_point(replace(record("a"), estimates={"m": {"mean": None}}), [row])
    sweep.write_inputs([Document("d", "text", "x", {})], [{"question_id": "q"}])
    return sweep


def all_of(sweep: Sweep) -> None:
    """Read everything that commands read of a sweep."""
    for one in Sweep.open(sweep.folder).records():
        sweep.questions(one)
        sweep.run_text(one)
    sweep.documents()
    sweep.golden()


FILES = ["sweep.json", "points/a/record.json", "points/a/questions.jsonl", "documents.jsonl.gz", "golden.jsonl"]
GARBAGE = [
    b"",
    b"\x00",
    b"caf\xe9",
    b"[]",
    b"3\n",
    b'{"x": 1}\n',
    b"[" * 200_000,
    b"x" * 5_000_000,
    b'{"schema_version": 0}',
]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("data", GARBAGE, ids=range(len(GARBAGE)))
def test_whatever_stands_in_a_file_is_one_line(tmp_path: Path, name: str, data: bytes) -> None:
    sweep = kept(tmp_path)
    all_of(sweep)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    if not data and name in ("documents.jsonl.gz", "golden.jsonl"):
        return  # no document and no question is an empty list
    with pytest.raises(StoreError, match=re.escape(name)) as caught:
        all_of(sweep)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    assert re.search(r"again", str(caught.value))


@pytest.mark.parametrize("name", [*FILES[2:], "points/a/run.trec"])
def test_a_folder_in_place_of_a_file_is_one_line(tmp_path: Path, name: str) -> None:
    sweep = kept(tmp_path)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(StoreError, match=f"{re.escape(name)}.*again"):
        all_of(sweep)


@pytest.mark.parametrize("key", [*HEADER, "schema_version"])
def test_a_header_value_of_another_kind_is_named(tmp_path: Path, key: str) -> None:
    sweep = kept(tmp_path)
    write_json(tmp_path / "sweep.json", read_object(tmp_path / "sweep.json") | {key: 1.5})
    with pytest.raises(StoreError, match=rf"sweep\.json: .*{key}"):
        all_of(sweep)


@pytest.mark.parametrize("key", [*RECORD, "schema_version"])
def test_a_record_value_of_another_kind_is_named(tmp_path: Path, key: str) -> None:
    sweep, path = kept(tmp_path), tmp_path / "points" / "a" / "record.json"
    write_json(path, read_object(path) | {key: 1.5})
    with pytest.raises(StoreError, match=rf"record\.json: .*{key}"):
        all_of(sweep)


@pytest.mark.parametrize("found", [None, [], {}, {"mean": "high"}])
def test_an_estimate_without_a_mean_is_named(tmp_path: Path, found: object) -> None:
    sweep, path = kept(tmp_path), tmp_path / "points" / "a" / "record.json"
    write_json(path, read_object(path) | {"estimates": {"recall": found}})
    with pytest.raises(StoreError, match="estimates of 'recall' have no mean"):
        all_of(sweep)


def test_a_point_whose_questions_are_gone_runs_again(tmp_path: Path) -> None:
    sweep = kept(tmp_path)
    assert sweep.has("a")
    (tmp_path / "points" / "a" / "questions.jsonl").unlink()
    assert not sweep.has("a")
