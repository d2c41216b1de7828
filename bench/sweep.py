"""Verb ``sweep``: plan, check, run every point through Hydra's launcher, then summarise."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from bench.answer_forecast import Cutting, shown
from bench.config import PointConfig, point_config
from bench.decide import decide_folder
from bench.decision.choose import Rules
from bench.decision.options import Options
from bench.decision.words import opening_words
from bench.errors import BenchError, ConfigError
from bench.files import remove_stale
from bench.paths import conf_dir
from bench.pipeline import execute
from bench.plan import Plan, config_overrides, plan_sweep
from bench.points import label
from bench.progress import Bar, progress
from bench.provenance import provenance
from bench.replies import Forecast, LimitReached
from bench.report.data import SweepData
from bench.report.summary import print_summary
from bench.report.write import write_report
from bench.session import MEASURES_VERSION, Session
from bench.store import SCHEMA_VERSION, Sweep, read_object, write_json
from bench.tokenize import get_tokenizer

SOME_FAILED = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench sweep``."""
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="settings; several values are swept")
    parser.add_argument("--config", type=Path, help="a YAML file of settings, as bench decide writes")
    parser.add_argument("--dry-run", action="store_true", help="list the points and stop")


def run(arguments: argparse.Namespace) -> int:
    """Run a sweep; 0 when every point is complete, 3 when some failed."""
    with tempfile.TemporaryDirectory() as scratch:
        from_file = config_overrides(arguments.config, Path(scratch)) if arguments.config else []
        plan = plan_sweep([*from_file, *arguments.overrides])
        session = Session.of(plan.points[0])
        ids = [session.point_id(point) for point in plan.points]
        if arguments.dry_run:
            return _list_points(plan, ids, session)
        sweep = _sweep_of(plan.points[0])
        remove_stale(sweep.folder)
        changed = _open(sweep, plan, ids, session)
        changed |= _run_missing(plan, sweep, ids, session)
    return _finish(sweep, ids, changed)


def _list_points(plan: Plan, ids: Sequence[str], session: Session) -> int:
    """Print the points, and what cutting, generation and judging would send for them."""
    cutting = Cutting(session.corpus.documents, get_tokenizer(plan.points[0].tokenizer).count)
    found = {"generator": Forecast(), "judge": Forecast()}
    for point, name in zip(plan.points, ids, strict=True):
        calls = cutting.add(point.chunker)
        print(f"{name}  {label(point)}{calls and f': {calls}'}")
        for part, one in session.forecast(point).items():
            found[part] += one
    asked = {part: one for part, one in ({"chunker": cutting.total} | found).items() if one.calls}
    if asked:
        print(shown(asked, ["chunker"] if cutting.bound else []))
    print(f"{len(ids)} points; nothing was run")
    return 0


def _open(sweep: Sweep, plan: Plan, ids: Sequence[str], session: Session) -> bool:
    """Write the sweep's header and inputs unless they stand there already; true if they did not.

    Raises:
        StoreError: the folder cannot be written, which is said before any work.
    """
    first = plan.points[0]
    header = {
        "schema_version": SCHEMA_VERSION,
        "name": plan.name,
        "description": first.sweep.description,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "overrides": plan.overrides,
        "corpus": session.corpus_summary(),
        "tokenizer": first.tokenizer,
        "cuts": {"ks": list(first.scoring.ks), "tokens": list(first.scoring.budgets_tokens)},
        "headline": first.scoring.headline,
        "headline_tokens": first.scoring.headline_tokens,
        "rules": first.scoring.rules,
        "relevance_threshold": first.scoring.relevance,
        "seed": first.seed,
        "measures_version": MEASURES_VERSION,
        "points": list(dict.fromkeys(ids)),
        "provenance": provenance(),
    }
    if (sweep.folder / "sweep.json").is_file():
        before = read_object(sweep.folder / "sweep.json")
        whole = all((sweep.folder / name).is_file() for name in ("documents.jsonl.gz", "golden.jsonl"))
        if whole and {**before, "created": ""} == {**header, "created": ""}:
            return False
    sweep.write_inputs(session.corpus.documents, session.golden_rows())
    write_json(sweep.folder / "sweep.json", header)
    return True


def _run_missing(plan: Plan, sweep: Sweep, ids: Sequence[str], session: Session) -> bool:
    """Hand the points to Hydra's launcher, unless all of them are there already; true if any ran."""
    missing = [point for point, name in zip(plan.points, ids, strict=True) if not sweep.has(name)]
    if not missing:
        return False
    for point in missing:
        session.check(point)  # a model that is not there is said before any point runs
    with progress(len(plan.points)) as bar:
        process = _Process(session, bar)
        RUNNING.append(process)
        try:
            _launch([*plan.overrides, f"hydra.sweep.dir={sweep.folder}/.hydra"])
        finally:
            RUNNING.clear()
    if isinstance(process.stopped, LimitReached):
        print(f"bench sweep: {process.stopped}", file=sys.stderr)
    elif process.stopped is not None:
        raise process.stopped
    return True


def _launch(overrides: Sequence[str]) -> None:
    import hydra

    os.environ["HYDRA_FULL_ERROR"] = "1"  # else an interrupt while it composes ends in its own report and exit code
    argv, sys.argv = sys.argv, ["bench", "--multirun", *overrides]
    try:
        hydra.main(config_path=str(conf_dir()), config_name="config", version_base="1.3")(task)()
    finally:
        sys.argv = argv


@dataclass
class _Process:
    """What the points that run in this process share; worker processes of a launcher make their own."""

    session: Session
    bar: Bar
    stopped: BenchError | None = None


RUNNING: list[_Process] = []


def task(config: DictConfig) -> None:
    """Run one point, as Hydra's launcher calls it, here or in a worker process.

    A fault of the point is recorded as failed. What concerns the whole sweep (a store that cannot be written, a limit
    that is used up, settings that were edited meanwhile) ends it.
    """
    if not RUNNING:
        point = point_config(config)
        execute(point, Session.of(point), _sweep_of(point))
        return
    process = RUNNING[0]
    if process.stopped is not None:
        return
    try:
        point = point_config(config)
        process.bar.start(label(point))
        execute(point, process.session, _sweep_of(point))
    except BenchError as error:
        process.stopped = error
    process.bar.done()


def _sweep_of(point: PointConfig) -> Sweep:
    return Sweep(Path(point.sweep.results) / point.sweep.name)


def _finish(sweep: Sweep, ids: Sequence[str], changed: bool) -> int:
    """Decide and report, unless nothing has changed since; say which points have no record.

    Only a worker that died, or a limit that was reached, leaves a point without one.
    """
    if changed or not (sweep.folder / "report.html").is_file():
        decision, written = _decide(sweep)
        data = SweepData.read(sweep.folder)
        written += write_report(data)
    else:
        data = SweepData.read(sweep.folder)
        decision, written = data.decision or {}, [sweep.folder / "report.html"]
    print_summary(data, written)
    if decision:
        print("\n".join([*opening_words(decision), f"More: bench decide {sweep.folder}"]))
    lost = [name for name in ids if not (sweep.point_dir(name) / "record.json").is_file()]
    if lost:
        print(f"{len(lost)} points have no record: run the same command to go on", file=sys.stderr)
    return SOME_FAILED if data.failed or lost else 0


def _decide(sweep: Sweep) -> tuple[dict[str, Any], list[Path]]:
    """Decide by the headline with the default rules, where there are points to choose from."""
    if sum(r.status == "complete" and r.duplicate_of is None for r in sweep.records()) < 2:
        return {}, []
    try:
        return decide_folder(sweep.folder, Options(rules=Rules(seed=int(sweep.header()["seed"]))))
    except ConfigError as error:  # no point has a score on the headline: the summary still stands
        print(f"no decision: {error}", file=sys.stderr)
        return {}, []
