"""How likely a question is answered in its context, without a model of language: a logistic model of few weights.

A question without an answer is often near the topic; what gives it away is the particular that it asks for: a name or
number that stands nowhere near the best sentence, or no count, date or price there to answer with (Rajpurkar et al.
2018, SQuAD 2.0, take unanswerable questions apart that way). ``answerability.json`` was fitted on SQuAD 2.0 and CLAPnq
(``python -m tests.benchmarks.answerability --fit``); questions of the user's own move the weights as far as they can. A
modest signal: area under the curve .61 and .80 on the other halves of those two sets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.generators.asked import asked
from bench.sentences import content_words, stems
from bench.types import Floats

WEIGHTS_FILE = Path(__file__).with_name("answerability.json")
FEATURES = ("score", "near", "far_names", "far_numbers", "kind_missing", "lead", "passage")
PRIOR = 10.0
"""Precision of the Gaussian prior on each standardised weight, when the weights are adapted to other questions."""
_FREE = 1e-3
_RUNNER_UP = 4
_LOOK = 3

Array = NDArray[np.float64]
Embed = Callable[[Sequence[str]], Floats]


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic model over ``FEATURES``, without ``passage`` where there are no vectors.

    Attributes:
        values: intercept, then one weight a feature.
        spreads: standard deviation of each feature where the weights were fitted.
    """

    values: tuple[float, ...]
    spreads: tuple[float, ...]

    def probability(self, features: Array) -> Array:
        """Probability that a question is answered here; features: shape (n, n features); returns shape (n,)."""
        values = np.array(self.values)
        return _logistic(values[0] + features @ values[1:])


@lru_cache(maxsize=4)
def load_weights(kind: str, path: Path = WEIGHTS_FILE) -> Weights:
    """Return the fitted weights: "lexical", or "likeness" where vectors are at hand."""
    stored: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))[kind]
    names = [name for name in FEATURES if name in stored["weights"]]
    values = (float(stored["intercept"]), *(float(stored["weights"][name]) for name in names))
    return Weights(values, tuple(float(stored["spreads"][name]) for name in names))


@lru_cache(maxsize=1)
def weights_version() -> str:
    """Twelve hex digits that change with the fitted weights."""
    return sha256(WEIGHTS_FILE.read_bytes()).hexdigest()[:12]


def adapt(weights: Weights, features: Array, answered: NDArray[np.bool_]) -> tuple[Weights, Array]:
    """Return the weights that suit some questions best while they are held to what they were, by a Gaussian prior.

    The intercept is free. Few questions move the weights little.

    Args:
        weights: the prior's mean; its spreads make the features comparable.
        features: shape (n questions, n features).
        answered: whether each has an answer, shape (n questions,). Of one kind only, nothing is learnt.

    Returns:
        The weights, and each question's probability under weights that were adapted without it, shape (n questions,):
        approximate leave-one-out (Rad & Maleki 2020), one Newton step from the common optimum.
    """
    if answered.all() or not answered.any():
        return weights, weights.probability(features)
    scale = np.array([1.0, *weights.spreads])
    rows = np.column_stack([np.ones(len(features)), features]) / scale
    held = np.array([_FREE, *[PRIOR] * len(weights.spreads)])
    theta = _optimum(rows, answered, np.array(weights.values) * scale, held)
    p = _logistic(rows @ theta)
    curve = (rows.T * (p * (1 - p))) @ rows + np.diag(held)
    leverage = np.einsum("ij,ij->i", rows, np.linalg.solve(curve, rows.T).T)
    without = rows @ theta - leverage * (answered - p) / (1 - leverage * p * (1 - p))
    return Weights(tuple(float(value) for value in theta / scale), weights.spreads), _logistic(without)


def _optimum(rows: Array, answered: NDArray[np.bool_], start: Array, held: Array) -> Array:
    """Minimise logistic loss plus ``held`` / 2 times the squared distance of each coefficient from ``start``."""
    from scipy.optimize import minimize

    sign = np.where(answered, 1.0, -1.0)

    def loss(theta: Array) -> tuple[float, Array]:
        margins, apart = sign * (rows @ theta), theta - start
        value = np.logaddexp(0, -margins).sum() + held @ apart**2 / 2
        return float(value), held * apart - rows.T @ (sign * _logistic(-margins))

    found: Array = minimize(loss, start, jac=True, method="BFGS").x
    return found


def auc(values: Array, answered: NDArray[np.bool_]) -> float:
    """Share of pairs, one question with an answer and one without, whose values are in that order (ties half)."""
    good, bad = values[answered][:, None], values[~answered][None, :]
    return float((good > bad).mean() + (good == bad).mean() / 2)


def features(
    question: str, numbered: Sequence[tuple[int, str]], passages: Sequence[str], scores: Floats, embed: Embed | None
) -> Array:
    """Return what tells a question answered in its context from one that is not.

    Args:
        question: the question.
        numbered: sentences of the context with the number of their passage, in order; not empty.
        passages: the passages.
        scores: score of each sentence, shape (n sentences,).
        embed: vectors of texts, unit length.

    Returns:
        Shape (n features,), in the order of ``FEATURES``: score of the best sentence; share of the question's content
        words in it and its neighbours; count of names, and of numbers, of the question that are not there; how
        many of the three best sentences are passed before one, or a neighbour of it, holds the kind of thing asked for
        (0 to 1: none does); lead of the best sentence over the fifth; greatest cosine of the question with a passage
        (not without an embedder).
    """
    words, order = content_words(question), np.argsort(-scores, kind="stable")
    around = _around(int(order[0]), numbered)
    near = frozenset[str]().union(*(stems(sentence) for sentence in around))
    far = [word.kind for word in words if word.stem not in near]
    wanted = asked(question)
    tried = (_around(int(index), numbered) for index in order[:_LOOK])
    values = [
        scores[order[0]],
        1 - len(far) / max(1, len(words)),
        far.count("name"),
        far.count("number"),
        next((rank / _LOOK for rank, some in enumerate(tried) if any(map(wanted.held_by, some))), 1.0),
        scores[order[0]] - scores[order[min(_RUNNER_UP, len(order) - 1)]],
    ]
    return np.array([*values, _nearest(question, passages, embed)] if embed else values, dtype=np.float64)


def _around(index: int, numbered: Sequence[tuple[int, str]]) -> list[str]:
    """The sentence and its neighbours in the same passage."""
    number = numbered[index][0]
    return [sentence for other, sentence in numbered[max(0, index - 1) : index + 2] if other == number]


def _nearest(question: str, passages: Sequence[str], embed: Embed) -> float:
    vectors = embed([question, *passages])
    return float((vectors[1:] @ vectors[0]).max())


def _logistic(values: Array) -> Array:
    return 1 / (1 + np.exp(-np.clip(values, -30, 30)))
