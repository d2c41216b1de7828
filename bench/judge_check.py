"""``bench judge``: how well a judge agrees with people, on WiCE or on labels of your own.

WiCE (Kamoi et al. 2023) is not part of the package; it is read from the shared data. Each of its splits is scored by
weights that were fitted on the other one, so no claim is judged by weights that have seen it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.errors import ConfigError
from bench.judge_fit import as_json, features, fit, without_support
from bench.judge_quality import LABELS, Judged, Labelled, agreement, table
from bench.judges.base import Check
from bench.judges.features import Embed, needed_texts
from bench.judges.offline import WEIGHTS_FILE, OfflineEngine, Weights
from bench.paths import conf_dir, shared_dir
from bench.sentences import content_words, sentences, stems
from bench.vectors import VectorMemo

SPLITS = ("dev", "test")
TARGETS = {"AUC supported/not": 0.90, "AUC supported/rest": 0.74}


def configure(parser: argparse.ArgumentParser) -> None:
    """Set the options of ``bench judge``."""
    verbs = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = verbs.add_parser("check", help="score the offline judge and plain baselines on WiCE")
    check.add_argument("--fit", action="store_true", help="fit the weights on the dev split again and write them")
    check.add_argument("--lexical", action="store_true", help="no embedder: seconds in place of minutes")
    check.add_argument("--cache", type=Path, default=Path(".cache/vectors.sqlite"), help="cache of vectors")
    calibrate = verbs.add_parser("calibrate", help="measure a judge against labels of your own")
    calibrate.add_argument("labels", type=Path, help='rows of {"claim", "context" or "passages", "label"}')
    calibrate.add_argument("settings", nargs="*", help="judge=NAME judge.key=value, as for bench sweep")
    calibrate.add_argument("--out", type=Path, default=Path("judge_quality.json"), help="where the rates are written")
    calibrate.add_argument("--replies", type=Path, default=Path(".cache/replies.sqlite"), help="cache of replies")


def run(arguments: argparse.Namespace) -> int:
    """Run one action of ``bench judge``."""
    if arguments.action == "calibrate":
        from bench.judge_calibrate import calibrate

        return calibrate(arguments.labels, arguments.settings, arguments.out, arguments.replies)
    return check(load_wice(), None if arguments.lexical else minilm(arguments.cache), fit_again=arguments.fit)


def minilm(cache: Path) -> VectorMemo:
    """Return the embedder of the default configuration, behind the cache of vectors."""
    from omegaconf import OmegaConf

    from bench.config import build
    from bench.embedders.cache import CachedEmbedder, VectorCache

    node: Any = OmegaConf.load(conf_dir() / "embedder" / "minilm.yaml")
    embedder = CachedEmbedder(build(node, "embedder").load(), VectorCache(cache))
    return VectorMemo(lambda texts: embedder.encode(texts, "passage"))


def load_wice() -> list[dict[str, Any]]:
    """Return the rows of WiCE: claim, context, label, support_spans, split.

    Raises:
        ConfigError: the shared data are absent.
    """
    folder = shared_dir()
    if folder is None:
        raise ConfigError("WiCE: the shared data sets are absent; set BENCH_SHARED to their folder")
    lines = (folder / "data" / "wice" / "wice.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def labelled(row: dict[str, Any]) -> Labelled:
    """Return one row of WiCE as a labelled claim."""
    return Labelled(row["claim"], (row["context"],), LABELS.index(row["label"]), row["split"])


def check(rows: list[dict[str, Any]], embed: VectorMemo | None, *, fit_again: bool = False) -> int:
    """Print the table of agreement; 1 if the offline judge misses a target, else 0."""
    claims = [labelled(row) for row in rows]
    cut = {(row["claim"], row["context"]): _cut(row) for row in rows}
    fewer = without_support(claims, lambda claim: cut[claim.claim, claim.passages[0]])
    if embed is not None:
        embed.prime(text for claim in (*claims, *fewer) for text in needed_texts(claim.claim, _sentences(claim)))
    lines = [*_baselines(claims, embed)]
    kinds: dict[str, Embed | None] = {"lexical": None} | ({"likeness": embed} if embed is not None else {})
    stored = {}
    for kind, vectors in kinds.items():
        weights = {split: _fit(split, claims, fewer, vectors) for split in SPLITS}
        stored[kind] = as_json(weights["dev"])
        judged = {split: _judge(_of(claims, split), weights[_other(split)], vectors) for split in SPLITS}
        for split in SPLITS:
            name = f"offline ({kind}), fitted on {_other(split)}, on {split}"
            lines.append((name, len(judged[split].labels), agreement(judged[split])))
        both = _join([judged[split] for split in SPLITS])
        lines.append((f"offline ({kind}), each split by the other", len(both.labels), agreement(both)))
    print(table(lines))
    if fit_again:
        made = {"made_by": "python -m bench.judge_check --fit", "fitted_on": "WiCE dev, with and without its evidence"}
        WEIGHTS_FILE.write_text(json.dumps({**made, **stored}, indent=1) + "\n", encoding="utf-8")
        print(f"written: {WEIGHTS_FILE.name}")
    return _verdict(lines[-1])


def _verdict(line: tuple[str, int, dict[str, Any]]) -> int:
    name, _, figures = line
    missed = [
        f"{key} {figures[key].value:.3f} < {least}" for key, least in TARGETS.items() if figures[key].value < least
    ]
    print(f"{name}: " + ("; ".join(missed) if missed else "above " + ", ".join(f"{k} {v}" for k, v in TARGETS.items())))
    return 1 if missed else 0


def _sentences(claim: Labelled) -> list[str]:
    return [sentence for passage in claim.passages for sentence in sentences(passage)]


def _cut(row: dict[str, Any]) -> str | None:
    """Context without its evidence; None where there is none, or nothing else."""
    text = row["context"]
    for span in sorted(row["support_spans"], key=lambda span: -int(span["start"])):
        text = f"{text[: span['start']]}\n{text[span['end'] :]}"
    return text if row["support_spans"] and len(sentences(text)) >= 3 else None


def _other(split: str) -> str:
    return SPLITS[1 - SPLITS.index(split)]


def _of(claims: Sequence[Labelled], split: str) -> list[Labelled]:
    return [claim for claim in claims if claim.split == split]


def _fit(split: str, claims: Sequence[Labelled], fewer: Sequence[Labelled], embed: Embed | None) -> Weights:
    own = _of(claims, split)
    rows = [*own, *_of(fewer, split)]
    real = np.arange(len(rows)) < len(own)
    return fit(features(rows, embed), np.array([row.label for row in rows]), real, 3 if embed is None else 4)


def _judge(claims: Sequence[Labelled], weights: Weights, embed: Embed | None) -> Judged:
    engine = OfflineEngine(embed, weights)
    found = engine.verify([Check(claim.claim, claim.passages) for claim in claims])
    names = {"supported": 2, "partial": 1, "unsupported": 0, "contradicted": 0}
    verdicts = [one.value for one in found if one.value is not None]
    return Judged(
        np.array([claim.label for claim in claims]),
        np.array([verdict.score or 0.0 for verdict in verdicts]),
        np.array([names[verdict.verdict] for verdict in verdicts]),
    )


def _join(parts: Sequence[Judged]) -> Judged:
    return Judged(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("labels", "scores", "verdicts")))


def _baselines(claims: Sequence[Labelled], embed: Embed | None) -> list[tuple[str, int, dict[str, Any]]]:
    """Word overlap, best-sentence cosine and their sum: no verdicts, so no accuracy."""
    overlap = np.array([_overlap(claim) for claim in claims])
    scores = {"word overlap": overlap}
    if embed is not None:
        scores["best-sentence cosine, likely sentences"] = cosine = np.array(
            [_cosine(claim, embed) for claim in claims]
        )
        scores["their sum"] = overlap + cosine
    judged = {name: _without_verdicts(claims, values) for name, values in scores.items()}
    test = np.flatnonzero([claim.split == "test" for claim in claims])
    rows = [(name, len(claims), agreement(one, verdicts=False)) for name, one in judged.items()]
    return rows + [(f"{n}, on test", len(test), agreement(j.take(test), verdicts=False)) for n, j in judged.items()]


def _without_verdicts(claims: Sequence[Labelled], scores: Any) -> Judged:
    labels = np.array([claim.label for claim in claims])
    return Judged(labels, scores, np.zeros(len(labels), dtype=np.int64))


def _overlap(claim: Labelled) -> float:
    words = [word.stem for word in content_words(claim.claim)]
    held = frozenset().union(*(stems(sentence) for sentence in _sentences(claim)))
    return sum(word in held for word in words) / max(1, len(words))


def _cosine(claim: Labelled, embed: Embed) -> float:
    texts = needed_texts(claim.claim, _sentences(claim))
    vectors = embed(texts)
    return float((vectors[1:] @ vectors[0]).max())


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m bench.judge_check``: the action ``check`` alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    configure(parser)
    return run(parser.parse_args(["check", *(argv if argv is not None else _argv())]))


def _argv() -> list[str]:
    import sys

    return sys.argv[1:]


if __name__ == "__main__":
    raise SystemExit(main())
