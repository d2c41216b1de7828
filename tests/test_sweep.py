"""The whole path, with a real (static) model: sweep, resume, failures, duplicates, bad input, exit codes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import main
from bench.pipeline import execute
from bench.plan import plan_sweep
from bench.report.data import SweepData
from bench.session import Session
from bench.store import Sweep
from tests.small import QUESTIONS, write_corpus


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Command of a sweep over the small corpus, run in a folder of its own."""
    documents, golden = write_corpus(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    corpus = [f"corpus.documents={documents}", f"corpus.golden={golden}"]
    return ["sweep", "corpus=folder", *corpus, "embedder=static", "generator=none", "sweep.name=t"]


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {str(p): (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.rglob("*") if p.is_file()}


def point_files() -> dict[str, tuple[int, bytes]]:
    return files(Path("results/t/points"))


def test_a_sweep_writes_every_record_and_figure(base: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*base, "chunker=recursive,markdown", "chunker.size=16,32", "chunker.overlap=0,0.25"]) == 0
    data = SweepData.read(Path("results/t"))
    assert len(data.points) + len(data.duplicates) == 8
    for record in data.points:
        assert record.estimates["span_recall@tokens=2000"]["n_scored"] == len(QUESTIONS) - 1
        assert record.estimates["span_recall@tokens=2000"]["n_undefined"] == 1
        assert record.estimates["span_recall@tokens=2000"]["mean"] == 1.0
        assert 0 < record.estimates["span_recall@k=1"]["mean"] <= 1
        assert record.realised["chunks"] > 4
    for name in ("budget", "tradeoff", "heatmap"):
        assert Path(f"results/t/figures/{name}.svg").read_text(encoding="utf-8").startswith("<?xml")
        assert Path(f"results/t/figures/{name}.png").read_bytes().startswith(b"\x89PNG")
    shown = capsys.readouterr().out
    assert "Best by evidence recall at 2,000 tokens" in shown
    assert "wrote results/t/summary.csv" in shown
    assert len(Path("results/t/summary.csv").read_text(encoding="utf-8").splitlines()) == 9


def test_scores_can_be_recomputed_from_the_trec_run(base: list[str]) -> None:
    """Anyone can: ids are spans, so recall@k is the share of gold characters under the first k ids."""
    assert main([*base, "chunker.size=16"]) == 0
    data = SweepData.read(Path("results/t"))
    golden = {r["question_id"]: r for r in map(json.loads, Path("results/t/golden.jsonl").read_text().splitlines())}
    texts = {document.doc_id: document.text for document in Sweep(Path("results/t")).documents()}
    found: dict[str, set[tuple[str, int]]] = {}
    for line in (Path("results/t/points") / data.points[0].point_id / "run.trec").read_text().splitlines():
        question, _, name, rank, _, _ = line.split()
        doc_id, _, span = name.rpartition(":")
        start, end = map(int, span.split("-"))
        if int(rank) <= 3:
            found.setdefault(question, set()).update((doc_id, i) for i in range(start, end))
    for row in data.rows[0]:
        gold = {
            (piece["doc_id"], i)
            for piece in golden[row["question_id"]].get("evidence", [])
            for i in range(piece["start"], piece["end"])
            if not texts[piece["doc_id"]][i].isspace()
        }
        if gold:
            recall = len(gold & found[row["question_id"]]) / len(gold)
            assert row["scores"]["span_recall@k=3"] == pytest.approx(recall, abs=1e-8)
        else:
            assert row["scores"]["span_recall@k=3"]["status"] == "undefined"


def test_a_second_run_repeats_nothing(base: list[str]) -> None:
    command = [*base, "chunker.size=16,32"]
    assert main(command) == 0
    before = point_files()
    assert main(command) == 0
    assert point_files() == before


def test_cached_vectors_give_the_same_records(base: list[str]) -> None:
    import shutil

    command = [*base, "chunker.size=16"]
    assert main(command) == 0
    first = SweepData.read(Path("results/t"))
    rows = first.rows
    shutil.rmtree("results")
    assert main(command) == 0
    again = SweepData.read(Path("results/t"))
    assert [p.estimates for p in again.points] == [p.estimates for p in first.points]
    assert again.rows == rows
    assert rows
    assert again.points[0].cost["embedded_now_tokens"] == 0


def test_other_questions_are_another_point(base: list[str], tmp_path: Path) -> None:
    assert main([*base, "chunker.size=16"]) == 0
    golden = tmp_path / "mine" / "golden.jsonl"
    golden.write_text("\n".join(golden.read_text(encoding="utf-8").splitlines()[:-2]) + "\n", encoding="utf-8")
    assert main([*base, "chunker.size=16"]) == 0
    data = SweepData.read(Path("results/t"))
    assert len(data.points) == 1
    assert len(data.question_ids) == len(QUESTIONS) - 2


def test_equal_chunkings_are_computed_once_and_shown_as_one(
    base: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Documents shorter than the chunk: every setting cuts them alike, so there is nothing to compare."""
    assert main([*base, "chunker=recursive,tokens", "chunker.size=4000,5000", "chunker.strip=true"]) == 0
    data = SweepData.read(Path("results/t"))
    assert len(data.points) == 1
    assert [record.duplicate_of for record in data.duplicates] == [data.points[0].point_id] * 3
    assert capsys.readouterr().out.count("same chunks:") == 3


def test_what_another_process_has_computed_meanwhile_is_not_computed_again(base: list[str]) -> None:
    command = [*base, "chunker.size=8,4000,5000"]
    assert main(command) == 0
    points, sweep = plan_sweep(command[1:]).points, Sweep(Path("results/t"))
    shutil.rmtree("results/t/points")
    ours, other = Session.of(points[0]), Session.of(points[0])
    execute(points[0], ours, sweep)
    execute(points[1], other, sweep)
    execute(points[1], ours, sweep)
    execute(points[2], ours, sweep)
    assert [sweep.record(ours.point_id(point)).duplicate_of for point in points] == [
        None,
        None,
        ours.point_id(points[1]),
    ]


@pytest.mark.parametrize(
    "lost", ["documents.jsonl.gz", "golden.jsonl", "points/*/questions.jsonl", "points/*/record.json"]
)
def test_a_lost_file_comes_back_with_the_same_command(base: list[str], lost: str) -> None:
    command = [*base, "chunker.size=16"]
    assert main(command) == 0
    (path,) = Path("results/t").glob(lost)
    before = path.read_bytes()
    path.unlink()
    assert main(command) == 0
    assert lost.endswith("record.json") or path.read_bytes() == before
    assert main(["report", "results/t"]) == 0


class Breaks:
    """A chunker of a user's that fails on one document."""

    def __call__(self, text: str) -> list[str]:
        if "lamp" in text:
            raise RuntimeError("no chunks\nfor this one")
        return [text]


def test_a_point_that_fails_is_recorded_and_the_others_are_kept(
    base: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*base, "chunker=custom,recursive", "+chunker.target=tests.test_sweep.Breaks"]) == 2
    capsys.readouterr()
    assert main([*base, "chunker=custom", "chunker.target=tests.test_sweep.Breaks"]) == 3
    data = SweepData.read(Path("results/t"))
    assert [record.status for record in data.failed] == ["failed"]
    assert "no chunks" in data.failed[0].reason
    assert "\n" not in data.failed[0].reason
    assert "failed: custom" in capsys.readouterr().out
    assert "failed" in Path("results/t/summary.csv").read_text(encoding="utf-8")


BAD: list[tuple[list[str], str]] = [
    (["chunker=recursiv"], "chunker: got 'recursiv'; allowed: .*did you mean 'recursive'"),
    (["chunker.siz=3"], "chunker.siz: no such setting; .*did you mean 'chunker.size'"),
    (["chunker.size=big"], r"chunker.size: got 'big'"),
    (["chunker.size=0"], r"size.*0"),
    (["chunker.size=16,64", "chunker.overlap=0,32"], r"overlap.*32.*16"),
    (["embedder=minilmm"], "embedder: got 'minilmm'; allowed: .*did you mean 'minilm'"),
    (["embedder=minilm", "embedder.model=/nowhere/at-all"], "/nowhere/at-all"),
    (["tokenizer=minilm,cl100k"], "tokenizer: got several values"),
    (["tokenizer=nosuch"], "nosuch"),
    (["scoring.headline_tokens=77"], "headline_tokens: 77 is not one of"),
    (["scorin.ks=[1]"], "scorin"),
    (["corpus.documents=/nowhere/at-all"], "/nowhere/at-all"),
    (["corpus.golden=/nowhere/golden.jsonl"], "/nowhere/golden.jsonl"),
    (["sweep.name=a/b"], "sweep.name: got 'a/b'"),
    (["chunker.size="], "chunker.size"),
    (["experiment=quick"], "experiment: got 'quick'; allowed: .*quickstart"),
    (["chunker.size"], "command line: "),
    (["chunker=[recursive"], "command line: "),
]


@pytest.mark.parametrize(
    ("extra", "message"), BAD, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_bad_input_is_one_line_and_nothing_is_written(
    base: list[str], extra: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import re

    assert main([*base, *extra]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert re.search(message, error)
    assert not Path("results").exists()


def test_results_that_cannot_be_written_are_one_line(base: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("results").write_text("a file in the way", encoding="utf-8")
    assert main(base) == 2
    assert "results" in capsys.readouterr().err
    assert Path("results").read_text(encoding="utf-8") == "a file in the way"


def start(command: list[str], folder: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    arguments: list[Any] = [sys.executable, "-m", "bench", *command]
    return subprocess.Popen(arguments, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wait_for_records(running: subprocess.Popen[bytes], points: Path) -> None:
    deadline = time.monotonic() + 120
    while len(list(points.glob("*/record.json"))) < 3 and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_sweep_says_so_in_one_line_and_goes_on(
    base: list[str], tmp_path: Path, number: int, code: int
) -> None:
    command = [*base, "chunker.size=range(8,40,2)"]
    running = start(command, tmp_path)
    points = tmp_path / "results" / "t" / "points"
    wait_for_records(running, points)
    running.send_signal(number)
    _, told = running.communicate()
    assert running.returncode == code
    *progress, empty, last = told.decode().splitlines()
    assert all(line.startswith("[") for line in progress)
    assert (empty, last) == ("", "bench sweep: interrupted; what was finished is kept, run the same command to go on")
    kept = len(list(points.glob("*/record.json")))
    assert 3 <= kept < 16
    assert not list((tmp_path / "results").rglob(".*.part"))
    assert main(command) == 0
    assert not SweepData.read(Path("results/t")).failed


def test_a_killed_sweep_goes_on_where_it_was(base: list[str], tmp_path: Path) -> None:
    command = [*base, "chunker.size=8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38"]
    running = start(command, tmp_path)
    points = tmp_path / "results" / "t" / "points"
    wait_for_records(running, points)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    left = points / ".record.json.elsewhere-1.abcdefgh.part"
    left.touch()
    os.utime(left, (0, 0))
    kept = {path: path.stat().st_mtime_ns for path in points.glob("*/record.json")}
    assert 3 <= len(kept) < 16
    assert main(command) == 0
    assert len(list(points.glob("*/record.json"))) == 16
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert not list(points.rglob(".*"))
    for path in points.glob("*/questions.jsonl"):
        assert len(path.read_text(encoding="utf-8").splitlines()) == len(QUESTIONS)
