"""What the offline judge sees of a claim and its passages: four numbers and three disagreements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bench.sentences import Word, content_words, negated, stem, stems
from bench.types import Floats

Embed = Callable[[Sequence[str]], Floats]

FEATURES = ("cover", "missing_numbers", "missing_names", "likeness")
WEIGHTS = {"number": 1.5, "name": 1.5, "word": 1.0}
CANDIDATES = 24
NEAREST = 8
SECOND = 0.15
_RIDGE = 0.05
_QUANTITY = re.compile(r"([$€£¥])?\s?(\d+(?:[.,]\d+)*)\s?(?:([%°])|-?([^\W\d_]+))?")
_UNITS = {
    alias: name
    for name, aliases in {
        "%": "% percent",
        "second": "second seconds sec s",
        "minute": "minute minutes min",
        "hour": "hour hours h hr hrs",
        "day": "day days",
        "week": "week weeks",
        "month": "month months",
        "year": "year years",
        "metre": "m metre metres meter meters",
        "kilometre": "km kilometre kilometres kilometer kilometers",
        "mile": "mile miles",
        "kilogram": "kg kilogram kilograms",
        "gram": "g gram grams",
        "byte": "byte bytes b",
        "kilobyte": "kb kib",
        "megabyte": "mb mib",
        "gigabyte": "gb gib",
        "$": "$ usd dollar dollars",
        "€": "€ eur euro euros",
        "£": "£ gbp pound pounds",
        "cent": "cent cents ct pence penny",
        "million": "million",
        "billion": "billion",
        "thousand": "thousand",
        "degree": "° degree degrees",
    }.items()
    for alias in aliases.split()
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """How far the sentences of the passages bear out a claim.

    Attributes:
        values: shape (4,), in the order of ``FEATURES``: weighted share of the claim's content words in its two best
            sentences; share of its numbers in no sentence; count of its names in no sentence; cosine of the claim with
            what the nearest sentences can make of it (0 without an embedder).
        best: index of the sentence that covers most of the claim.
        used: indexes of the one or two sentences that cover it.
        best_cover: weighted share of the claim's content words in the best one.
        disagreements: what contradicts: numbers, units, negation.
    """

    values: Floats
    best: int
    used: tuple[int, ...]
    best_cover: float
    disagreements: tuple[str, ...]


def weigh(claim: str, given: Sequence[str], embed: Embed | None) -> Evidence | None:
    """Compare one claim with the sentences it may rest on; None where either has no content word."""
    words = content_words(claim)
    if not words or not given:
        return None
    weights = {word.stem: WEIGHTS[word.kind] for word in words}
    total = sum(weights.values())
    shared = [weights.keys() & stems(sentence) for sentence in given]
    covers = _covers(words, given)
    best = int(covers.argmax())
    rest = [sum(weights[w] for w in found - shared[best]) / total for found in shared]
    missing = weights.keys() - frozenset().union(*shared)
    numbers = [word for word in words if word.kind == "number"]
    values = [
        covers[best] + max(rest),
        sum(word.stem in missing for word in numbers) / max(1, len(numbers)),
        sum(word.kind == "name" and word.stem in missing for word in words),
        _likeness(claim, given, covers, embed) if embed else 0.0,
    ]
    second = int(np.argmax(rest))
    used = (best, second) if rest[second] >= SECOND else (best,)
    against = _disagreements(claim, words, missing, given, best, float(covers[best]))
    return Evidence(np.array(values, dtype=np.float32), best, used, float(covers[best]), against)


def candidates(covers: Floats) -> list[int]:
    """Return the indexes of the sentences whose vectors are looked at: those that share most with the claim."""
    return [int(index) for index in np.argsort(-covers, kind="stable")[:CANDIDATES]]


def needed_texts(claim: str, given: Sequence[str]) -> list[str]:
    """Return the texts whose vectors ``weigh`` will ask for, so that many claims can be embedded at once."""
    words = content_words(claim)
    if not words or not given:
        return []
    return [claim, *(given[index] for index in candidates(_covers(words, given)))]


def _covers(words: Sequence[Word], given: Sequence[str]) -> Floats:
    weights = {word.stem: WEIGHTS[word.kind] for word in words}
    total = sum(weights.values())
    return np.array([sum(weights[w] for w in weights.keys() & stems(s)) / total for s in given], dtype=np.float32)


def _likeness(claim: str, given: Sequence[str], covers: Floats, embed: Embed) -> float:
    """Cosine between the claim and the best ridge combination of its nearest sentences."""
    vectors = embed([claim, *(given[index] for index in candidates(covers))])
    target, pool = vectors[0], vectors[1:]
    near = pool[np.argsort(-(pool @ target), kind="stable")[:NEAREST]]
    share = np.linalg.solve(near @ near.T + _RIDGE * np.eye(len(near), dtype=np.float32), near @ target)
    made = share @ near
    return float(made @ target / (np.linalg.norm(made) + 1e-9))


def _disagreements(
    claim: str, words: Sequence[Word], missing: frozenset[str] | set[str], given: Sequence[str], best: int, cover: float
) -> tuple[str, ...]:
    sentence = given[best]
    found = []
    if cover >= 0.7 and negated(claim) != negated(sentence):
        found.append("negation")
    lost = [word for word in words if word.kind == "number" and word.stem in missing]
    others = [word for word in content_words(sentence) if word.kind == "number" and word.stem not in stems(claim)]
    if lost and others and cover >= 0.5:
        found.append("numbers")
    if _units_differ(claim, given):
        found.append("units")
    return tuple(found)


def _units_differ(claim: str, given: Sequence[str]) -> bool:
    wanted = quantities(claim)
    if not wanted:
        return False
    known: dict[str, set[str]] = {}
    bare: set[str] = set()
    for sentence in given:
        for number, unit in quantities(sentence):
            known.setdefault(number, set()).add(unit)
        bare |= _bare(sentence)
    return any(number in known and number not in bare and unit not in known[number] for number, unit in wanted)


@lru_cache(maxsize=65536)
def quantities(text: str) -> frozenset[tuple[str, str]]:
    """Return the (number, unit) pairs of ``text`` whose unit is known."""
    return frozenset((number, unit) for number, unit in _numbers(text) if unit)


@lru_cache(maxsize=65536)
def _bare(text: str) -> frozenset[str]:
    return frozenset(number for number, unit in _numbers(text) if not unit)


def _numbers(text: str) -> list[tuple[str, str]]:
    found = []
    for match in _QUANTITY.finditer(text):
        before, number, mark, after = match.groups()
        name = before or mark or (after or "").lower()
        found.append((stem(number), _UNITS.get(name, "")))
    return found
