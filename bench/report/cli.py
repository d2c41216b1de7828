"""Verb ``report``: summary, figures and page of a finished sweep again; or what changed between two sweeps."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.errors import ConfigError
from bench.report.data import SweepData


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench report``."""
    parser.add_argument("folder", type=Path, nargs="?", help="results/<sweep>, as bench sweep wrote it")
    parser.add_argument("--baseline", default="", metavar="POINT", help="label or id of today's setting")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("BEFORE", "AFTER"), help="what changed between two")


def run(arguments: argparse.Namespace) -> int:
    """Write the report; 0 when it is written."""
    if arguments.compare:
        return _compare(*arguments.compare)
    if arguments.folder is None:
        raise ConfigError("bench report: give results/<sweep>, or --compare with two of them")
    from bench.report.summary import print_summary
    from bench.report.write import write_report

    data = SweepData.read(arguments.folder, arguments.baseline)
    print_summary(data, write_report(data))
    return 0


def _compare(before: Path, after: Path) -> int:
    from bench.report.compare import compare_sweeps, print_comparison, write_comparison

    found = compare_sweeps(SweepData.read(before), SweepData.read(after))
    print_comparison(found)
    print(f"wrote {write_comparison(found, after)}")
    return 0
