"""The offline generator: the best sentences of the context, word for word, with the passages they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bench.errors import ConfigError
from bench.generators.answerability import (
    FEATURES,
    Array,
    Weights,
    adapt,
    features,
    load_weights,
    weights_version,
)
from bench.generators.base import DECLINE, Answer, Tools
from bench.generators.threshold import Threshold, calibrate
from bench.sentences import content_words, sentences, stems, tokens
from bench.types import Context, Floats

NOTE = "faithful by construction: its faithfulness says nothing about a language model"
INHERITED = 0.9
LIKELY = 32
CALLS = 2048
"""Contexts whose sentences are kept: each is read when the threshold is calibrated, and when it is answered."""


@dataclass(frozen=True)
class Extractive:
    """Best sentences by cosine and shared words; declines where the question is hardly likely to be answered there.

    ``threshold`` (a probability) and ``weights`` (see ``answerability``), where null, are calibrated on the selection
    split, so that with 95 % confidence at most ``max_false_refusal`` of the questions that have an answer are refused
    (see ``calibrate``). A further sentence joins while it scores at least ``margin`` times the best, up to
    ``max_sentences``.
    """

    name: str = "extractive"
    max_sentences: int = 3
    margin: float = 0.85
    threshold: float | None = None
    weights: list[float] | None = None
    max_false_refusal: float = 0.1
    decline_phrase: str = DECLINE
    golden_context: bool = False
    note: str = NOTE

    def __post_init__(self) -> None:
        if self.max_sentences < 1:
            raise ConfigError(f"generator.max_sentences: got {self.max_sentences}; allowed: at least 1")
        for name in ("margin", "max_false_refusal"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"generator.{name}: got {getattr(self, name)}; allowed: a share from 0 to 1")

    @property
    def weights_version(self) -> str:
        """Hash of the fitted weights: part of a point's identity."""
        return weights_version()

    def answer(self, questions: Sequence[str], contexts: Sequence[Context], tools: Tools) -> list[Answer]:
        """Return the best sentences of each context, in the order in which they stand, each with its passage."""
        _embed_all(questions, contexts, tools, passages=bool(self.threshold))
        return [self._answer(*pair, tools) for pair in zip(questions, contexts, strict=True)]

    def signals(self, questions: Sequence[str], contexts: Sequence[Context], tools: Tools) -> list[Array | None]:
        """Return what ``calibrate`` learns from: features of each question in its context, None for an empty one."""
        _embed_all(questions, contexts, tools, passages=True)
        found: list[Array | None] = []
        for question, context in zip(questions, contexts, strict=True):
            numbered = _numbered(context.passages)
            scores = score_sentences(question, numbered, tools)
            found.append(features(question, numbered, context.passages, scores, tools.embed) if numbered else None)
        return found

    def calibrate(
        self, signals: Sequence[Array | None], answerable: Sequence[bool] | NDArray[np.bool_]
    ) -> tuple[Extractive, Threshold]:
        """Return itself with the weights and threshold that best tell answerable from unanswerable questions.

        The threshold is chosen by probabilities that the question itself had no part in; the weights come from all.

        Args:
            signals: of the questions of the selection split.
            answerable: whether each of them has an answer.
        """
        shown = np.array([signal is not None for signal in signals], dtype=np.bool_)
        good = np.asarray(answerable, dtype=np.bool_)
        probabilities = np.zeros(len(signals))
        if not shown.any():
            return replace(self, threshold=0.0), calibrate(probabilities, good, self.max_false_refusal)
        rows = np.array([signal for signal in signals if signal is not None])
        prior = self._weights(rows.shape[1])
        weights, values = (prior, prior.probability(rows)) if self.weights else adapt(prior, rows, good[shown])
        probabilities[shown] = values
        threshold = replace(calibrate(probabilities, good, self.max_false_refusal), weights=weights.values)
        return replace(self, threshold=threshold.value, weights=list(weights.values)), threshold

    def _weights(self, n_features: int) -> Weights:
        fitted = load_weights("likeness" if n_features == len(FEATURES) else "lexical")
        if self.weights is None:
            return fitted
        if len(self.weights) != n_features + 1:
            names = ", ".join(FEATURES[:n_features])
            raise ConfigError(
                f"generator.weights: got {len(self.weights)} numbers; allowed: {n_features + 1} (intercept, {names})"
            )
        return Weights(tuple(self.weights), fitted.spreads)

    def _answer(self, question: str, context: Context, tools: Tools) -> Answer:
        numbered = _numbered(context.passages)
        scores = score_sentences(question, numbered, tools)
        reason = self._doubt(question, context, numbered, scores, tools)
        if reason:
            return Answer(self.decline_phrase, status="declined", reason=reason)
        best: list[int] = []
        for index in np.argsort(-scores, kind="stable"):
            if len(best) == self.max_sentences or scores[index] < self.margin * scores.max():
                break
            if numbered[index][1] not in {numbered[other][1] for other in best}:
                best.append(int(index))
        chosen = [numbered[index] for index in sorted(best)]
        text = " ".join(f"{sentence} [{number}]" for number, sentence in chosen)
        return Answer(text, tuple(dict.fromkeys(number for number, _ in chosen)))

    def _doubt(
        self, question: str, context: Context, numbered: Sequence[tuple[int, str]], scores: Floats, tools: Tools
    ) -> str:
        """Why the question is declined; empty where it is answered."""
        if not numbered:
            return "no sentence in the context"
        if not self.threshold:
            return ""
        values = features(question, numbered, context.passages, scores, tools.embed)
        probability = float(self._weights(len(values)).probability(values[None])[0])
        return f"answered here with probability {probability:.2f}" if probability < self.threshold else ""


def score_sentences(question: str, numbered: Sequence[tuple[int, str]], tools: Tools) -> Floats:
    """Return a score from 0 to 1 for each sentence: mean of cosine and share of the question's content words.

    Cosines are taken of the likeliest sentences alone. A heading, a question or a short label is no answer: what
    follows it inherits most of its score.
    """
    texts = tuple(sentence for _, sentence in numbered)
    scores = _shared_words(question, texts).copy()
    if tools.embed is not None and texts:
        likely = _likely(scores)
        vectors = tools.embed([question, *(texts[index] for index in likely)])
        scores = np.asarray(scores / 2, dtype=np.float32)
        scores[likely] += np.maximum(vectors[1:] @ vectors[0], 0.0) / 2
    for index, text in enumerate(texts):
        if _is_label(text):
            if index + 1 < len(texts):
                scores[index + 1] = max(scores[index + 1], INHERITED * scores[index])
            scores[index] *= 0.5
    return scores


@lru_cache(maxsize=CALLS)
def _shared_words(question: str, texts: tuple[str, ...]) -> Floats:
    wanted = {word.stem for word in content_words(question)}
    return np.array([len(wanted & stems(text)) / max(1, len(wanted)) for text in texts], dtype=np.float32)


def _likely(scores: Floats) -> NDArray[np.intp]:
    return np.argsort(-scores, kind="stable")[:LIKELY]


def _embed_all(questions: Sequence[str], contexts: Sequence[Context], tools: Tools, passages: bool) -> None:
    """Have all vectors made in one call: one text at a time would take many times as long."""
    if tools.embed is None:
        return
    wanted = [*questions, *(passage for context in contexts if passages for passage in context.passages)]
    for question, context in zip(questions, contexts, strict=True):
        texts = tuple(sentence for _, sentence in _numbered(context.passages))
        wanted += [texts[index] for index in _likely(_shared_words(question, texts))]
    if wanted:
        tools.embed(list(dict.fromkeys(wanted)))


@lru_cache(maxsize=65536)
def _is_label(sentence: str) -> bool:
    return sentence.endswith(("?", "？", ":")) or (len(tokens(sentence)) < 6 and sentence[-1] not in ".!。！")


@lru_cache(maxsize=CALLS)
def _numbered(passages: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    return tuple((number, s) for number, passage in enumerate(passages, 1) for s in sentences(passage))
