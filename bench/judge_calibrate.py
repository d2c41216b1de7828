"""``bench judge calibrate``: a judge's error rates against labels of your own, for bias-corrected rates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from bench.errors import ConfigError
from bench.judge_quality import LABELS, Judged, Labelled, agreement, table
from bench.judges.base import Check, Engine, Tools
from bench.judges.cross_encoder import CrossEncoder, CrossEngine
from bench.judges.features import Embed
from bench.judges.offline import Offline, OfflineEngine
from bench.judges.openai import ModelEngine, OpenAI
from bench.replies import Endpoint
from bench.serve import open_chat
from bench.settings import check_groups, choose
from bench.stats.judge import JudgeQuality
from bench.store import write_json

TRUE = {"supported": 2, "partially_supported": 1, "partial": 1, "not_supported": 0, "unsupported": 0, "contradicted": 0}


def calibrate(
    labels: Path,
    settings: Sequence[str],
    out: Path,
    replies: Path,
    embed: Embed | None = None,
    *,
    sample: int | None = None,
) -> int:
    """Judge the labelled claims, print the agreement, write the rates that ``report`` corrects with.

    ``sample`` takes so many of them, each label with its share: calls to a slow or paid judge are bounded.

    Raises:
        ConfigError: a row is malformed, or one kind of label is missing.
    """
    check_groups(settings, ("judge",))
    judge = choose("judge", settings, "offline")
    rows = sampled(read_labels(labels), sample)
    engine = engine_of(judge, replies, embed)
    found = engine.verify([Check(row.claim, row.passages) for row in rows])
    kept = [(row, one.value) for row, one in zip(rows, found, strict=True) if one.value is not None]
    judged = Judged(
        np.array([row.label for row, _ in kept]),
        np.array(
            [TRUE[verdict.verdict] if verdict.score is None else verdict.score for _, verdict in kept], dtype=float
        ),
        np.array([TRUE[verdict.verdict] for _, verdict in kept]),
    )
    figures = agreement(judged)
    print(table([(judge.name, len(kept), figures)]))
    n_pos, n_neg = int((judged.labels == 2).sum()), int((judged.labels != 2).sum())
    if not n_pos or not n_neg:
        raise ConfigError(f"{labels}: {n_pos} supported and {n_neg} other labels; both kinds are needed")
    quality = JudgeQuality(figures["TPR"].value or 0.0, figures["TNR"].value or 0.0, n_pos, n_neg)
    write_json(out, asdict(quality) | {"judge": judge.name, "labels": labels.name, "failed": len(rows) - len(kept)})
    usable = "rates can be corrected" if quality.usable else "TPR + TNR <= 1.1: no rate of this judge can be corrected"
    print(f"written: {out}; {usable}" + (f"; {len(rows) - len(kept)} calls failed" if len(kept) < len(rows) else ""))
    return 0


def sampled(rows: list[Labelled], count: int | None, seed: int = 0) -> list[Labelled]:
    """Return ``count`` of the rows, each label with its share (largest remainders), in their order; all if fewer.

    Raises:
        ConfigError: the count is not positive.
    """
    if count is None or count >= len(rows):
        return rows
    if count < 1:
        raise ConfigError(f"--sample: got {count}; allowed: at least 1")
    rng = np.random.default_rng(seed)
    labels = np.array([row.label for row in rows])
    exact = count * np.bincount(labels, minlength=3) / len(rows)
    take = exact.astype(np.int64)
    take[np.argsort(take - exact, kind="stable")[: count - int(take.sum())]] += 1
    kept = [rng.permutation(np.flatnonzero(labels == label))[:n] for label, n in enumerate(take)]
    return [rows[i] for i in sorted(np.concatenate(kept).tolist())]


def engine_of(judge: Any, replies: Path, embed: Embed | None) -> Engine:
    """Return the engine of a configured judge."""
    if isinstance(judge, Offline):
        return OfflineEngine(embed if judge.likeness else None)
    if isinstance(judge, CrossEncoder):
        return CrossEngine(judge, embed)
    if isinstance(judge, OpenAI) and isinstance(judge, Endpoint):
        chat = open_chat(judge.endpoint(), replies)
        return ModelEngine(judge, chat, Tools(embed, chat))
    raise ConfigError(
        f"judge {type(judge).__name__}: cannot be calibrated; allowed: offline, openai, local, cross_encoder"
    )


def read_labels(path: Path) -> list[Labelled]:
    """Return the labelled claims of a JSON Lines file.

    Raises:
        ConfigError: with file:line, for a row without claim, context or label.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{path}: cannot be read ({reason}); give a JSON Lines file of labels") from error
    rows = [_label(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise ConfigError(f'{path}: holds no rows; write {{"claim", "context", "label"}} one a line')
    return rows


def _label(line: str, where: str) -> Labelled:
    try:
        row: dict[str, Any] = json.loads(line)
        passages = row["passages"] if "passages" in row else [row["context"]]
        label = row["label"]
        claim = str(row["claim"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f'{where}: needs "claim", "context" (or "passages") and "label" ({error})') from error
    value = (2 if label else 0) if isinstance(label, bool) else TRUE.get(str(label))
    if value is None or not isinstance(passages, list):
        raise ConfigError(f"{where}: label {label!r}; allowed: true, false, {', '.join(LABELS)}")
    return Labelled(claim, tuple(str(passage) for passage in passages), value)
