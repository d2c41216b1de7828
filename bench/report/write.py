"""Everything a sweep ends in, made from its records alone: called by ``bench sweep`` and by ``bench report``."""

from __future__ import annotations

from pathlib import Path

from bench.report.data import SweepData
from bench.report.figures import FIGURES, write_figure
from bench.report.page import write_page
from bench.report.summary import write_summary


def write_report(data: SweepData) -> list[Path]:
    """Write ``summary.csv``, every figure (SVG and PNG) and ``report.html``; return what was written.

    Raises:
        StoreError: the folder cannot be written.
    """
    figures = {kind: write_figure(data, kind, data.folder / "figures" / kind) for kind in FIGURES}
    page = write_page(data, {kind: paths[0] for kind, paths in figures.items()})
    return [write_summary(data), *(path for paths in figures.values() for path in paths), page]
