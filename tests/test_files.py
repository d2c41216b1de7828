"""What a writer that was killed left is removed by a later run; what a live one is writing is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.errors import StoreError
from bench.files import STALE_S, remove, remove_stale, write_bytes

HANGS = """
import os, sys, time
from pathlib import Path
from bench.files import write_bytes
def hang(handle):
    print("writing", flush=True)
    time.sleep(60)
os.fsync = hang
write_bytes(Path(sys.argv[1]), b"new")
"""


def test_a_killed_writers_part_is_removed_and_a_live_ones_is_not(tmp_path: Path) -> None:
    path = tmp_path / "points" / "a" / "record.json"
    write_bytes(path, b"old")
    writer = subprocess.Popen([sys.executable, "-c", HANGS, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        if writer.stdout is None or writer.stdout.readline() != "writing\n":
            pytest.fail("the writer does not write")
        assert len(os.listdir(path.parent)) == 2
        assert remove_stale(tmp_path) == []
    finally:
        writer.kill()
        writer.communicate()
    (left,) = [name for name in os.listdir(path.parent) if name != "record.json"]
    assert remove_stale(tmp_path) == [path.parent / left]
    assert os.listdir(path.parent) == ["record.json"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("name", [".record.json.other-host-1.abcd_123.part", ".x.h-99999999999999999999.abcdefgh.part"])
def test_the_part_of_another_machine_is_removed_when_it_is_a_day_old(tmp_path: Path, name: str) -> None:
    part = tmp_path / name
    part.touch()
    assert remove_stale(tmp_path) == []
    os.utime(part, (0, part.stat().st_mtime - STALE_S - 60))
    assert remove_stale(tmp_path) == [part]


@pytest.mark.parametrize("name", [".notes", "record.json", ".record.json.bak", "a.h-1.abcdefgh.part", ".hydra.part"])
def test_no_other_file_is_removed_however_old(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    os.utime(tmp_path / name, (0, 0))
    assert remove_stale(tmp_path) == []


def test_what_cannot_be_removed_is_one_error_of_the_store(tmp_path: Path) -> None:
    remove(tmp_path / "nothing there")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError, match=r"folder: cannot be removed \(.+\); "):
        remove(tmp_path / "folder")


def test_a_name_as_long_as_the_disk_allows_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 120 + ".json")
    write_bytes(path, b"x")
    assert path.read_bytes() == b"x"
    assert len(os.listdir(tmp_path)) == 1
