"""Figures never fail on odd data, name what they show, and stand beside a table of their numbers."""

from __future__ import annotations

import csv
import itertools
import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.__main__ import main
from bench.errors import ConfigError
from bench.report import figures
from bench.report.data import SweepData
from bench.report.figures import FIGURES, write_figure
from bench.report.figures.base import pareto
from bench.report.figures.forest import differences
from bench.report.figures.matrix import pairs_of
from bench.report.figures.optimism import halves
from bench.report.style import number_points, shorten, spread, styled
from tests.records import HEADLINE, Synthetic, normal_scores

NAN = float("nan")
LABELS = ["cost $5 \\alpha$ \\s_1", "大きな窓 256/38", "x" * 300, "a\nb\tc", "<b>&amp;</b>", "", "مرحبا", "😀👩‍👩‍👧"]


def measures(values: Any) -> dict[str, Any]:
    """The measures that figures look at, all from one table."""
    table = np.asarray(values, dtype=np.float64)
    names = [HEADLINE, "span_precision@tokens=2000", "span_recall@k=5", "span_precision@k=5", "span_recall@tokens=512"]
    return {name: table * (1 - 0.1 * i) for i, name in enumerate(names)}


def sweep(folder: Path, values: Any, **more: Any) -> SweepData:
    """A synthetic sweep of this table of scores (questions, points)."""
    table = np.asarray(values, dtype=np.float64)
    points = table.shape[1]
    axes = [{"strategy": f"s{i % 2}", "size": 64 * (i // 2 + 1), "overlap": 0, "embedder": "e"} for i in range(points)]
    made = {"axes": axes, "header": {"cuts": {"ks": [5], "tokens": [512, 2000]}}} | more
    given_values = made.pop("tables", measures(table))
    clusters = made.pop("clusters", [f"d{i // 3}" for i in range(len(table))])
    return SweepData.read(Synthetic(given_values, clusters, **made).write(folder))


def ordinary(points: int = 4, questions: int = 30) -> Any:
    return np.clip(normal_scores(np.linspace(0.4, 0.6, points).tolist(), questions)[0], 0, 1)


ODD: dict[str, tuple[Any, dict[str, Any]]] = {
    "ordinary": (ordinary(), {}),
    "one point": (ordinary(1), {}),
    "one question": (ordinary(3, 1), {}),
    "one document": (ordinary(3, 12), {"clusters": ["d"] * 12}),
    "all equal": (np.full((12, 4), 0.5), {}),
    "all zero": (np.zeros((12, 4)), {}),
    "all one": (np.ones((12, 4)), {}),
    "nothing scored": (np.full((12, 3), NAN), {}),
    "a point without scores": (np.column_stack((ordinary(2, 12), np.full(12, NAN))), {}),
    "half undefined": (np.where(np.arange(48).reshape(12, 4) % 2, 0.5, NAN), {"missing": "undefined"}),
    "only the headline": (ordinary(), {"tables": {HEADLINE: ordinary()}}),
    "another measure alone": (ordinary(), {"tables": {"nDCG@k=10": ordinary()}}),
    "no sizes": (ordinary(2), {"axes": [{"strategy": "a"}, {"strategy": "b"}]}),
    "odd axes": (ordinary(2), {"axes": [{"strategy": "$x$", "size": None, "overlap": "much"}, {}]}),
    "no costs": (ordinary(2), {"costs": [{"index_bytes": None, "embedding_s": None, "context_tokens": None}] * 2}),
    "many strategies": (ordinary(9), {"axes": [{"strategy": f"strategy {i}", "size": 64} for i in range(9)]}),
    "many settings": (ordinary(40), {}),
}


def svg_text(path: Path) -> str:
    """All text of an SVG, which must be well formed."""
    return "".join(ET.parse(path).getroot().itertext())


@pytest.mark.parametrize("name", ODD)
def test_every_figure_and_its_numbers_on_odd_data(name: str, tmp_path: Path) -> None:
    values, more = ODD[name]
    data = sweep(tmp_path / "sweep", values, **more)
    for kind in FIGURES.values():
        path = write_figure(data, kind.name, tmp_path / kind.name, (".svg",))[0]
        assert "nan" not in svg_text(path).lower().replace("font", "")
        numbers = kind.numbers(data)
        assert all(len(row) == len(numbers.columns) for row in numbers.rows)
        floats = [value for row in numbers.rows for value in row if isinstance(value, float)]
        assert all(math.isfinite(value) for value in floats)


def test_answers_stand_beside_recall_with_their_n_and_what_is_said_of_the_generator(tmp_path: Path) -> None:
    scores = ordinary()
    unanswerable = np.where(np.arange(len(scores))[:, None] < 6, 1.0, NAN) * np.ones_like(scores)
    tables = {**measures(scores), "faithfulness": scores * 0.9, "decline_rate": unanswerable}
    data = sweep(tmp_path / "sweep", scores, tables=tables, missing="undefined")
    for point in data.points:
        told = {"generator": {"note": "faithful by construction"}, "judge_is_generator": True}
        point.provenance["answers"] = told  # type: ignore[index]
    text = svg_text(write_figure(data, "answers", tmp_path / "answers", (".svg",))[0])
    for said in (
        "evidence recall",
        "faithfulness",
        "nothing answers",
        "(n = 6)",
        "(n = 30)",
        "faithful by construction",
    ):
        assert said in text
    assert "correctness" not in text
    numbers = FIGURES["answers"].numbers(data)
    assert numbers.columns[9:] == ["faithfulness", "low", "high", "n", "decline_rate", "low", "high", "n"]
    best = data.points[data.best_first()[0]]
    assert numbers.rows[0][9] == pytest.approx(best.mean("faithfulness") or 0.0)
    assert numbers.rows[0][13:] == [1.0, 1.0, 1.0, 6]
    bare = sweep(tmp_path / "bare", scores)
    assert "choose a generator" in svg_text(write_figure(bare, "answers", tmp_path / "none", (".svg",))[0])
    both = svg_text(write_figure(data, "tradeoff", tmp_path / "tradeoff", (".svg",))[0])
    assert "Answers from 2,000 tokens: faithfulness (n = 30)" in both
    assert "The judge is the model that answered." in both


def test_labels_are_shown_as_they_are(tmp_path: Path) -> None:
    data = sweep(tmp_path / "sweep", ordinary(len(LABELS)))
    for record, label in zip(data.points, LABELS, strict=True):
        object.__setattr__(record, "label", label)
    for kind in FIGURES:
        write_figure(data, kind, tmp_path / kind, (".svg",))
    write_figure(data, "matrix", tmp_path / "matrix", (".png",))
    shown = svg_text(tmp_path / "matrix.svg")
    for label in ("cost $5 \\alpha$ \\s_1", "大きな窓 256/38", "a b c", "<b>&amp;</b>", "(no name)"):
        assert label in shown


def test_an_empty_sweep_says_so(tmp_path: Path) -> None:
    data = sweep(tmp_path / "sweep", ordinary(1), header={"points": []})
    for kind in FIGURES:
        write_figure(data, kind, tmp_path / kind, (".svg",))
    assert "no point" in svg_text(tmp_path / "budget.svg")
    assert "fewer than two settings" in svg_text(tmp_path / "forest.svg")


def test_captions_name_n_and_budget(tmp_path: Path) -> None:
    data = sweep(tmp_path / "sweep", ordinary())
    for kind in ("budget", "tradeoff", "forest", "matrix", "optimism", "heatmap"):
        text = svg_text(write_figure(data, kind, tmp_path / kind, (".svg",))[0])
        assert "n = 30 questions" in text, kind
        assert "2,000 tokens" in text, kind


def test_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    data = sweep(tmp_path / "sweep", ordinary())
    for kind in ("tradeoff", "matrix"):
        first = [path.read_bytes() for path in write_figure(data, kind, tmp_path / f"{kind}-1")]
        again = SweepData.read(tmp_path / "sweep")
        assert [path.read_bytes() for path in write_figure(again, kind, tmp_path / f"{kind}-2")] == first


def test_axes_functions_draw_into_a_users_figure(tmp_path: Path) -> None:
    """What a notebook does: figures of its own, any backend."""
    from matplotlib.figure import Figure

    data = sweep(tmp_path / "sweep", ordinary())
    for name in figures.__all__:
        if name.startswith("draw_"):
            axes = Figure().subplots()
            with styled():
                getattr(figures, name)(axes, data)
            assert axes.has_data() or axes.texts, name


def test_differences_are_paired_and_signed(tmp_path: Path) -> None:
    values = ordinary(3, 60)
    values[:, 2] = np.clip(values[:, 0] + 0.2, 0, 1.2)
    data = sweep(tmp_path / "sweep", values)
    object.__setattr__(data, "baseline", data.points[0].label)
    found = {one.point: one for one in differences(data)}
    assert set(found) == {1, 2}
    assert found[2].mean == pytest.approx((values[:, 2] - values[:, 0]).mean())
    assert found[2].low <= found[2].mean <= found[2].high
    assert found[2].p <= 0.05


def test_the_matrix_is_antisymmetric(tmp_path: Path) -> None:
    pairs = pairs_of(sweep(tmp_path / "sweep", ordinary(5, 40)))
    assert np.allclose(pairs.difference, -pairs.difference.T)
    assert np.array_equal(pairs.p, pairs.p.T)


def test_optimism_splits_by_document(tmp_path: Path) -> None:
    values, clusters = normal_scores([0.5] * 8, 120, per_document=4)
    found = halves(sweep(tmp_path / "sweep", values, tables=measures(values), clusters=clusters))
    assert found is not None
    assert sum(found.questions) == 120
    assert found.questions[1] % 4 == 0
    assert max(found.selected) > max(np.mean(found.confirmed), 0)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9))
def test_nothing_beats_a_point_of_the_front(pairs: list[tuple[int, int]]) -> None:
    front = pareto(pairs)
    beaten = {i for i, (x, y) in enumerate(pairs) if any(a >= x and b >= y and (a, b) != (x, y) for a, b in pairs)}
    assert set(front) == set(range(len(pairs))) - beaten


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.001, 0.08))
def test_labels_are_moved_apart_in_order(places: list[float], gap: float) -> None:
    moved = spread(places, gap, (0.0, 1.0))
    order = sorted(range(len(places)), key=lambda i: places[i])
    for a, b in itertools.pairwise(order):
        assert moved[b] - moved[a] >= gap - 1e-9


def test_numbers_beside_equal_points_do_not_lie_on_each_other() -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    axes.plot([0, 1], [0, 1])
    number_points(axes, [(0.5, 0.5)] * 6, list("123456"))
    places: Sequence[tuple[float, float]] = [text.xyann for text in axes.texts]  # type: ignore[attr-defined]
    assert len(set(places)) == 6


@given(st.text(max_size=200), st.integers(5, 60))
def test_long_names_are_one_short_line(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert 0 < len(short) <= max(limit, len("(no name)"))
    assert "\n" not in short


def test_the_verb_writes_each_kind_and_its_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sweep(tmp_path / "sweep", ordinary())
    out = tmp_path / "forest.csv"
    assert main(["figure", str(tmp_path / "sweep"), "--kind", "forest", "--out", str(out)]) == 0
    assert "wrote" in capsys.readouterr().out
    with out.open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0][:3] == ["point", "mark", "difference"]
    assert len(rows) == 4
    assert main(["figure", str(tmp_path / "sweep"), "--kind", "matrix", "--out", str(tmp_path / "m.svg")]) == 0
    assert (tmp_path / "m.svg").is_file()


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--kind", "forrest"], "did you mean 'forest'"),
        (["--kind", "forest", "--out", "x.gif"], "--out: got 'x.gif'"),
        (["--kind", "forest", "--baseline", "nothing"], "point 'nothing' names no point"),
    ],
)
def test_wrong_wishes_are_one_line(
    tmp_path: Path, extra: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep(tmp_path / "sweep", ordinary())
    assert main(["figure", str(tmp_path / "sweep"), *extra]) == 2
    assert message in capsys.readouterr().err


def test_an_unknown_kind_is_refused_in_python(tmp_path: Path) -> None:
    data = sweep(tmp_path / "sweep", ordinary())
    with pytest.raises(ConfigError, match="did you mean 'budget'"):
        write_figure(data, "buget", tmp_path / "x")


def test_labels_in_figures_leave_out_what_all_points_share() -> None:
    from types import SimpleNamespace
    from typing import cast

    def short(*labels: str) -> list[str]:
        data = SimpleNamespace(points=[SimpleNamespace(label=label) for label in labels])
        return cast(list[str], SweepData.short_labels.func(data))  # type: ignore[attr-defined]

    assert short("recursive 64/0 minilm", "markdown 128/0 minilm") == ["recursive 64/0", "markdown 128/0"]
    assert short("recursive 64/0 minilm") == ["recursive 64/0 minilm"]
    assert short("a a", "a a") == ["a a", "a a"]


def test_cost_shows_tokens_where_no_point_was_timed() -> None:
    from types import SimpleNamespace
    from typing import cast

    from bench.report.figures.quality import cost_of

    point = SimpleNamespace(cost={"index_bytes": 2_000_000, "embedding_s": None, "embedding_tokens": 48_244})
    data = cast(SweepData, SimpleNamespace(points=[point]))
    assert cost_of(data, 0, "seconds") is None
    assert (cost_of(data, 0, "tokens"), cost_of(data, 0, "index")) == (48_244.0, 2.0)
