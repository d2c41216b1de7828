"""Everything a sweep ends in, made from its records alone: called by ``bench sweep`` and by ``bench report``."""

from __future__ import annotations

from pathlib import Path

from bench.report.data import SweepData
from bench.report.figures import FIGURES, write_figure
from bench.report.summary import write_summary


def write_report(data: SweepData) -> list[Path]:
    """Write ``summary.csv`` and every figure (SVG and PNG); return what was written.

    Raises:
        StoreError: the folder cannot be written.
    """
    written = [write_summary(data)]
    for kind in FIGURES:
        written += write_figure(data, kind, data.folder / "figures" / kind)
    return written
