"""The offline generator: the best sentences of the context, word for word, with the passages they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench.errors import ConfigError
from bench.generators.base import DECLINE, Answer, Tools
from bench.sentences import content_words, sentences, stems, tokens
from bench.types import Context, Floats

NOTE = "faithful by construction: its faithfulness says nothing about a language model"
INHERITED = 0.9
LIKELY = 32


@dataclass(frozen=True, slots=True)
class Threshold:
    """A decline threshold and the evidence for it.

    Attributes:
        value: least score of the best sentence at which an answer is given.
        n_answerable: questions of the selection split that have an answer.
        n_unanswerable: those that have none.
        youden: share of right answers given plus share of right declines, less 1, on that split.
    """

    value: float
    n_answerable: int
    n_unanswerable: int
    youden: float


@dataclass(frozen=True)
class Extractive:
    """Best sentences by cosine and shared words; declines where even the best is below the threshold.

    ``threshold`` null is calibrated on the selection split, where it refuses at most ``max_false_refusal`` of the
    questions that have an answer (see ``calibrate``). A further sentence joins while it
    scores at least ``margin`` times the best, up to ``max_sentences``.
    """

    name: str = "extractive"
    max_sentences: int = 3
    margin: float = 0.85
    threshold: float | None = None
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

    def answer(self, questions: Sequence[str], contexts: Sequence[Context], tools: Tools) -> list[Answer]:
        """Return the best sentences of each context, in the order in which they stand, each with its passage."""
        least = -np.inf if self.threshold is None else self.threshold
        _embed_all(questions, contexts, tools)
        return [self._answer(*pair, tools, least) for pair in zip(questions, contexts, strict=True)]

    def best_scores(self, questions: Sequence[str], contexts: Sequence[Context], tools: Tools) -> list[float]:
        """Return the score of the best sentence of each context, 0 where there is none."""
        _embed_all(questions, contexts, tools)
        pairs = zip(questions, contexts, strict=True)
        return [float(max(score_sentences(q, _numbered(c), tools), default=0.0)) for q, c in pairs]

    def calibrate(self, scores: Sequence[float], answerable: Sequence[bool]) -> tuple[Extractive, Threshold]:
        """Return itself with the threshold that best tells answerable from unanswerable questions.

        Args:
            scores: best scores of the selection split.
            answerable: whether each of its questions has an answer.
        """
        threshold = calibrate(scores, answerable, self.max_false_refusal)
        return replace(self, threshold=threshold.value), threshold

    def _answer(self, question: str, context: Context, tools: Tools, least: float) -> Answer:
        numbered = _numbered(context)
        scores = score_sentences(question, numbered, tools)
        if not numbered or scores.max() < least:
            reason = "no sentence in the context" if not numbered else f"best sentence scores {scores.max():.3f}"
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


def calibrate(scores: Sequence[float], answerable: Sequence[bool], max_false_refusal: float = 1.0) -> Threshold:
    """Return the threshold of greatest Youden index, the lowest of equals, among those that refuse few good questions.

    Args:
        scores: best score of each question.
        answerable: whether it has an answer.
        max_false_refusal: greatest share of answerable questions that may fall below. Where one kind of question is
            missing the threshold is 0: nothing is declined.
    """
    values, good = np.asarray(scores, dtype=np.float64), np.asarray(answerable, dtype=np.bool_)
    n_good, n_bad = int(good.sum()), int((~good).sum())
    if not n_good or not n_bad:
        return Threshold(0.0, n_good, n_bad, 0.0)
    cuts = np.unique(values)
    kept = np.array([(values[good] >= cut).mean() for cut in cuts])
    youden = kept - np.array([(values[~good] >= cut).mean() for cut in cuts])
    youden[kept < 1 - max_false_refusal] = -1.0
    best = int(np.argmax(youden))
    below = cuts[best - 1] if best else cuts[best] - 1e-6
    return Threshold(float((below + cuts[best]) / 2), n_good, n_bad, float(youden[best]))


def score_sentences(question: str, numbered: Sequence[tuple[int, str]], tools: Tools) -> Floats:
    """Return a score from 0 to 1 for each sentence: mean of cosine and share of the question's content words.

    Cosines are taken of the likeliest sentences alone. A heading, a question or a short label is no answer: what
    follows it inherits most of its score.
    """
    texts = [sentence for _, sentence in numbered]
    scores = _shared_words(question, texts)
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


def _shared_words(question: str, texts: Sequence[str]) -> Floats:
    wanted = {word.stem for word in content_words(question)}
    return np.array([len(wanted & stems(text)) / max(1, len(wanted)) for text in texts], dtype=np.float32)


def _likely(scores: Floats) -> NDArray[np.intp]:
    return np.argsort(-scores, kind="stable")[:LIKELY]


def _embed_all(questions: Sequence[str], contexts: Sequence[Context], tools: Tools) -> None:
    """Have all vectors made in one call: one text at a time would take many times as long."""
    if tools.embed is None:
        return
    wanted = list(questions)
    for question, context in zip(questions, contexts, strict=True):
        texts = [sentence for _, sentence in _numbered(context)]
        wanted += [texts[index] for index in _likely(_shared_words(question, texts))]
    if wanted:
        tools.embed(list(dict.fromkeys(wanted)))


def _is_label(sentence: str) -> bool:
    return sentence.endswith(("?", "？", ":")) or (len(tokens(sentence)) < 6 and sentence[-1] not in ".!。！")


def _numbered(context: Context) -> list[tuple[int, str]]:
    return [(number, s) for number, passage in enumerate(context.passages, 1) for s in sentences(passage)]
