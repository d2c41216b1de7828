"""What the offline judge sees of a claim and its passages: four numbers and three disagreements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bench.judges.forms import START_CHARS, alike, by_start, forms, plain
from bench.sentences import Word, content_words, negated, stem
from bench.types import Floats

Embed = Callable[[Sequence[str]], Floats]

FEATURES = ("cover", "missing_numbers", "missing_names", "likeness")
WEIGHTS = {"number": 1.5, "name": 1.5, "word": 1.0}
WINDOWS = (3, 6)
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
        values: shape (4,), in the order of ``FEATURES``: weighted share of the claim's content words, a mean over its
            two best sentences and the best 3 and 6 adjacent ones; share of its numbers in no sentence; count of its
            names in no sentence; cosine of the claim with what the nearest sentences can make of it (0 without an
            embedder).
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
    """Compare one claim with the sentences it may rest on, in order; None where either has no content word."""
    words = content_words(plain(claim))
    if not words or not given:
        return None
    held, shares = _held(words, given), _shares(words)
    covers = held @ shares
    best = int(covers.argmax())
    pairs = np.maximum(held, held[best]) @ shares
    adjacent = [float((_windows(held, size) @ shares).max()) for size in WINDOWS]
    lost = 1 - held.max(axis=0)
    number, name = (np.array([word.kind == kind for word in words]) for kind in ("number", "name"))
    values = [
        (float(pairs.max()) + sum(adjacent)) / (1 + len(adjacent)),
        lost[number].sum() / max(1, number.sum()),
        lost[name].sum(),
        _likeness(claim, given, covers, embed) if embed else 0.0,
    ]
    second = int(pairs.argmax())
    used = (best, second) if pairs[second] - covers[best] >= SECOND else (best,)
    against = _disagreements(claim, bool((lost[number] == 1).any()), given, best, float(covers[best]))
    return Evidence(np.array(values, dtype=np.float32), best, used, float(covers[best]), against)


def candidates(covers: Floats) -> list[int]:
    """Return the indexes of the sentences whose vectors are looked at: those that share most with the claim."""
    return [int(index) for index in np.argsort(-covers, kind="stable")[:CANDIDATES]]


def needed_texts(claim: str, given: Sequence[str]) -> list[str]:
    """Return the texts whose vectors ``weigh`` will ask for, so that many claims can be embedded at once."""
    words = content_words(plain(claim))
    if not words or not given:
        return []
    return [claim, *(given[index] for index in candidates(_held(words, given) @ _shares(words)))]


def _shares(words: Sequence[Word]) -> Floats:
    """Return the weight of each word in the claim; they sum to 1."""
    weights = [WEIGHTS[word.kind] for word in words]
    return np.array(weights, dtype=np.float32) / np.float32(sum(weights))


def _held(words: Sequence[Word], given: Sequence[str]) -> Floats:
    """Return how far each sentence holds each word of the claim, shape (sentences, words), 0 to 1.

    A word that no sentence holds is looked for by its beginning.
    """
    columns = {word.stem: column for column, word in enumerate(words)}
    found = [(row, columns[form]) for row, text in enumerate(given) for form in columns.keys() & forms(text)]
    held = np.zeros((len(given), len(words)), dtype=np.float32)
    if found:
        held[tuple(zip(*found, strict=True))] = 1.0
    missing = columns.keys() - {words[column].stem for _, column in found}
    for word in words:
        if word.stem in missing and word.kind != "number" and len(word.stem) >= START_CHARS:
            near = [by_start(text).get(word.stem[:START_CHARS], ()) for text in given]
            held[:, columns[word.stem]] = [alike(word.stem, others) for others in near]
    return held


def _windows(held: Floats, size: int) -> Floats:
    """Return what each run of ``size`` adjacent sentences holds together, shape (runs, words)."""
    size = min(size, len(held))
    runs = [held[start : len(held) - size + 1 + start] for start in range(size)]
    together: Floats = np.maximum.reduce(runs)
    return together


def _likeness(claim: str, given: Sequence[str], covers: Floats, embed: Embed) -> float:
    """Cosine between the claim and the best ridge combination of its nearest sentences."""
    vectors = embed([claim, *(given[index] for index in candidates(covers))])
    target, pool = vectors[0], vectors[1:]
    near = pool[np.argsort(-(pool @ target), kind="stable")[:NEAREST]]
    share = np.linalg.solve(near @ near.T + _RIDGE * np.eye(len(near), dtype=np.float32), near @ target)
    made = share @ near
    return float(made @ target / (np.linalg.norm(made) + 1e-9))


def _disagreements(claim: str, lost_number: bool, given: Sequence[str], best: int, cover: float) -> tuple[str, ...]:
    sentence = given[best]
    found = []
    if cover >= 0.7 and negated(claim) != negated(sentence):
        found.append("negation")
    if lost_number and cover >= 0.5 and _other_number(claim, sentence):
        found.append("numbers")
    if _units_differ(claim, given):
        found.append("units")
    return tuple(found)


def _other_number(claim: str, sentence: str) -> bool:
    """True if ``sentence`` holds a number that the claim does not."""
    return any(form[0].isdigit() for form in forms(sentence) - forms(claim))


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
