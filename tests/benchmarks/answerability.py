"""Fit the extractive generator's sense of "is this answered here", or show how well it tells on held-out questions.

Usage: ``python -m tests.benchmarks.answerability [--fit] SWEEP ...``, with sweeps of retrieval alone, such as
``bench sweep corpus=folder corpus.documents=... corpus.golden=... chunker.size=128 embedder=static generator=none``.
``--fit`` writes the weights from one half of each sweep's questions, split by document: those that have an answer,
those that have none, and those whose answer is cut out of the context, as where a corpus tells of the thing and not the
particular. Without it the table shows the other half, at the threshold and weights that the first half gives.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.context import build_context, cut_tokens
from bench.corpus.golden import load_golden
from bench.generators.answerability import FEATURES, WEIGHTS_FILE, Array, auc
from bench.generators.base import Tools
from bench.generators.extractive import Extractive
from bench.generators.threshold import calibrate
from bench.layout import Layout
from bench.sentences import sentences
from bench.settings import choose
from bench.stats.select import split
from bench.store import Sweep
from bench.tokenize import get_tokenizer
from bench.types import Context, GoldenQuestion, Hit, Span
from bench.vectors import VectorMemo

RIDGE_C = 0.3
SHORT_CHARS = 30
"""A shorter sentence is not taken for part of a quotation that holds it."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Asked:
    """The questions of a sweep with what each was given, and the half they are in."""

    questions: list[GoldenQuestion]
    contexts: list[Context]
    first: Mask
    texts: dict[str, str]

    @property
    def answerable(self) -> Mask:
        return np.array([question.answerable for question in self.questions])


def read(folder: Path) -> Asked:
    """Return the questions of the sweep's first point, with their contexts at the headline budget."""
    sweep = Sweep.open(folder)
    header, documents = sweep.header(), sweep.documents()
    texts = {document.doc_id: document.text for document in documents}
    layout = Layout.of(documents, get_tokenizer(header["tokenizer"]))
    questions = list(load_golden(folder / "golden.jsonl", documents))
    rows = {row["question_id"]: row["hits"] for row in sweep.questions(sweep.records()[0])}
    hits = [[Hit(n, h[3], Span(h[0], h[4], h[5])) for n, h in enumerate(rows[q.question_id])] for q in questions]
    budget = int(header["headline_tokens"])
    contexts = [build_context(cut_tokens(found, budget, layout), texts, layout) for found in hits]
    clusters = np.unique([question.cluster for question in questions], return_inverse=True)[1]
    return Asked(questions, contexts, split(clusters, [question.category for question in questions]), texts)


def without_answer(question: GoldenQuestion, context: Context, texts: dict[str, str]) -> Context | None:
    """Return the context without the sentences that hold the evidence; None where it holds none, or nothing else."""
    spans = [span for item in question.evidence for span in item.alternatives]
    quotes = [" ".join(texts[span.doc_id][span.start : span.end].split()) for span in spans]
    if question.answer and any(question.answer in quote for quote in quotes):
        quotes.append(question.answer)
    kept = []
    for passage in context.passages:
        plain = [" ".join(sentence.split()) for sentence in sentences(passage)]
        kept.append([s for s in plain if not any(q in s or (len(s) > SHORT_CHARS and s in q) for q in quotes)])
    passages = tuple("\n".join(some) for some in kept if some)
    cut = sum(len(sentences(passage)) for passage in context.passages) - sum(map(len, kept))
    return Context(passages, (None,) * len(passages), 0) if cut and passages else None


def fit(sets: list[Asked], tools: Tools) -> dict[str, Any]:
    """Return the weights as ``answerability.json`` holds them. Kinds of question, and sets, weigh the same."""
    rows, labels, shares = [], [], []
    for one in sets:
        pairs = [(q, c) for q, c, first in zip(one.questions, one.contexts, one.first, strict=True) if first]
        cut = [(q, without_answer(q, c, one.texts)) for q, c in pairs if q.answerable]
        groups = [
            (True, 1.0, [pair for pair in pairs if pair[0].answerable]),
            (False, 0.5, [pair for pair in pairs if not pair[0].answerable]),
            (False, 0.5, [(q, c) for q, c in cut if c is not None]),
        ]
        for label, share, group in groups:
            rows.append(features_of([q for q, _ in group], [c for _, c in group], tools))
            labels.append(np.full(len(group), label))
            shares.append(np.full(len(group), share / len(group)))
    values = (np.concatenate(rows), np.concatenate(labels), np.concatenate(shares))
    return {
        "lexical": as_json(*values, np.arange(len(FEATURES) - 1)),
        "likeness": as_json(*values, np.arange(len(FEATURES))),
    }


def as_json(rows: Array, labels: Mask, shares: Array, used: NDArray[np.int64]) -> dict[str, Any]:
    """Return intercept, weights and spreads of a logistic model on some of the features."""
    from sklearn.linear_model import LogisticRegression

    mean, spread = rows[:, used].mean(axis=0), rows[:, used].std(axis=0) + 1e-9
    weights = shares / shares.mean()
    model = LogisticRegression(C=RIDGE_C, max_iter=5000).fit((rows[:, used] - mean) / spread, labels, weights)
    raw = model.coef_[0] / spread
    names = [FEATURES[index] for index in used]
    return {
        "intercept": round(float(model.intercept_[0] - raw @ mean), 5),
        "weights": {name: round(float(value), 5) for name, value in zip(names, raw, strict=True)},
        "spreads": {name: round(float(value), 5) for name, value in zip(names, spread, strict=True)},
    }


def features_of(questions: list[GoldenQuestion], contexts: list[Context], tools: Tools) -> Array:
    """Return the features, shape (n, n features); no context may be empty."""
    found = Extractive().signals([question.text for question in questions], contexts, tools)
    return np.array([row for row in found if row is not None])


def shown(name: str, one: Asked, tools: Tools) -> str:
    """A row of the table: rates on the second half, by this signal and by the score of the best sentence."""
    texts = [question.text for question in one.questions]
    signals = Extractive().signals(texts, one.contexts, tools)
    good, first = one.answerable, one.first
    generator, threshold = Extractive().calibrate([s for s, f in zip(signals, first, strict=True) if f], good[first])
    rows = np.array([signal for signal in signals if signal is not None])
    fitted = Extractive()._weights(rows.shape[1]).probability(rows)
    ours = generator._weights(rows.shape[1]).probability(rows)
    best = calibrate(rows[first, 0], good[first], 0.1)
    cells = [
        f"{auc(values[~first], good[~first]):.3f} {np.mean(values[~first & ~good] < value):.1%}"
        f" {np.mean(values[~first & good] < value):.1%}"
        for values, value in (
            (rows[:, 0], best.value),
            (fitted, calibrate(fitted[first], good[first], 0.1).value),
            (ours, threshold.value),
        )
    ]
    counts = f"{(~good & ~first).sum()} of {(~first).sum()}"
    return f"| {name} | {counts} | {' | '.join(cells)} | {threshold.auc:.3f} {threshold.youden:.3f} |"


def main(arguments: list[str]) -> None:
    """Fit and write, or print the table as Markdown."""
    folders = [Path(name) for name in arguments if name != "--fit"]
    embedder = choose("embedder", (), "static").load()
    tools = Tools(VectorMemo(lambda texts: embedder.encode(list(texts), "passage")))
    sets = [read(folder) for folder in folders]
    if "--fit" in arguments:
        made = {
            "made_by": "python -m tests.benchmarks.answerability --fit",
            "fitted_on": "SQuAD 2.0 dev (8 of 16 articles) and half of CLAPnq dev, with and without the evidence",
        }
        WEIGHTS_FILE.write_text(json.dumps(made | fit(sets, tools), indent=1) + "\n", encoding="utf-8")
        return
    print(
        "| set | unanswerable | best sentence: AUC, declined, refused | as fitted | adapted | selection: AUC, Youden |"
    )
    print("|---|---|---|---|---|---|")
    for folder, one in zip(folders, sets, strict=True):
        print(shown(folder.name, one, tools))


if __name__ == "__main__":
    main(sys.argv[1:])
