"""Verb ``diagnose``: one cause for every miss, with the evidence for it and the remedy to try."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.errors import ConfigError, near
from bench.report.causes import BY_NAME, NAMES
from bench.report.data import SweepData
from bench.report.diagnosis import Diagnosis, Finding, diagnosis_of
from bench.report.marks import find_point

SHOWN = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench diagnose``."""
    parser.add_argument("folder", type=Path, help="results/<sweep>, as bench sweep wrote it")
    parser.add_argument("--question", action="append", default=[], metavar="ID", help="only this question")
    parser.add_argument("--point", action="append", default=[], metavar="POINT", help="only this label or id")
    parser.add_argument("--cause", default="", metavar="CAUSE", help="only this cause")
    parser.add_argument("--json", action="store_true", help="one JSON object a finding, for programs")


def run(arguments: argparse.Namespace) -> int:
    """Diagnose; 0 whatever is found."""
    data = SweepData.read(arguments.folder)
    if not data.points:
        raise ConfigError(f"{arguments.folder}: no point of the sweep is complete; run the sweep again")
    known = data.question_ids
    for question in arguments.question:
        if question not in known:
            raise ConfigError(f"--question: got {question!r}; {near(question, known[:200])}")
    if arguments.cause and arguments.cause not in NAMES:
        raise ConfigError(f"--cause: got {arguments.cause!r}; {near(arguments.cause, NAMES)}")
    points = [find_point(data.points, name) for name in arguments.point] or list(range(len(data.points)))
    found = diagnosis_of(data)
    chosen = [(i, finding) for i in points if i is not None for finding in _wanted(found, i, arguments)]
    if arguments.json:
        _print_json(data, chosen)
    elif arguments.question or arguments.point or arguments.cause:
        _print_findings(data, chosen, arguments.question)
    else:
        _print_counts(data, found)
    return 0


def _wanted(found: Diagnosis, point: int, arguments: argparse.Namespace) -> list[Finding]:
    return [
        finding
        for finding in found.findings[point]
        if finding
        and (not arguments.question or finding.question_id in arguments.question)
        and (not arguments.cause or finding.cause == arguments.cause)
    ]


def _print_json(data: SweepData, chosen: Sequence[tuple[int, Finding]]) -> None:
    for point, finding in chosen:
        row: dict[str, Any] = {"point_id": data.points[point].point_id, "label": data.points[point].label}
        row |= {"question_id": finding.question_id, "cause": finding.cause, "evidence": finding.evidence}
        row |= {"rank": finding.rank, "remedy": BY_NAME[finding.cause].remedy, "change": BY_NAME[finding.cause].change}
        print(json.dumps(row, ensure_ascii=False))


def _print_findings(data: SweepData, chosen: Sequence[tuple[int, Finding]], questions: Sequence[str]) -> None:
    """Each question with what happened at each point; causes that many points share are told once."""
    by_question: dict[str, list[tuple[int, Finding]]] = {}
    for point, finding in chosen:
        by_question.setdefault(finding.question_id, []).append((point, finding))
    for question in questions:
        if question not in by_question:
            print(f"{question}: nothing is wrong at {'these points' if len(data.points) > 1 else 'this point'}")
    for question, rows in by_question.items():
        golden = data.golden.get(question, {})
        print(f"{question}: {golden.get('question', '')}")
        for point, finding in rows[:SHOWN]:
            cause = BY_NAME[finding.cause]
            print(f"  {data.points[point].label}: {cause.title}: {finding.evidence}")
        if len(rows) > SHOWN:
            print(f"  … and at {len(rows) - SHOWN} more points (--json has all)")
        for name in dict.fromkeys(finding.cause for _, finding in rows):
            print(f"  {BY_NAME[name].title}: change the {BY_NAME[name].change}. {BY_NAME[name].remedy}")
    print(f"{len(chosen)} findings")


def _print_counts(data: SweepData, found: Diagnosis) -> None:
    """Counts of each cause by strategy."""
    from rich.console import Console
    from rich.table import Table

    families = found.by_family(data)
    present = [name for name in NAMES if any(counts[name] for counts in families.values())]
    console = Console()
    if not present:
        console.out("nothing missed, or nothing that can be told", highlight=False)
        return
    title = f"Why questions fail at {data.budget_tokens:,} tokens: counts over all settings of a strategy"
    table = Table(title=title, title_justify="left", header_style="bold")
    table.add_column("cause")
    table.add_column("change")
    for name in families:
        table.add_column(name, justify="right", overflow="fold")
    for name in present:
        row = [str(counts[name]) if counts[name] else "" for counts in families.values()]
        table.add_row(BY_NAME[name].title, BY_NAME[name].change, *row)
    table.add_section()
    table.add_row("all", "", *[str(sum(counts.values())) for counts in families.values()])
    console.print(table, markup=False)
    console.out("bench diagnose … --question ID, --point POINT or --cause CAUSE names the findings.", highlight=False)
