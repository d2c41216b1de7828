"""Verb ``history``: measures of several sweeps over time, with what each was made with and which changes are real."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Sequence
from pathlib import Path

from bench.store import write_bytes
from bench.trend.data import Run, direction, history


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench history``."""
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="sweeps, or folders that hold sweeps")
    parser.add_argument("--measures", default="", metavar="A,B", help="measures to show (headline and judged ones)")
    parser.add_argument("--point", default="", metavar="POINT", help="label or id, the same in every sweep")
    parser.add_argument("-o", "--output", type=Path, default=Path("history"), help="folder for the table and figure")


def run(arguments: argparse.Namespace) -> int:
    """Print the table; write history.csv, history.svg and history.png."""
    from bench.trend.figure import draw

    runs = history(arguments.folders, list(filter(None, arguments.measures.split(","))), arguments.point)
    measures = list(dict.fromkeys(measure for one in runs for measure in one.values))
    files = [arguments.output / f"history.{suffix}" for suffix in ("csv", "svg", "png")]
    write_bytes(files[0], table(runs, measures).encode())
    if measures:
        draw(runs, measures, files[1:])
    print("\n".join(lines(runs, measures)))
    print("\nWritten: " + ", ".join(str(file) for file in files if file.is_file()))
    return 0


def lines(runs: Sequence[Run], measures: Sequence[str]) -> list[str]:
    """One line a run and measure, with the change and whether it is beyond noise."""
    rows = []
    for one in runs:
        models = ", ".join(
            f"{group} {one.models[group]}" for group in ("embedder", "generator", "judge") if group in one.models
        )
        rows.append(
            f"{one.created}  {one.sweep}  {one.label}  configuration {one.configuration}  corpus {one.corpus}  {models}"
        )
        for measure in measures:
            value = one.values.get(measure)
            if value is None:
                rows.append(f"    {measure}: not measured")
                continue
            text = f"    {measure} {value.mean:.3f} [{value.low:.3f}, {value.high:.3f}], n = {value.n}"
            if value.change is not None:
                verdict = direction(measure, value) or "within noise"
                text += f"; {value.change:+.3f} since the run before (adjusted p = {value.p:.2g}): {verdict}"
            rows.append(text + (f"; {value.note}" if value.note else ""))
    return rows


def table(runs: Sequence[Run], measures: Sequence[str]) -> str:
    """The history as CSV, one row a run and measure."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head = ["created", "sweep", "label", "configuration", "corpus", "golden", "code", "models"]
    writer.writerow([*head, "measure", "mean", "low", "high", "n", "change", "p_adjusted", "verdict", "note"])
    for one in runs:
        models = "; ".join(f"{name} {version}" for name, version in one.models.items())
        about = [one.created, one.sweep, one.label, one.configuration, one.corpus, one.golden, one.code, models]
        for measure, v in ((m, one.values[m]) for m in measures if m in one.values):
            change = ["", ""] if v.change is None else [v.change, v.p]
            writer.writerow([*about, measure, v.mean, v.low, v.high, v.n, *change, direction(measure, v), v.note])
    return out.getvalue()
