"""The figures of a sweep. Each ``draw_*`` draws into a Matplotlib Axes; ``FIGURES`` makes whole figures and tables."""

from __future__ import annotations

from pathlib import Path

from bench.errors import ConfigError, near
from bench.report.data import SweepData
from bench.report.figures.answers import ANSWERS, draw_answers
from bench.report.figures.base import Kind, Numbers
from bench.report.figures.budget import BUDGET, draw_budget
from bench.report.figures.causes import CAUSES_KIND, draw_causes
from bench.report.figures.forest import FOREST, draw_forest
from bench.report.figures.heatmap import HEATMAP, draw_heatmap
from bench.report.figures.matrix import MATRIX, draw_matrix
from bench.report.figures.optimism import OPTIMISM, draw_optimism
from bench.report.figures.quality import COST, FAITHFULNESS, draw_cost, draw_faithfulness
from bench.report.figures.tradeoff import TRADEOFF, draw_tradeoff
from bench.report.style import save, styled

FIGURES: dict[str, Kind] = {
    kind.name: kind
    for kind in (TRADEOFF, BUDGET, FOREST, HEATMAP, MATRIX, COST, ANSWERS, FAITHFULNESS, OPTIMISM, CAUSES_KIND)
}

__all__ = [
    "FIGURES", "Kind", "Numbers", "draw_answers", "draw_budget", "draw_causes", "draw_cost", "draw_faithfulness",
    "draw_forest", "draw_heatmap", "draw_matrix", "draw_optimism", "draw_tradeoff", "write_figure",
]  # fmt: skip


def write_figure(data: SweepData, kind: str, stem: Path, suffixes: tuple[str, ...] = (".svg", ".png")) -> list[Path]:
    """Write one kind of figure as ``stem``.svg and ``stem``.png.

    Raises:
        ConfigError: there is no such kind.
        StoreError: the folder cannot be written.
    """
    if kind not in FIGURES:
        raise ConfigError(f"--kind: got {kind!r}; {near(kind, FIGURES)}")
    with styled():
        return save(FIGURES[kind].figure(data), stem, suffixes)
