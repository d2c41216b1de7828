"""What changed between two sweeps: setting by setting, question by question."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.errors import ConfigError
from bench.report.causes import BY_NAME
from bench.report.data import SweepData
from bench.report.diagnosis import diagnose_point
from bench.report.page import environment
from bench.stats.flips import compare, holm
from bench.stats.resample import RESAMPLES, mean_intervals, weights
from bench.stats.scores import Array, Scores
from bench.store import write_bytes

SAME = (("golden_sha256", "the golden questions"), ("sha256", "the documents"))
SETTINGS = (("tokenizer", "the budget tokenizer"), ("rules", "the scoring rules"), ("seed", "the seed"))
CHANGED = 1e-9
SHOWN = 15


@dataclass(frozen=True, slots=True)
class Pair:
    """One setting in both sweeps: means on the shared questions, paired difference, p over all settings (Holm)."""

    label: str
    before: float
    after: float
    low: float
    high: float
    p: float
    n: int
    better: int
    worse: int


@dataclass(frozen=True, slots=True)
class Change:
    """One question: mean score over the shared settings in both sweeps, causes at the best shared setting."""

    question_id: str
    text: str
    category: str
    before: float
    after: float
    cause_before: str
    cause_after: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that changed from one sweep to another, on ``measure``."""

    names: tuple[str, str]
    measure: str
    differing: list[str]
    pairs: list[Pair]
    only_before: list[str]
    only_after: list[str]
    shared: int
    lost_questions: list[str]
    new_questions: list[str]
    changes: list[Change]


def compare_sweeps(before: SweepData, after: SweepData) -> Comparison:
    """Compare two sweeps on the headline of the second.

    Raises:
        ConfigError: the first has no scores of that measure, or they share no setting or no question.
    """
    measure = after.headline
    if before.points and measure not in before.table.values:
        raise ConfigError(f"--compare: {before.folder} has no scores of {measure}, the headline of {after.folder}")
    columns = _shared_points(before, after)
    ids = [name for name in before.question_ids if name in set(after.question_ids)]
    if not columns or not ids:
        missing = "setting (by label)" if not columns else "question (by id)"
        raise ConfigError(f"--compare: {before.folder} and {after.folder} share no {missing}; nothing can be compared")
    old, new = _scores(before, measure, ids), _scores(after, measure, ids)
    clusters = [before.clusters[before.question_ids.index(name)] for name in ids]
    pairs = [
        _pair(after.points[j].label, old[:, i], new[:, j], clusters, int(after.header["seed"])) for i, j in columns
    ]
    adjusted = holm(np.array([pair.p for pair in pairs]))
    return Comparison(
        names=(before.name, after.name),
        measure=measure,
        differing=_differing(before, after),
        pairs=[_with_p(pair, float(p)) for pair, p in zip(pairs, adjusted, strict=True)],
        only_before=[p.label for i, p in enumerate(before.points) if i not in {i for i, _ in columns}],
        only_after=[p.label for j, p in enumerate(after.points) if j not in {j for _, j in columns}],
        shared=len(ids),
        lost_questions=[name for name in before.question_ids if name not in set(ids)],
        new_questions=[name for name in after.question_ids if name not in set(ids)],
        changes=_changes(before, after, columns, ids, old, new),
    )


def _shared_points(before: SweepData, after: SweepData) -> list[tuple[int, int]]:
    place = {point.label: i for i, point in enumerate(before.points)}
    return [(place[point.label], j) for j, point in enumerate(after.points) if point.label in place]


def _scores(data: SweepData, measure: str, ids: list[str]) -> Array:
    rows = {name: i for i, name in enumerate(data.question_ids)}
    return np.asarray(data.table.values[measure][[rows[name] for name in ids]])


def _pair(label: str, old: Array, new: Array, clusters: list[str], seed: int) -> Pair:
    both = ~np.isnan(old) & ~np.isnan(new)
    if not both.any():
        return Pair(label, float("nan"), float("nan"), float("nan"), float("nan"), 1.0, 0, 0, 0)
    kept = [name for name, keep in zip(clusters, both, strict=True) if keep]
    scores = Scores.of(np.stack((new[both], old[both]), axis=1), kept)
    family = compare(scores, np.array([[0, 1]], dtype=np.int64), seed=seed)
    drawn = weights(scores.n_clusters, RESAMPLES, seed)
    low, high = mean_intervals(scores.minus(1), drawn)[:, 0]
    change = new[both] - old[both]
    counts = int((change > CHANGED).sum()), int((change < -CHANGED).sum())
    means = float(old[both].mean()), float(new[both].mean())
    return Pair(label, *means, float(low), float(high), float(family.p[0]), int(both.sum()), *counts)


def _with_p(pair: Pair, p: float) -> Pair:
    return Pair(pair.label, pair.before, pair.after, pair.low, pair.high, p, pair.n, pair.better, pair.worse)


def _differing(before: SweepData, after: SweepData) -> list[str]:
    """What is not the same, so that differences may come from it."""
    first, second = before.header, after.header
    found = [words for key, words in SAME if first["corpus"].get(key) != second["corpus"].get(key)]
    found += [words for key, words in SETTINGS if first.get(key) != second.get(key)]
    old, new = (header.get("provenance", {}).get("packages", {}) for header in (first, second))
    found += [
        f"{name} {old.get(name)} → {new.get(name)}" for name in sorted({*old, *new}) if old.get(name) != new.get(name)
    ]
    return found


def _changes(
    before: SweepData, after: SweepData, columns: list[tuple[int, int]], ids: list[str], old: Array, new: Array
) -> list[Change]:
    """Questions whose mean over the shared settings moved, those that moved most first."""
    first, second = [i for i, _ in columns], [j for _, j in columns]
    best = max(columns, key=lambda pair: after.points[pair[1]].mean(after.headline) or 0.0)
    causes = [_causes(data, point) for data, point in ((before, best[0]), (after, best[1]))]
    categories = dict(zip(after.question_ids, after.table.categories, strict=True))
    rows = []
    for line, name in enumerate(ids):
        known = ~np.isnan(old[line, first]) & ~np.isnan(new[line, second])
        if known.any():
            means = float(old[line, first][known].mean()), float(new[line, second][known].mean())
            text = str(after.golden.get(name, {}).get("question", ""))
            rows.append(Change(name, text, categories[name], *means, causes[0].get(name, ""), causes[1].get(name, "")))
    moved = [row for row in rows if abs(row.after - row.before) > CHANGED]
    return sorted(moved, key=lambda row: (-abs(row.after - row.before), row.question_id))


def _causes(data: SweepData, point: int) -> dict[str, str]:
    return {f.question_id: BY_NAME[f.cause].title for f in diagnose_point(data, point) if f}


def print_comparison(found: Comparison) -> None:
    """Print what changed: settings, then the questions that moved most."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(
        title=f"{found.names[0]} → {found.names[1]}: {found.measure}", title_justify="left", header_style="bold"
    )
    for name in ("setting", "before", "after", "change", "95 %", "p", "better", "worse"):
        table.add_column(name, justify="left" if name == "setting" else "right", overflow="fold")
    for pair in found.pairs:
        change = f"{100 * (pair.after - pair.before):+.1f}"
        interval = f"{100 * pair.low:+.1f} to {100 * pair.high:+.1f}"
        means = [f"{100 * pair.before:.1f}", f"{100 * pair.after:.1f}"]
        table.add_row(pair.label, *means, change, interval, f"{pair.p:.2g}", str(pair.better), str(pair.worse))
    console.print(table, markup=False)
    for line in _lines(found):
        console.out(line, highlight=False)


def _lines(found: Comparison) -> list[str]:
    lines = [f"On {found.shared} shared questions; p adjusted over the settings (Holm), by document."]
    lines += [f"Not the same: {', '.join(found.differing)}."] if found.differing else []
    lines += [f"Only before: {', '.join(found.only_before)}."] if found.only_before else []
    lines += [f"Only after: {', '.join(found.only_after)}."] if found.only_after else []
    lines += [f"{len(found.lost_questions)} questions are gone, {len(found.new_questions)} are new."]
    lines += ["No question moved."] if not found.changes else ["Questions that moved most:"]
    for row in found.changes[:SHOWN]:
        cause = (
            f" ({row.cause_before or 'found'} → {row.cause_after or 'found'})"
            if row.cause_before != row.cause_after
            else ""
        )
        lines.append(f"  {row.question_id} {100 * row.before:.0f} → {100 * row.after:.0f}{cause}: {row.text}")
    more = len(found.changes) - SHOWN
    return [*lines, *([f"  … and {more} more in the page"] if more > 0 else [])]


def write_comparison(found: Comparison, folder: Path) -> Path:
    """Write ``compare-<before>.html`` into ``folder``.

    Raises:
        StoreError: the folder cannot be written.
    """
    made: Any = environment()
    style = made.loader.get_source(made, "page.css")[0]
    text = made.get_template("compare.html.j2").render(found=found, style=style)
    path = folder / f"compare-{found.names[0]}.html"
    write_bytes(path, text.encode("utf-8", "replace"))
    return path
