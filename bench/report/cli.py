"""Verb ``report``: the summary and the figures again, from the records of a finished sweep."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.report.data import SweepData
from bench.report.summary import print_summary
from bench.report.write import write_report


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench report``."""
    parser.add_argument("folder", type=Path, help="results/<sweep>, as bench sweep wrote it")


def run(arguments: argparse.Namespace) -> int:
    """Write the report; 0 when it is written."""
    data = SweepData.read(arguments.folder)
    print_summary(data, write_report(data))
    return 0
