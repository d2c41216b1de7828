"""Verb ``gate``: does a point hold its thresholds, and is it no worse than the baseline?"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.decision.baseline import Baseline
from bench.decision.table import Table
from bench.gating.check import run_gate
from bench.gating.point import pick
from bench.gating.render import as_json, lines, markdown, write_junit
from bench.gating.thresholds import read_thresholds
from bench.store import write_bytes, write_json

FAILED = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench gate``."""
    parser.add_argument("folder", type=Path, help="results/<sweep>, as bench sweep wrote it")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="stored state to compare with")
    parser.add_argument("--thresholds", default="default", metavar="NAME|FILE", help="a gate of conf/gate, or a file")
    parser.add_argument("--point", default="", metavar="POINT", help="label or id (the decided point, or the only one)")
    parser.add_argument(
        "--save-baseline",
        nargs="?",
        const=Path("baseline.json"),
        type=Path,
        metavar="FILE",
        help="keep this point; with --baseline only if it passes",
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every check and version as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a Markdown summary for a pull request")


def run(arguments: argparse.Namespace) -> int:
    """Judge one point: 0 pass, 1 a threshold missed or a regression; not comparable is an error, and so 2."""
    table = Table.read(arguments.folder)
    baseline = Baseline.read(arguments.baseline) if arguments.baseline else None
    point = pick(table, arguments.point, baseline)
    if arguments.save_baseline and baseline is None:
        return _save(table, point, arguments.save_baseline)
    outcome = run_gate(table, point, read_thresholds(arguments.thresholds), baseline)
    if arguments.junit:
        write_junit(outcome, arguments.junit)
    if arguments.json:
        write_json(arguments.json, as_json(outcome))
    if arguments.markdown:
        write_bytes(arguments.markdown, markdown(outcome).encode())
    print("\n".join(lines(outcome)))
    if not outcome.passed:
        return FAILED
    return _save(table, point, arguments.save_baseline) if arguments.save_baseline else 0


def _save(table: Table, point: int, path: Path) -> int:
    Baseline.of(table, point).save(path)
    print(f"Baseline {path}: {table.points[point].label} of {table.header['name']}")
    return 0
