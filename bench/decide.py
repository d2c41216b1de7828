"""Verb ``decide``: one setting to ship, from the records of a sweep."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from bench.decision.build import decide, opened_before, opening
from bench.decision.choose import Rules
from bench.decision.options import Options
from bench.decision.production import write_production
from bench.decision.table import PREFER, Table
from bench.decision.words import words
from bench.errors import ConfigError
from bench.stats.resample import RESAMPLES
from bench.store import read_json, write_json

NO_WINNER = 1


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench decide``."""
    parser.add_argument("folder", type=Path, help="results/<sweep>, as bench sweep wrote it")
    parser.add_argument("--objective", default="", metavar="MEASURE", help="what to be best at (the sweep's headline)")
    parser.add_argument("--max-context-tokens", type=float, metavar="N", help="limit of context tokens a question")
    parser.add_argument("--max-index-mb", type=float, metavar="MB", help="limit of the index, 10^6 bytes")
    parser.add_argument("--max-latency-ms", type=float, metavar="MS", help="limit of retrieval p99")
    parser.add_argument("--max-embedding-s", type=float, metavar="S", help="limit of the seconds to embed the corpus")
    parser.add_argument("--min", action="append", default=[], metavar="MEASURE=VALUE", help="least mean of a measure")
    parser.add_argument("--baseline", default="", metavar="POINT", help="label or id of a point, or a baseline file")
    parser.add_argument(
        "--give-up",
        type=float,
        default=0.02,
        metavar="SHARE",
        help="most that a cheaper setting may score below the best (0.02; 1 sets no limit)",
    )
    parser.add_argument("--prefer", choices=sorted(PREFER), default="cheap", help="which cost breaks the tie")
    parser.add_argument("--trade-off", default="", metavar="A,B", help="measures and costs of the Pareto front")
    parser.add_argument("--judge-quality", type=Path, metavar="FILE", help="measured error rates of the judge (JSON)")
    parser.add_argument("--cluster", choices=("document", "question"), default="document", help="unit of resampling")
    parser.add_argument("--alpha", type=float, default=0.05, help="level of the whole family of tests")
    parser.add_argument("--resamples", type=int, default=RESAMPLES, help="bootstrap and permutation resamples")
    parser.add_argument("--seed", type=int, default=0, help="of splits and resamples")


def run(arguments: argparse.Namespace) -> int:
    """Decide, print, write; 0 when a setting is chosen, 1 when there are too few questions to choose."""
    decision, written = decide_folder(arguments.folder, _options(arguments))
    print("\n".join(words(decision)))
    print("\nWritten: " + ", ".join(map(str, written)))
    return 0 if decision["chosen"] else NO_WINNER


def decide_folder(folder: Path, options: Options) -> tuple[dict[str, Any], list[Path]]:
    """Decide on a sweep and write ``decision.json`` and the production files beside it; return both.

    Raises:
        BenchError: the folder holds no sweep, or no point of it can be compared under ``options``.
    """
    table = Table.read(folder)
    decision = decide(table, options)
    path = folder / "decision.json"
    decision["selection"]["openings"] = [*opened_before(path, decision), opening(decision)]
    files = write_production(table, decision, folder)
    write_json(path, json.loads(json.dumps(decision, default=_plain)))
    return decision, [path, *files]


def _plain(value: Any) -> Any:
    """NumPy scalars and mappings as JSON has them."""
    return value.item() if hasattr(value, "item") else dict(value)


def _options(arguments: argparse.Namespace) -> Options:
    if not 0 < arguments.alpha < 1:
        raise ConfigError(f"--alpha: got {arguments.alpha}; allowed: above 0 and below 1")
    if arguments.resamples < 100:
        raise ConfigError(f"--resamples: got {arguments.resamples}; allowed: at least 100")
    return Options(
        objective=arguments.objective,
        max_context_tokens=arguments.max_context_tokens,
        max_index_mb=arguments.max_index_mb,
        max_latency_ms=arguments.max_latency_ms,
        max_embedding_s=arguments.max_embedding_s,
        minimums=dict(_minimum(text) for text in arguments.min),
        baseline=arguments.baseline,
        prefer=arguments.prefer,
        cluster=arguments.cluster,
        trade_off=tuple(filter(None, arguments.trade_off.split(","))),
        judge_quality=read_json(arguments.judge_quality) if arguments.judge_quality else None,
        rules=Rules(
            alpha=arguments.alpha, resamples=arguments.resamples, seed=arguments.seed, give_up=arguments.give_up
        ),
    )


def _minimum(text: str) -> tuple[str, float]:
    name, _, bound = text.rpartition("=")
    try:
        return name, float(bound)
    except ValueError:
        raise ConfigError(f"--min: got {text!r}; write MEASURE=VALUE, for example faithfulness=.85") from None
