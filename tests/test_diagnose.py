"""Every cause of a miss, made on purpose; the evidence for it is what was made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.__main__ import main
from bench.borders import chunking_file
from bench.layout import Layout
from bench.report.causes import CAUSES
from bench.report.chunkings import Borders
from bench.report.context import RoughTokenizer, context_of, without_repeats
from bench.report.data import SweepData
from bench.report.diagnosis import Finding, diagnose_point, diagnosis_of
from bench.report.figures import FIGURES
from bench.spans import intervals
from bench.store import read_json_lines, write_json_lines
from bench.types import Document
from tests.report_sweeps import BUDGET, Point, World, asked

FILLER = "Weather of the coast is told here word by word for nobody in particular. "
DOCUMENTS = {
    "fee.md": "# Fees\n\n" + FILLER * 3 + "The single fee is 42 euros. " + FILLER * 12,
    "old.md": "# Fees of last year\n\nThe single fee is 40 euros. " + FILLER * 5,
    "other.md": "# Others\n\n" + FILLER * 30,
}
QUESTION = asked(0, "What is the single fee?", [("fee.md", "The single fee is 42 euros.")], category="fact")
UNANSWERABLE = asked(1, "Who sang at the opening?", [], category="none", answerable=False)
AT = DOCUMENTS["fee.md"].index("The single fee")


def number_of(size: int) -> int:
    """Number of the window, without overlap, in which the evidence begins."""
    return AT // size


def findings(
    folder: Path, point: Point, golden: list[dict[str, Any]] | None = None, **more: Any
) -> dict[str, Finding | None]:
    """Write a sweep of one point and diagnose it."""
    world = World(DOCUMENTS, golden or [QUESTION, UNANSWERABLE], [point], **more)
    data = SweepData.read(world.write(folder / "sweep"))
    return dict(zip(data.question_ids, diagnose_point(data, 0), strict=True))


def found(folder: Path, point: Point, **more: Any) -> Finding:
    """The finding of the first question."""
    finding = findings(folder, point, **more)["q0"]
    assert finding is not None
    return finding


def others(size: int, count: int) -> list[tuple[str, int]]:
    return [("other.md", i) for i in range(count) if i * size < len(DOCUMENTS["other.md"])]


def test_nothing_is_wrong_where_the_evidence_was_handed_over(tmp_path: Path) -> None:
    assert findings(tmp_path, Point("p", 120, ranked={"q0": [("fee.md", AT // 120), ("fee.md", AT // 120 + 1)]})) == {
        "q0": None,
        "q1": None,
    }


def test_evidence_cut_by_a_border(tmp_path: Path) -> None:
    size = AT + 10
    got = found(tmp_path, Point("p", size, ranked={"q0": [("other.md", 0), ("fee.md", 0)]}))
    assert got.cause == "evidence_cut"
    assert "across 2 chunks of fee.md" in got.evidence


def test_ranked_below_the_cut_names_the_rank(tmp_path: Path) -> None:
    size = 100
    place = number_of(size)
    assert (place + 1) * size >= AT + 27
    ranked = [("fee.md", place + 3), *others(size, 5), ("fee.md", place)]
    got = found(tmp_path, Point("p", size, ranked={"q0": ranked}))
    assert (got.cause, got.rank) == ("ranked_below", 7)
    assert "rank 7; the context ends at rank" in got.evidence


def test_nothing_of_the_document_is_the_wrong_document(tmp_path: Path) -> None:
    got = found(tmp_path, Point("p", 100, ranked={"q0": others(100, 20)}))
    assert got.cause == "wrong_document"
    assert "nothing of fee.md was handed over, but other.md" in got.evidence


def test_a_superseded_revision_in_front(tmp_path: Path) -> None:
    ranked = [("old.md", 0), *others(100, 8), ("fee.md", number_of(100))]
    got = found(tmp_path, Point("p", 100, ranked={"q0": ranked}), meta={"fee.md": {"supersedes": "old.md"}})
    assert got.cause == "wrong_document"
    assert got.evidence.startswith("old.md, which fee.md replaces, is at rank 1")


def test_crowded_out_by_repeated_text(tmp_path: Path) -> None:
    """Windows that repeat nine tenths of the one before spend the budget on what is there already."""
    size, overlap = 200, 180
    place = -(-(AT + 28 - size) // (size - overlap))
    ranked = [("fee.md", place + 12 + i) for i in range(4)] + [("fee.md", place)]
    got = found(tmp_path, Point("p", size, overlap, ranked={"q0": ranked}))
    assert got.cause == "crowded_out"
    assert "without repeated text the budget would reach rank 5" in got.evidence


def test_diluted_in_a_large_chunk(tmp_path: Path) -> None:
    got = found(tmp_path, Point("p", 4000, ranked={"q0": [("other.md", 0), ("fee.md", 0)]}))
    assert got.cause == "diluted"
    assert "% of a chunk of" in got.evidence
    assert got.rank == 2


def test_truncated_by_the_embedder(tmp_path: Path) -> None:
    point = Point(
        "p", 4000, ranked={"q0": [("other.md", 0), ("fee.md", 0)]},
        provenance={"usable_tokens": 20}, realised={"truncated_chunks": 3},
    )  # fmt: skip
    got = found(tmp_path, point)
    assert got.cause == "truncated"
    assert "the embedder reads 20" in got.evidence


def test_evidence_that_a_limit_still_reads_is_not_truncated(tmp_path: Path) -> None:
    point = Point(
        "p", 4000, ranked={"q0": [("other.md", 0), ("fee.md", 0)]},
        provenance={"usable_tokens": 200}, realised={"truncated_chunks": 3},
    )  # fmt: skip
    assert found(tmp_path, point).cause == "diluted"


def test_a_text_that_changed_was_lost_at_loading(tmp_path: Path) -> None:
    world = World(DOCUMENTS, [QUESTION], [Point("p", 100, ranked={"q0": others(100, 9)})])
    folder = world.write(tmp_path / "sweep")
    rows = read_json_lines(folder / "golden.jsonl")
    rows[0]["evidence"][0]["quote"] = "The single fee is 43 euros."
    write_json_lines(folder / "golden.jsonl", rows)
    got = diagnose_point(SweepData.read(folder), 0)[0]
    assert got is not None
    assert got.cause == "lost_at_loading"


def test_evidence_in_no_chunk_was_lost(tmp_path: Path) -> None:
    world = World(DOCUMENTS, [QUESTION], [Point("p", 100, ranked={"q0": others(100, 9)})])
    folder = world.write(tmp_path / "sweep")
    data = SweepData.read(folder)
    path = chunking_file(folder, str(data.points[0].realised["chunking_fingerprint"]))
    rows = read_json_lines(path)
    for row in rows:
        row["spans"] = [s for s in row["spans"] if row["doc_id"] != "fee.md" or s[1] <= AT]
    write_json_lines(path, rows)
    got = diagnose_point(data, 0)[0]
    assert got is not None
    assert got.cause == "lost_at_loading"
    assert "in no chunk" in got.evidence


def test_a_document_that_is_not_there(tmp_path: Path) -> None:
    world = World(DOCUMENTS, [QUESTION], [Point("p", 100, ranked={"q0": others(100, 9)})])
    folder = world.write(tmp_path / "sweep")
    rows = read_json_lines(folder / "documents.jsonl.gz")
    write_json_lines(folder / "documents.jsonl.gz", [row for row in rows if row["doc_id"] != "fee.md"])
    got = diagnose_point(SweepData.read(folder), 0)[0]
    assert got is not None
    assert (got.cause, got.evidence) == ("not_in_corpus", "fee.md is not among the documents")


def test_a_scope_that_leaves_the_document_out(tmp_path: Path) -> None:
    world = World(DOCUMENTS, [QUESTION], [Point("p", 100, ranked={"q0": others(100, 9)})])
    folder = world.write(tmp_path / "sweep")
    rows = read_json_lines(folder / "golden.jsonl")
    rows[0]["scope"] = ["other.md"]
    write_json_lines(folder / "golden.jsonl", rows)
    got = diagnose_point(SweepData.read(folder), 0)[0]
    assert got is not None
    assert got.cause == "not_in_corpus"
    assert "scope leaves out fee.md" in got.evidence


def reply(status: str = "answered", **parts: Any) -> dict[str, Any]:
    """What a row keeps of an answer."""
    return {"answer": {"text": "It is 42 euros.", "status": status, "citations": [1], "reason": ""}, **parts}


CLAIM = {"claim": "It is free on Mondays.", "verdict": "unsupported", "quote": "", "passages": [], "reason": "not said"}
GOOD = {"claim": "It is 42 euros.", "verdict": "supported", "quote": "42", "passages": [1], "reason": ""}
CITED = {"claim": "It is 42 euros.", "passage": 7, "verdict": None, "reason": "source_not_found"}
ANSWERS: list[tuple[str, str, Mapping[str, Any], Mapping[str, Any], str | None]] = [
    ("q0", "fine", reply(claims=[GOOD], citations=[]), {"answer_correctness": 0.9}, None),
    ("q0", "declined", reply("declined"), {}, "declined_wrongly"),
    ("q0", "refused", reply("refused"), {}, "declined_wrongly"),
    ("q0", "truncated", reply("truncated"), {}, "unused"),
    ("q0", "wrong", reply(claims=[GOOD]), {"answer_correctness": 0.2}, "unused"),
    ("q0", "uncovered", reply(claims=[GOOD], covered=[CLAIM]), {"answer_correctness": 0.9}, "unused"),
    ("q0", "wordy", reply(claims=[GOOD], covered=[GOOD]), {"answer_correctness": 0.2}, None),
    ("q0", "added", reply(claims=[GOOD, CLAIM]), {"answer_correctness": 0.8}, "unsupported"),
    ("q0", "cited", reply(claims=[GOOD], citations=[CITED]), {"answer_correctness": 0.8}, "wrong_citation"),
    ("q0", "judge", reply(faults={"claims": "invalid JSON twice"}), {}, "judge_failed"),
    ("q1", "unanswerable", reply(), {}, "answered_unanswerable"),
    ("q1", "declined rightly", reply("declined"), {}, None),
]


@pytest.mark.parametrize(("question", "name", "made", "scores", "cause"), ANSWERS, ids=[case[1] for case in ANSWERS])
def test_faults_of_answers(
    tmp_path: Path, question: str, name: str, made: Mapping[str, Any], scores: Mapping[str, Any], cause: str | None
) -> None:
    point = Point(
        "p", 120, ranked={"q0": [("fee.md", AT // 120), ("fee.md", AT // 120 + 1)]},
        generation={question: made}, scores={question: scores},
    )  # fmt: skip
    got = findings(tmp_path, point)[question]
    assert (got.cause if got else None) == cause


def test_missing_evidence_comes_before_a_fault_of_the_answer(tmp_path: Path) -> None:
    point = Point("p", 100, ranked={"q0": others(100, 20)}, generation={"q0": reply(claims=[CLAIM])})
    assert found(tmp_path, point).cause == "wrong_document"


def test_every_cause_has_a_remedy_and_a_place_to_change() -> None:
    assert len(CAUSES) == 14
    for cause in CAUSES:
        assert cause.remedy.endswith(".")
        assert cause.change


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A sweep of two strategies."""
    points = [
        Point("windows 100", 100, ranked={"q0": others(100, 20)}),
        Point("large 4000", 4000, ranked={"q0": [("other.md", 0), ("fee.md", 0)]}, axes={"strategy": "large"}),
    ]
    return World(DOCUMENTS, [QUESTION, UNANSWERABLE], points).write(tmp_path / "two")


def test_counts_by_strategy_add_up_and_are_drawn(two: Path) -> None:
    data = SweepData.read(two)
    counts = diagnosis_of(data).by_family(data)
    assert {name: dict(own) for name, own in counts.items()} == {
        "windows": {"wrong_document": 1},
        "large": {"diluted": 1},
    }
    numbers = FIGURES["causes"].numbers(data)
    assert numbers.columns == ["strategy", "wrong or superseded document", "diluted in a large chunk", "all"]
    assert numbers.rows == [["windows", 1, 0, 1], ["large", 0, 1, 1]]


def test_the_verb_counts_names_and_prints_json(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", str(two)]) == 0
    shown = capsys.readouterr().out
    assert "windows" in shown
    assert "large" in shown
    assert main(["diagnose", str(two), "--question", "q0", "--question", "q1"]) == 0
    shown = capsys.readouterr().out
    assert "large 4000: diluted in a large chunk" in shown
    assert "Try smaller chunks" in shown
    assert "q1: nothing is wrong" in shown
    assert main(["diagnose", str(two), "--json", "--point", "large 4000"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["question_id"], row["cause"], row["rank"]) for row in rows] == [("q0", "diluted", 2)]


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--question", "q7"], "--question: got 'q7'"),
        (["--cause", "dilute"], "did you mean 'diluted'"),
        (["--point", "large"], "names no point"),
    ],
)
def test_wrong_names_are_one_line(
    two: Path, extra: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(two), *extra]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_the_context_is_the_one_that_was_scored(two: Path) -> None:
    """Filled here as the measures fill it: the recorded tokens of the cut are met exactly."""
    from bench.report.context import layout_of

    data = SweepData.read(two)
    layout = layout_of(data)
    for index in range(len(data.points)):
        for row in data.rows_of(index):
            pieces = context_of(row["hits"], BUDGET, layout)
            counts = [layout.tokens[p.doc_id] for p in pieces]
            filled = sum(int(c[p.end] - c[p.start]) for c, p in zip(counts, pieces, strict=True))
            assert filled == row["scores"][f"context_tokens@tokens={BUDGET}"]


def test_repeats_are_charged_once() -> None:
    text = "abcd" * 40
    layout = Layout.of([Document("d", text), Document("e", text)], RoughTokenizer())
    hits = [
        ["d", 0, 40, 1.0, 0, 40],
        ["d", 20, 60, 0.9, 20, 60],
        ["e", 0, 40, 0.8, 0, 40],
        ["d", 80, 120, 0.7, 80, 120],
    ]
    texts = {"d": text, "e": text}
    assert [p.rank for p in context_of(hits, 20, layout)] == [1, 2]
    assert without_repeats(hits, 20, layout, texts) == 4


def test_borders_know_who_holds_what() -> None:
    borders = Borders(intervals([(0, 10), (5, 30), (20, 25), (40, 50)]))
    assert borders.holders(6, 9).tolist() == [[0, 10], [5, 30]]
    assert borders.holders(9, 31).tolist() == []
    starts, ends = intervals([(6, 9), (9, 31), (22, 24), (40, 50)]).T
    assert borders.inside(starts, ends).tolist() == [True, False, True, True]
    assert borders.touching(10, 20).tolist() == [[5, 30]]
