"""``bench judge``: how well a judge agrees with people, on WiCE or on labels of your own.

WiCE (Kamoi et al. 2023) is not part of the package; it is read from the shared data. The judge was chosen and fitted on
its dev split; ``check`` holds what it says of the test split against people. The dev split is scored by weights fitted
on the test split, so no claim is judged by weights that have seen it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.errors import ConfigError
from bench.judge_fit import as_json, cross_validated, features, fit, without_support
from bench.judge_quality import LABELS, Judged, Labelled, agreement, table
from bench.judges.base import Check
from bench.judges.features import Embed, needed_texts
from bench.judges.offline import WEIGHTS_FILE, OfflineEngine, Weights, load_weights
from bench.paths import conf_dir, shared_dir
from bench.sentences import content_words, sentences, stems
from bench.vectors import VectorMemo

OWN, UNSEEN = SPLITS = ("dev", "test")
COUNTS = {"lexical": 3, "likeness": 4}
TARGETS = {"AUC supported/not": 0.90, "AUC supported/rest": 0.74}


def configure(parser: argparse.ArgumentParser) -> None:
    """Set the options of ``bench judge``."""
    verbs = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = verbs.add_parser("check", help="score the offline judge and plain baselines on WiCE")
    check.add_argument("--fit", action="store_true", help="fit on the dev split again, test unread; write the weights")
    check.add_argument("--lexical", action="store_true", help="no embedder: seconds in place of minutes")
    check.add_argument("--cache", type=Path, default=Path(".cache/vectors.sqlite"), help="cache of vectors")
    calibrate = verbs.add_parser("calibrate", help="measure a judge against labels of your own")
    calibrate.add_argument("labels", type=Path, help='rows of {"claim", "context" or "passages", "label"}')
    calibrate.add_argument("settings", nargs="*", help="judge=NAME judge.key=value, as for bench sweep")
    calibrate.add_argument("--out", type=Path, default=Path("judge_quality.json"), help="where the rates are written")
    calibrate.add_argument("--sample", type=int, metavar="N", help="judge N claims, each label with its share")
    calibrate.add_argument("--replies", type=Path, default=Path(".cache/replies.sqlite"), help="cache of replies")


def run(arguments: argparse.Namespace) -> int:
    """Run one action of ``bench judge``."""
    if arguments.action == "calibrate":
        from bench.judge_calibrate import calibrate

        return calibrate(
            arguments.labels, arguments.settings, arguments.out, arguments.replies, sample=arguments.sample
        )
    embed = None if arguments.lexical else minilm(arguments.cache)
    return fit_again(load_wice(), embed) if arguments.fit else check(load_wice(), embed)


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


def check(rows: list[dict[str, Any]], embed: VectorMemo | None) -> int:
    """Print the table of agreement; 1 if the judge as shipped misses a target on the split it has not seen, else 0."""
    claims, fewer = _prepared(rows, embed)
    lines, unseen = _baselines(claims, embed), []
    for kind, vectors in _kinds(embed).items():
        on_test = _judge(_of(claims, UNSEEN), load_weights(kind), vectors)
        on_dev = _judge(_of(claims, OWN), _fit(UNSEEN, claims, fewer, vectors), vectors)
        both = _join([on_dev, on_test])
        unseen.append(_line(f"offline ({kind}) as shipped, fitted on dev, on test", on_test))
        lines += [
            unseen[-1],
            _line(f"offline ({kind}), fitted on test, on dev", on_dev),
            _line(f"offline ({kind}), each split by the other", both),
        ]
    print(table(lines))
    return max(_verdict(line) for line in unseen)


def fit_again(rows: list[dict[str, Any]], embed: VectorMemo | None) -> int:
    """Fit on the dev split and write the weights; print what cross-validation inside that split gives. Returns 0."""
    claims, fewer = _prepared([row for row in rows if row["split"] == OWN], embed)
    stored = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    for kind, vectors in _kinds(embed).items():
        stored[kind] = as_json(_fit(OWN, claims, fewer, vectors))
        figures = cross_validated(claims, fewer, vectors, COUNTS[kind])
        print(f"offline ({kind}), cross-validated on dev: " + ", ".join(f"{k} {v:.3f}" for k, v in figures.items()))
    WEIGHTS_FILE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(f"written: {WEIGHTS_FILE.name}")
    return 0


def _prepared(rows: list[dict[str, Any]], embed: VectorMemo | None) -> tuple[list[Labelled], list[Labelled]]:
    """Return the claims, and once more without their evidence; their vectors are made in one go."""
    claims = [labelled(row) for row in rows]
    cut = {(row["claim"], row["context"]): _cut(row) for row in rows}
    fewer = without_support(claims, lambda claim: cut[claim.claim, claim.passages[0]])
    if embed is not None:
        embed.prime(text for claim in (*claims, *fewer) for text in needed_texts(claim.claim, _sentences(claim)))
    return claims, fewer


def _kinds(embed: VectorMemo | None) -> dict[str, Embed | None]:
    """Return the kinds of the judge with the vectors that each has."""
    return {"lexical": None} if embed is None else {"lexical": None, "likeness": embed}


def _line(name: str, judged: Judged) -> tuple[str, int, dict[str, Any]]:
    return name, len(judged.labels), agreement(judged)


def _verdict(line: tuple[str, int, dict[str, Any]]) -> int:
    name, _, figures = line
    missed = [f"{k} {figures[k].value:.3f} < {least:.2f}" for k, least in TARGETS.items() if figures[k].value < least]
    print(f"{name}: " + ("; ".join(missed) or "above " + ", ".join(f"{k} {v:.2f}" for k, v in TARGETS.items())))
    return 1 if missed else 0


def _sentences(claim: Labelled) -> list[str]:
    return [sentence for passage in claim.passages for sentence in sentences(passage)]


def _cut(row: dict[str, Any]) -> str | None:
    """Context without its evidence; None where there is none, or nothing else."""
    text = row["context"]
    for span in sorted(row["support_spans"], key=lambda span: -int(span["start"])):
        text = f"{text[: span['start']]}\n{text[span['end'] :]}"
    return text if row["support_spans"] and len(sentences(text)) >= 3 else None


def _of(claims: Sequence[Labelled], split: str) -> list[Labelled]:
    return [claim for claim in claims if claim.split == split]


def _fit(split: str, claims: Sequence[Labelled], fewer: Sequence[Labelled], embed: Embed | None) -> Weights:
    own = _of(claims, split)
    rows = [*own, *_of(fewer, split)]
    real = np.arange(len(rows)) < len(own)
    count = COUNTS["lexical" if embed is None else "likeness"]
    return fit(features(rows, embed), np.array([row.label for row in rows]), real, count)


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
