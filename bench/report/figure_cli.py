"""Verb ``figure``: one figure of a sweep, from its records."""

from __future__ import annotations

import argparse
import csv
import io
from pathlib import Path

from bench.errors import ConfigError, near
from bench.report.data import SweepData
from bench.report.figures import FIGURES, write_figure
from bench.store import write_bytes

SUFFIXES = (".svg", ".png", ".pdf")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench figure``."""
    parser.add_argument("folder", type=Path, help="results/<sweep>, as bench sweep wrote it")
    parser.add_argument("--kind", required=True, metavar="|".join(FIGURES), help="what to draw")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where: .svg, .png, .pdf, or .csv for its numbers")
    parser.add_argument("--baseline", default="", metavar="POINT", help="label or id of today's setting")


def run(arguments: argparse.Namespace) -> int:
    """Write one figure; 0 when it is written."""
    kind = arguments.kind
    if kind not in FIGURES:
        raise ConfigError(f"--kind: got {kind!r}; {near(kind, FIGURES)}")
    data = SweepData.read(arguments.folder, arguments.baseline)
    out: Path = arguments.out or Path(f"{kind}.svg")
    if out.suffix == ".csv":
        _write_numbers(data, kind, out)
    elif out.suffix in SUFFIXES:
        write_figure(data, kind, out.with_suffix(""), (out.suffix,))
    else:
        raise ConfigError(f"--out: got {out.name!r}; allowed: a name that ends in {', '.join(SUFFIXES)} or .csv")
    print(f"wrote {out}")
    return 0


def _write_numbers(data: SweepData, kind: str, out: Path) -> None:
    numbers = FIGURES[kind].numbers(data)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(numbers.columns)
    writer.writerows(["" if value is None else value for value in row] for row in numbers.rows)
    write_bytes(out, text.getvalue().encode("utf-8", "surrogatepass"))
