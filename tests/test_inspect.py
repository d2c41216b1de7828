"""Failure patterns of chunk borders on documents made for them, and the verb that shows a document."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.__main__ import main
from bench.inspection import marked
from bench.paths import conf_dir
from bench.pipeline import execute
from bench.plan import plan_sweep
from bench.report.chunkings import Borders
from bench.report.data import SweepData
from bench.report.patterns import Patterns, count_patterns
from bench.report.structure import parts_of
from bench.session import Session
from bench.spans import intervals
from bench.store import Sweep
from bench.sweep import _open
from bench.types import Document
from tests.report_sweeps import Point, hostile_world
from tests.ruleserver import RuleServer
from tests.small import DOCUMENTS, write_corpus

TEXT = (
    "# Fares\n\nA ride costs four. It is paid on board.\n\n## Table\n\n| ticket | price |\n|---|---|\n| one | 4 |\n"
    "| ten | 31 |\n\n```python\nx = 1\n\ny = 2\n```\n\n- first thing\n  goes on\n- second thing\n\nLast words here.\n"
)


def pieces(text: str, *edges: int | str) -> Borders:
    """Chunks cut at offsets, or right before a text."""
    at = [0, *(text.index(e) if isinstance(e, str) else e for e in edges), len(text)]
    return Borders(intervals(itertools.pairwise(at)))


def counted(text: str, *edges: int | str, form: str = "md") -> Patterns:
    return count_patterns(Document("d", text, form), pieces(text, *edges))  # type: ignore[arg-type]


def test_parts_of_markdown_are_found() -> None:
    parts = parts_of(Document("d", TEXT, "md"))
    assert [TEXT[slice(*table.whole)] for table in parts.tables] == [
        "| ticket | price |\n|---|---|\n| one | 4 |\n| ten | 31 |"
    ]
    assert [TEXT[slice(*row)] for row in parts.tables[0].rows] == ["| one | 4 |", "| ten | 31 |"]
    assert [TEXT[slice(*h)] for h in parts.headings] == ["# Fares\n\nA", "## Table\n\n|"]
    assert [TEXT[slice(*f)] for f in parts.fences] == ["```python\nx = 1\n\ny = 2\n```"]
    assert [TEXT[slice(*one)] for one in parts.lists] == ["- first thing\n  goes on\n- second thing"]


def test_one_chunk_breaks_nothing() -> None:
    found = counted(TEXT)
    broken = (found.tables_split, found.rows_without_header, found.headings_parted, found.fences_broken)
    assert (*broken, found.lists_broken, found.sentences_cut) == (0, 0, 0, 0, 0, 0)
    assert (found.tables_of, found.rows_of, found.headings_of, found.fences_of, found.lists_of) == (1, 2, 2, 1, 1)


@pytest.mark.parametrize(
    ("edge", "field", "count"),
    [
        ("| ten", "tables_split", 1),
        ("| ten", "rows_without_header", 1),
        ("| one", "rows_without_header", 2),
        ("A ride", "headings_parted", 1),
        ("## Table", "headings_parted", 0),
        ("y = 2", "fences_broken", 1),
        ("- second", "lists_broken", 1),
        ("costs", "sentences_cut", 1),
        ("It is paid", "sentences_cut", 0),
        ("## Table", "sentences_cut", 0),
    ],
)
def test_a_border_breaks_what_it_cuts(edge: str, field: str, count: int) -> None:
    assert getattr(counted(TEXT, edge), field) == count


def test_html_has_the_same_parts() -> None:
    text = (
        "<h1>Fares</h1>\n<p>A ride costs four.</p>\n<table><tr><th>a</th></tr><tr><td>1</td></tr><tr><td>2</td></tr>"
        "</table>\n<ul><li>one</li><li>two</li></ul>\n<pre>x</pre>"
    )
    found = counted(text, "<tr><td>2", "<li>two", form="html")
    assert (found.tables_split, found.rows_without_header, found.lists_broken, found.fences_broken) == (1, 1, 1, 0)
    assert counted(text, "<p>", form="html").headings_parted == 1


def test_code_has_no_tables_or_sentences() -> None:
    found = counted("def f(a):\n    return a | b\n", "return", form="code")
    assert found == Patterns(chunks_of=2, tiny=2)


def test_overlap_above_a_fifth_is_counted() -> None:
    text = "word " * 100
    borders = Borders(intervals([(0, 100), (90, 200), (150, 250), (250, 400)]))
    assert count_patterns(Document("d", text), borders).repeats == 1


def test_a_table_mark_in_a_fence_is_no_table() -> None:
    assert parts_of(Document("d", "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```\n", "md")).tables == ()


@given(st.text(alphabet="ab|-#`\n .*1", max_size=120), st.sampled_from(["md", "html", "txt", "code"]))
def test_parts_lie_inside_any_text(text: str, form: str) -> None:
    parts = parts_of(Document("d", text, form))  # type: ignore[arg-type]
    ranges = [*parts.headings, *parts.fences, *parts.lists, *(table.whole for table in parts.tables)]
    assert all(0 <= start < end <= len(text) for start, end in ranges)
    if text:
        whole = count_patterns(Document("d", text, form), Borders(intervals([(0, len(text))])))  # type: ignore[arg-type]
        assert whole.tables_split + whole.headings_parted + whole.fences_broken + whole.lists_broken == 0


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=5))
def test_marked_parts_put_together_are_the_text(text: str, pairs: list[tuple[int, int]]) -> None:
    ranges = [(min(a, b), max(a, b), f"r{i}") for i, (a, b) in enumerate(pairs)]
    parts = marked(text, 0, len(text), ranges)
    assert "".join(part for part, _ in parts) == text


def test_the_verb_shows_a_document_of_the_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The newest sweep below results is the default, the best point too."""
    monkeypatch.chdir(tmp_path)
    hostile_world([Point("windows 80/20", 80, 20)]).write(Path("results/one"))
    assert main(["inspect", "b.md", "--point", "windows 80/20", "--html", "b.html"]) == 0
    shown = capsys.readouterr().out
    assert "b.md: " in shown
    assert "20 shared with the one before" in shown
    assert "Nobody lives here" in shown
    page = Path("b.html").read_text(encoding="utf-8")
    assert '<mark class="gold">Nobody lives here</mark>' in page
    assert main(["inspect", "a.md", "--html", "a.html"]) == 0
    page = Path("a.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["c.md"], "did you mean"),
        (["b.md", "--point", "nothing"], "names no point"),
        (["b.md", "--sweep", "elsewhere"], "holds no sweep"),
    ],
)
def test_wrong_names_are_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile_world([Point("windows 80", 80)]).write(Path("results/one"))
    assert main(["inspect", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_no_sweep_at_all_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["inspect", "b.md"]) == 2
    assert "no sweep below results" in capsys.readouterr().err


LANGUAGE = {"blurb", "lumber", "propositions"}
STRATEGIES = sorted({path.stem for path in (conf_dir() / "chunker").glob("*.yaml")} - {"custom"})


@dataclass
class Swept:
    """A folder with one sweep of the strategies without a language model and one of those with it."""

    folder: Path
    server: RuleServer
    points: dict[str, tuple[str, str]]

    def inspect(self, name: str, document: str, *more: str) -> int:
        """Run the verb for the point of a strategy."""
        sweep, point = self.points[name]
        places = ["--sweep", f"{self.folder}/{sweep}", "--cache", f"{self.folder}/cache"]
        return main(["inspect", document, "--point", point, *places, *more])


def run(overrides: list[str]) -> None:
    """Run the points of a sweep, without its report."""
    plan = plan_sweep(overrides)
    session = Session.of(plan.points[0])
    first = plan.points[0].sweep
    sweep = Sweep(Path(first.results) / first.name)
    _open(sweep, plan, [session.point_id(point) for point in plan.points], session)
    for point in plan.points:
        execute(point, session, sweep)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Swept]:
    folder = tmp_path_factory.mktemp("strategies")
    documents, golden = write_corpus(folder / "mine")
    shared = ["corpus=folder", f"corpus.documents={documents}", f"corpus.golden={golden}", "embedder=static"]
    shared += ["generator=none", f"sweep.results={folder}", f"sweep.cache={folder}/cache/vectors.sqlite"]
    plain = [name for name in STRATEGIES if name not in LANGUAGE]
    with RuleServer() as server:
        model = ["chunker.model=m", f"chunker.base_url={server.url}", f"chunker={','.join(sorted(LANGUAGE))}"]
        run([*shared, f"chunker={','.join(plain)}", "chunker.size=60", "sweep.name=plain"])
        run([*shared, *model, "chunker.size=130", "sweep.name=language"])
        records = [
            (name, record)
            for name in ("plain", "language")
            for data in [SweepData.read(folder / name)]
            for record in [*data.points, *data.duplicates]
        ]
        yield Swept(folder, server, {r.config["chunker"]["name"]: (name, r.point_id) for name, r in records})


@pytest.mark.parametrize("name", STRATEGIES)
def test_any_strategy_is_shown_on_any_document(
    name: str, swept: Swept, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On those of the sweep nothing is asked anew; a file of the user's is cut as the sweep would cut it."""
    calls = swept.server.calls
    for document, text in DOCUMENTS.items():
        assert swept.inspect(name, document, "--html", str(tmp_path / "page.html")) == 0
        shown = capsys.readouterr().out
        assert shown.startswith(f"{document}: ")
        assert "only the borders" not in shown
        missing = [word for word in re.findall(r"\w+", text) if word not in shown]
        cut = shown.count("── ") if name in ("characters", "tokens", "tokens_chroma") else 0
        assert len(missing) <= cut, "text of the document is neither in a chunk nor shown as left out"
        assert (tmp_path / "page.html").read_text(encoding="utf-8").count('<div class="text"') == shown.count("── ") - (
            shown.count("── in no chunk")
        )
    assert swept.server.calls == calls
    file = tmp_path / "other.md"
    file.write_text("# Other\n\nSomething that no sweep has seen.\n", encoding="utf-8")
    assert swept.inspect(name, str(file)) == 0
    shown = capsys.readouterr().out
    assert "other.md: 1 chunk by " in shown or name in ("propositions", "sentence_window", "multi_scale")
    assert all(word in shown for word in ["Something", "that", "no", "sweep", "has", "seen."])
    assert (swept.server.calls > calls) == (name in {"blurb", "propositions"})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("contextual", "indexed under: Ferry"),
        ("blurb", "indexed under: On # Ferry The."),
        ("propositions", "indexed as: Fact 0: # Ferry"),
        ("parent_child", "characters, handed over [0, 242)"),
        ("sentence_window", "characters, handed over [0, 103)"),
        ("multi_scale", "shared with those before, handed over ["),
    ],
)
def test_what_is_indexed_or_handed_over_beside_the_chunk_is_shown(
    name: str, words: str, swept: Swept, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert swept.inspect(name, "ferry.md", "--html", str(page)) == 0
    assert words in capsys.readouterr().out
    assert words in page.read_text(encoding="utf-8")


def test_borders_are_shown_where_the_replies_are_gone(swept: Swept, capsys: pytest.CaptureFixture[str]) -> None:
    calls = swept.server.calls
    point = ["--point", swept.points["blurb"][1], "--sweep", f"{swept.folder}/language"]
    assert main(["inspect", "ferry.md", *point, "--cache", f"{swept.folder}/elsewhere"]) == 0
    shown = capsys.readouterr().out
    assert "only the borders are shown: " in shown
    assert "indexed under" not in shown
    assert "── 2 [" in shown
    assert swept.server.calls == calls
