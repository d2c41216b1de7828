"""The report as files: what is written, what the page holds, limits of size, odd sweeps, two sweeps compared."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.__main__ import main
from bench.errors import ConfigError
from bench.report.blocks import truncated_chunks
from bench.report.chunkings import chunking_of, recut
from bench.report.compare import compare_sweeps
from bench.report.data import SweepData
from bench.report.figures import FIGURES
from bench.report.figures.forest import differences
from bench.report.marks import find_point, read_decision
from bench.report.page import inline_svg
from bench.report.payload import payload_of
from bench.report.words import opening_of
from bench.report.write import write_report
from bench.store import PointRecord, Sweep, read_json, write_json
from tests.records import HEADLINE, Synthetic, normal_scores
from tests.report_sweeps import HOSTILE, Point, World, asked, hostile_world


def opened(block: str) -> Any:
    """A block as the page reads it."""
    return json.loads(gzip.decompress(base64.b64decode(block)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A written report on hostile texts."""
    made = hostile_world().write(tmp_path_factory.mktemp("report") / "hostile")
    write_report(SweepData.read(made))
    return made


@pytest.fixture(scope="module")
def html(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


def test_the_page_needs_no_network(html: str) -> None:
    assert "default-src 'none'" in html
    for link in re.findall(r'(?:src|href|action)="([^"]*)"', html):
        assert link.startswith(("#", "data:image/png;base64,")), link
    assert "@import" not in html


def test_nothing_of_a_document_or_label_becomes_markup(html: str) -> None:
    assert "alert(" not in html
    assert "<i>x</i>" not in html
    assert "&lt;i&gt;x&lt;/i&gt;" in html
    assert html.count("<script") == html.count("</script>")


def test_every_figure_has_ids_of_its_own(html: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    used = set(re.findall(r'xlink:href="#([^"]+)"', html)) | set(re.findall(r"url\(#([^)]+)\)", html))
    assert used <= set(ids)


def test_texts_are_stored_once_and_spans_point_into_them(folder: Path) -> None:
    data = SweepData.read(folder)
    blocks = payload_of(data).blocks
    core, texts = opened(blocks["core"]), opened(blocks["texts"])
    assert texts[core["docs"].index("a.md")] == HOSTILE
    for question in core["questions"]:
        quotes = [item["quote"] for item in data.golden[question["id"]]["evidence"]]
        spans = [item[0] for item in question["evidence"]]
        assert [texts[place][start:end] for place, start, end in spans] == quotes


def test_hits_of_the_page_are_the_hits_of_the_records(folder: Path) -> None:
    data = SweepData.read(folder)
    blocks = payload_of(data).blocks
    core = opened(blocks["core"])
    for index, point in enumerate(core["points"]):
        chunks = []
        for place, flat in enumerate(opened(blocks[point["chunks"]])):
            start = 0
            for step, length in zip(flat[::2], flat[1::2], strict=True):
                start += step
                chunks.append([core["docs"][place], start, start + length])
        block = opened(blocks[f"point-{index}"])
        for row, flat in zip(data.rows_of(index), block["hits"], strict=True):
            shown = [chunks[place] for place in flat[2::2]]
            assert shown == [hit[:3] for hit in row["hits"][: len(shown)]]
            assert len(shown) >= flat[0]


def test_a_chunk_that_hands_over_more_than_itself_is_kept_as_both(tmp_path: Path) -> None:
    folder = hostile_world([Point("p", 40)]).write(tmp_path / "s")
    path = folder / "points" / "000000000001" / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[0]["hits"][0][4:6] = [0, 100]
    rows[0]["hits"][1] = [None, None, None, 0.5, None, None]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    block = opened(payload_of(SweepData.read(folder)).blocks["point-0"])
    assert block["hits"][0][2] == -1
    assert block["extra"][0][3:] == [0, 100]
    assert block["extra"][1] == [-1, None, None, None, None]


def test_details_that_do_not_fit_are_left_out_best_last(tmp_path: Path) -> None:
    points = [Point(f"w {size}", size) for size in range(30, 60)]
    data = SweepData.read(hostile_world(points).write(tmp_path / "s"))
    whole = payload_of(data)
    assert (whole.left_out, whole.texts_left_out) == (0, 0)
    limit = int(whole.size * 0.7)
    small = payload_of(data, limit)
    assert small.size <= limit
    assert 0 < small.left_out < 30
    assert f"point-{data.best_first()[0]}" in small.blocks


def test_texts_that_do_not_fit_keep_the_evidence(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    noise = "".join(map(chr, rng.integers(97, 123, 40_000)))
    world = World(
        {"a.md": "The fee is 42 euros.", "z.md": noise},
        [asked(0, "Fee?", [("a.md", "The fee is 42 euros.")])],
        [Point("p", 4000)],
    )
    data = SweepData.read(world.write(tmp_path / "s"))
    small = payload_of(data, 40_000)
    assert small.texts_left_out == 1
    assert opened(small.blocks["texts"]) == ["The fee is 42 euros.", None]


def test_where_the_embedder_stops_is_marked(tmp_path: Path) -> None:
    point = Point("p", 300, provenance={"usable_tokens": 10}, realised={"truncated_chunks": 2})
    data = SweepData.read(hostile_world([point]).write(tmp_path / "s"))
    found = truncated_chunks(data, 0, sorted(data.documents))
    assert set(found) >= {"0"}
    assert 0 < found["0"] < 300


def test_a_sweep_without_points_says_so(tmp_path: Path) -> None:
    folder = World({"a.md": "text"}, [asked(0, "Q?", [("a.md", "text")])], []).write(tmp_path / "s")
    data = SweepData.read(folder)
    page = write_report(data)[-1].read_text(encoding="utf-8")
    assert "This sweep has no complete point" in page


def test_failed_points_and_duplicates_are_named(tmp_path: Path) -> None:
    folder = hostile_world().write(tmp_path / "s")
    sweep = Sweep(folder)
    first = sweep.record("000000000001")
    names = {n: getattr(first, n) for n in PointRecord.__dataclass_fields__}
    sweep.write_point(
        PointRecord(**names | {"point_id": "f" * 12, "label": "broken", "status": "failed", "reason": "no <model>"})
    )
    sweep.write_point(PointRecord(**names | {"point_id": "d" * 12, "label": "twin", "duplicate_of": "000000000001"}))
    header = sweep.header()
    write_json(folder / "sweep.json", header | {"points": [*header["points"], "f" * 12, "d" * 12]})
    page = write_report(SweepData.read(folder))[-1].read_text(encoding="utf-8")
    assert "broken failed: no &lt;model&gt;" in page
    assert "twin as windows 40" in page


def test_synthetic_records_without_documents_still_make_a_page(tmp_path: Path) -> None:
    values, clusters = normal_scores([0.4, 0.5], 40)
    folder = Synthetic({HEADLINE: np.clip(values, 0, 1)}, clusters).write(tmp_path / "s")
    page = write_report(SweepData.read(folder))[-1].read_text(encoding="utf-8")
    assert "The sweep keeps no documents" in page


def recorded(folder: Path, **config: Any) -> SweepData:
    """A sweep that kept no borders, whose first point has this chunker."""
    from bench.borders import chunking_file

    hostile_world([Point("p", 60)]).write(folder)
    sweep = Sweep(folder)
    first = sweep.record("000000000001")
    chunking_file(folder, first.realised["chunking_fingerprint"]).unlink()
    raw = read_json(folder / "points" / first.point_id / "record.json")
    raw["config"] = {"chunker": config}
    if config.pop("_recorded", False):
        made = recut(PointRecord(**raw), sweep.documents())
        raw["realised"]["chunking_fingerprint"] = made.fingerprint
    write_json(folder / "points" / first.point_id / "record.json", raw)
    return SweepData.read(folder)


WINDOWS = {"_target_": "bench.chunkers.fixed.Fixed", "size": 60, "unit": "characters", "name": "characters"}


def test_borders_that_were_not_kept_are_cut_again(tmp_path: Path) -> None:
    data = recorded(tmp_path / "s", **WINDOWS, _recorded=True)
    found = chunking_of(data, data.points[0])
    assert set(found) == {"a.md", "b.md"}
    assert found["b.md"].spans[:2].tolist() == [[0, 60], [60, 120]]


@pytest.mark.parametrize("config", [WINDOWS, {"_target_": "no.such.Chunker"}, {"_target_": "bench.errors.BenchError"}])
def test_borders_that_come_out_otherwise_are_not_shown(tmp_path: Path, config: dict[str, Any]) -> None:
    data = recorded(tmp_path / "s", **config)
    assert chunking_of(data, data.points[0]) == {}
    page = write_report(data)[-1].read_text(encoding="utf-8")
    assert "The chunk borders of 1 points are not known" in page


def decided(tmp_path: Path, means: list[float], *options: str) -> SweepData:
    """A sweep of points of these means with a decision."""
    values, clusters = normal_scores(means, 90, per_document=3)
    folder = Synthetic({HEADLINE: np.clip(values, 0, 1)}, clusters).write(tmp_path / "s")
    assert main(["decide", str(folder), "--resamples", "500", *options]) in (0, 1)
    return SweepData.read(folder)


def test_the_opening_is_what_was_decided(tmp_path: Path) -> None:
    data = decided(tmp_path, [0.35, 0.5, 0.8], "--baseline", "recursive 64")
    said = opening_of(data)
    assert said.decision.startswith("Ship recursive 192: it finds")
    assert "2,000 tokens" in said.decision
    assert "questions that did not choose it" in said.certainty
    assert re.search(
        r"Against today's recursive 64 that is \+\d+\.\d points \[\+\d+\.\d, \+\d+\.\d\], beyond chance",
        said.difference,
    )
    assert dict(said.facts)["questions"] == "90 scored of 90"
    assert data.marks.named(2) == "chosen"
    assert data.marks.named(0) == "baseline"


@pytest.mark.parametrize("unit", ["document", "question"])
def test_the_page_and_the_decision_give_one_number_for_one_thing(tmp_path: Path, unit: str) -> None:
    values, clusters = normal_scores([0.4, 0.48, 0.55, 0.57], 90, per_document=3, icc=0.5)
    folder = Synthetic({HEADLINE: np.clip(values, 0, 1)}, clusters).write(tmp_path / "s")
    assert main(["decide", str(folder), "--cluster", unit]) in (0, 1)
    data = SweepData.read(folder)
    assert data.decision is not None
    assert data.unit == unit
    assert ("hold for these documents only" in page_of(data)) == (unit == "question")
    assert ("holds for these documents only" in opening_of(data).certainty) == (unit == "question")
    assert f"bootstrap by {unit}" in page_of(data)
    place = {point.point_id: i for i, point in enumerate(data.points)}
    for row in data.decision["points"]:
        shown = data.intervals(HEADLINE)[place[row["point_id"]]]
        assert shown is not None
        assert (shown.mean, shown.low, shown.high) == pytest.approx((row["mean"], row["low"], row["high"]))
    told = {frozenset((row["first"], row["second"])): row["p_adjusted"] for row in data.decision["pairs"]}
    assert data.marks.reference is not None
    reference = data.points[data.marks.reference].label
    found = differences(data)
    assert len(found) == 3
    for one in found:
        assert one.p == pytest.approx(told[frozenset((data.points[one.point].label, reference))])


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"records": 3}', '{"records": [], "chosen": "x"}', "\x00"])
def test_a_broken_decision_is_one_line(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    values, clusters = normal_scores([0.3, 0.6], 30)
    folder = Synthetic({HEADLINE: np.clip(values, 0, 1)}, clusters).write(tmp_path / "s")
    (folder / "decision.json").write_text(text, encoding="utf-8")
    assert main(["report", str(folder)]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "decision.json: " in told
    assert "again" in told


def page_of(data: SweepData) -> str:
    if not (data.folder / "report.html").is_file():
        write_report(data)
    return (data.folder / "report.html").read_text(encoding="utf-8")


def test_a_refused_decision_names_no_winner(tmp_path: Path) -> None:
    values, clusters = normal_scores([0.3, 0.6], 9)
    folder = Synthetic({HEADLINE: np.clip(values, 0, 1)}, clusters).write(tmp_path / "s")
    main(["decide", str(folder), "--resamples", "500"])
    data = SweepData.read(folder)
    assert opening_of(data).decision.startswith("No winner is named: 9 scored questions")
    assert data.marks.chosen is None


def test_a_decision_on_other_points_is_not_shown(tmp_path: Path) -> None:
    data = decided(tmp_path, [0.3, 0.8])
    assert data.decision is not None
    ids = [point.point_id for point in data.points]
    assert read_decision(data.folder, [*ids, "e" * 12]) is None
    assert read_decision(data.folder, ids[:1]) is None


def test_points_are_found_by_label_id_and_start_of_id(tmp_path: Path) -> None:
    points = decided(tmp_path, [0.3, 0.8]).points
    assert find_point(points, points[1].label) == 1
    assert find_point(points, points[1].point_id) == 1
    with pytest.raises(ConfigError, match="names several points"):
        find_point(points, "0000")
    with pytest.raises(ConfigError, match="did you mean 'recursive 128'"):
        find_point(points, "recursiv 128")


def test_the_report_is_the_same_bytes_again(tmp_path: Path) -> None:
    folder = hostile_world([Point("p", 60), Point("q", 90)]).write(tmp_path / "s")
    first = write_report(SweepData.read(folder))[-1].read_bytes()
    assert write_report(SweepData.read(folder))[-1].read_bytes() == first


def test_two_sweeps_compared_question_by_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = hostile_world([Point("one", 80), Point("gone", 60)])
    after = hostile_world([Point("one", 80, ranked={"q0": [("b.md", 0)]}), Point("new", 50)])
    before.name, after.name = "before", "after"
    first, second = before.write(tmp_path / "before"), after.write(tmp_path / "after")
    found = compare_sweeps(SweepData.read(first), SweepData.read(second))
    assert [(pair.label, pair.better, pair.worse) for pair in found.pairs] == [("one", 0, 1)]
    assert [(row.question_id, row.before, row.after) for row in found.changes] == [("q0", 1.0, 0.0)]
    assert (found.only_before, found.only_after) == (["gone"], ["new"])
    assert found.changes[0].cause_before == ""
    assert found.changes[0].cause_after == "wrong or superseded document"
    assert main(["report", "--compare", str(first), str(second)]) == 0
    assert "q0 100 → 0 (found → wrong or superseded document)" in capsys.readouterr().out
    page = (second / "compare-before.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;bold&lt;/b&gt;" in page


def test_sweeps_that_share_nothing_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = hostile_world([Point("one", 80)]).write(tmp_path / "a")
    second = hostile_world([Point("two", 80)]).write(tmp_path / "b")
    assert main(["report", "--compare", str(first), str(second)]) == 2
    assert "share no setting" in capsys.readouterr().err
    assert main(["report"]) == 2
    assert "give results/<sweep>" in capsys.readouterr().err


def test_the_verb_writes_everything_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = hostile_world([Point("p", 60), Point("q", 90)]).write(tmp_path / "s")
    assert main(["report", str(folder), "--baseline", "q"]) == 0
    assert "report.html" in capsys.readouterr().out
    assert read_json(folder / "sweep.json")["name"] == "hostile"
    assert "to hold against today&#39;s q." in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("width_pt", "style"), [("300", ' style="min-width: 0; max-width: 400px"'), ("828.5", "")])
def test_a_small_figure_is_not_blown_up(width_pt: str, style: str, tmp_path: Path) -> None:
    path = tmp_path / "f.svg"
    path.write_text(f'<?xml version="1.0"?><svg width="{width_pt}pt" height="9pt" viewBox="0 0 9 9"></svg>', "utf-8")
    shown = str(inline_svg(path, FIGURES["heatmap"]))
    assert shown.startswith(f'<svg viewBox="0 0 9 9"{style} role="img"')
