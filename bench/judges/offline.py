"""The offline judge: no model of language, but shared words, likeness, and explicit agreement of figures and names.

Its weights were fitted on the dev split of WiCE (``bench judge check --fit``), and what it looks at was chosen there by
cross-validation; how well it agrees with people is measured on the other split (``bench judge check``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from bench.judges.base import PARTS, Check, Found, Reading, Tools, check_parts, flat, holders, statements
from bench.judges.features import FEATURES, Embed, Evidence, needed_texts, weigh
from bench.judges.parts import judge_all
from bench.replies import Case, Grade, Judgement, Verdict, VerdictName
from bench.sentences import content_words, sentences, stems

WEIGHTS_FILE = Path(__file__).with_name("offline.json")
SHORT_WORDS = 5
RELEVANT, RELATED = 0.55, 0.35
_RATING = (0.15, 0.3, 0.45, 0.6)


@dataclass(frozen=True, slots=True)
class Weights:
    """A logistic model over ``FEATURES``, and the probabilities from which a claim is partial, and supported."""

    intercept: float
    coefficients: tuple[float, ...]
    partial: float
    supported: float

    def probability(self, evidence: Evidence) -> float:
        """Probability that people would call the claim supported."""
        used = evidence.values[: len(self.coefficients)]
        return float(1 / (1 + np.exp(-(self.intercept + used @ np.array(self.coefficients)))))


@lru_cache(maxsize=4)
def load_weights(kind: str, path: Path = WEIGHTS_FILE) -> Weights:
    """Return the fitted weights: "lexical", or "likeness" where vectors of sentences are at hand."""
    stored: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))[kind]
    values = tuple(float(stored["coefficients"][name]) for name in FEATURES if name in stored["coefficients"])
    return Weights(float(stored["intercept"]), values, float(stored["partial"]), float(stored["supported"]))


@dataclass(frozen=True)
class Offline:
    """Claims are sentences. With ``likeness`` it also uses vectors of sentences, where the pipeline hands over any."""

    name: str = "offline"
    likeness: bool = True
    parts: list[str] | None = None
    note: str = "lexical judge: agreement with people measured on WiCE (bench judge check)"

    def __post_init__(self) -> None:
        check_parts(self.parts or PARTS, "judge")

    @property
    def prompt_versions(self) -> dict[str, str]:
        """Hash of the fitted weights, where other judges have their prompts: part of a point's identity."""
        return {WEIGHTS_FILE.name: hashlib.sha256(WEIGHTS_FILE.read_bytes()).hexdigest()[:16]}

    def judge(self, cases: Sequence[Case], tools: Tools) -> list[Judgement]:
        """Return one judgement a case; deterministic."""
        engine = OfflineEngine(tools.embed if self.likeness else None)
        return judge_all(engine, cases, self.parts or PARTS)


class OfflineEngine:
    """Checks of the offline judge; equal checks are made once."""

    def __init__(self, embed: Embed | None, weights: Weights | None = None) -> None:
        self._embed = embed
        self._weights = weights or load_weights("likeness" if embed else "lexical")
        self._verdicts: dict[Check, Verdict] = {}

    def claims(self, texts: Sequence[tuple[str, str]]) -> list[Found[tuple[str, ...]]]:
        """Sentences that state something. A short text is read together with its question."""
        found = []
        for question, text in texts:
            claims = statements(text)
            short = len(claims) == 1 and len(content_words(claims[0])) < SHORT_WORDS
            found.append(Found((f"{question} {claims[0]}",) if short else claims))
        return found

    def verify(self, checks: Sequence[Check]) -> list[Found[Verdict]]:
        """Verdict with the sentence that decides as quote."""
        missing = [check for check in dict.fromkeys(checks) if check not in self._verdicts]
        self._embed_all(text for check in missing if not _verbatim(check) for text in _texts(check))
        self._verdicts.update((check, self._verdict(check)) for check in missing)
        return [Found(self._verdicts[check]) for check in checks]

    def grade(self, readings: Sequence[Reading]) -> list[Found[tuple[Grade, bool]]]:
        """Grade by the passage's best sentence for the question; useful if it bears out a claim of the reference."""
        useful = self._useful(readings)
        return [Found((_grade(reading), good)) for reading, good in zip(readings, useful, strict=True)]

    def rate(self, answers: Sequence[tuple[str, str]]) -> list[Found[int]]:
        """Rating by the likeness of question and answer, in five steps."""
        self._embed_all(text for pair in answers for text in pair)
        return [Found(1 + sum(self._alike(q, a) >= step for step in _RATING)) for q, a in answers]

    def echo(self, answers: Sequence[tuple[str, str]]) -> list[Found[float]]:
        """Cosine of question and answer themselves: it cannot write questions."""
        if self._embed is None:
            return [Found(None) for _ in answers]
        return [Found(float(np.clip(np.prod(self._embed([q, a]), axis=0).sum(), 0, 1))) for q, a in answers]

    def _verdict(self, check: Check) -> Verdict:
        where = holders(check.claim, check.passages)
        if where:
            return Verdict(
                check.claim, "supported", flat(check.claim), where, 1.0, "stands word for word in the passage"
            )
        numbered = [(n, s) for n, passage in enumerate(check.passages, 1) for s in sentences(passage)]
        evidence = weigh(check.claim, [s for _, s in numbered], self._embed)
        if evidence is None:
            return Verdict(check.claim, "unsupported", score=0.0, reason="nothing to compare it with")
        score = self._weights.probability(evidence)
        name, reason = self._name(score, evidence)
        if name == "contradicted":
            score *= 0.25
        quote = numbered[evidence.best][1] if name != "unsupported" else ""
        where = tuple(sorted({numbered[index][0] for index in evidence.used})) if quote else ()
        return Verdict(check.claim, name, quote, where, round(score, 4), reason)

    def _name(self, score: float, evidence: Evidence) -> tuple[VerdictName, str]:
        if evidence.disagreements:
            return "contradicted", f"disagrees in {', '.join(evidence.disagreements)}"
        if evidence.best_cover >= 0.999:
            return "supported", "one sentence holds all its words, figures and names"
        shown = f"support {score:.2f}"
        if score >= self._weights.supported:
            return "supported", shown
        return ("partial", shown) if score >= self._weights.partial else ("unsupported", shown)

    def _useful(self, readings: Sequence[Reading]) -> list[bool]:
        """True for a passage that alone supports a claim of the reference."""
        split = self.claims([(reading.question, reading.reference or "") for reading in readings])
        checks = [
            [Check(claim, (reading.passage,)) for claim in found.value or ()]
            for reading, found in zip(readings, split, strict=True)
        ]
        verdicts = iter(self.verify([check for some in checks for check in some]))
        found = [[next(verdicts).value for _ in some] for some in checks]
        return [any(one is not None and one.verdict == "supported" for one in some) for some in found]

    def _alike(self, question: str, answer: str) -> float:
        """Mean of shared content words and cosine; shared words alone without an embedder."""
        shared = _shared_words(question, (answer,))
        if self._embed is None:
            return shared
        vectors = self._embed([question, answer])
        return (shared + max(0.0, float(vectors[0] @ vectors[1]))) / 2

    def _embed_all(self, texts: Iterable[str]) -> None:
        """Have all vectors made in one call: one text at a time would take many times as long."""
        wanted = list(dict.fromkeys(texts)) if self._embed else []
        if self._embed and wanted:
            self._embed(wanted)


def _verbatim(check: Check) -> bool:
    return bool(holders(check.claim, check.passages))


def _texts(check: Check) -> list[str]:
    return needed_texts(check.claim, [s for passage in check.passages for s in sentences(passage)])


def _grade(reading: Reading) -> Grade:
    shared = _shared_words(reading.question, sentences(reading.passage))
    return Grade(2 if shared >= RELEVANT else 1 if shared >= RELATED else 0, f"shared words {shared:.2f}")


def _shared_words(question: str, texts: Sequence[str]) -> float:
    """Greatest share of the question's content words that one of ``texts`` holds."""
    wanted = {word.stem for word in content_words(question)}
    return max((len(wanted & stems(text)) for text in texts), default=0) / max(1, len(wanted))
