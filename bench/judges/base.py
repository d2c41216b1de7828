"""What a judge is: the engine that checks claims, and the parts of a judgement that are made of such checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from bench.errors import ConfigError, near
from bench.replies import Case, Chat, Grade, Judgement, Usage, Verdict
from bench.sentences import content_words, sentences
from bench.types import Floats

T = TypeVar("T")
PARTS = ("faithfulness", "citations", "context", "correctness", "relevance")
_MARKS = re.compile(r"(?:\s*\[\s*\d{1,4}(?:\s*[,;]\s*\d{1,4})*\s*\])+")


@dataclass(frozen=True, slots=True)
class Tools:
    """What a judge may need: vectors of texts, shape (n, dim), unit length; a language model."""

    embed: Callable[[Sequence[str]], Floats] | None = None
    chat: Chat | None = None


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """What one check brought: a value, or the reason why there is none; and what it took."""

    value: T | None
    fault: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Check:
    """A claim and the passages that it is held against."""

    claim: str
    passages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A passage to be graded: is it relevant to the question, does it help to arrive at the reference answer?"""

    question: str
    passage: str
    reference: str | None


class Judge(Protocol):
    """A frozen dataclass of parameters; what ``conf/judge/<name>.yaml`` sets.

    ``note`` is said beside every score that it gives.
    """

    name: str
    note: str

    def judge(self, cases: Sequence[Case], tools: Tools) -> list[Judgement]:
        """Return one judgement a case, in order. Faults are kept in the judgement, not raised.

        Raises:
            LimitReached: a limit of the endpoint stopped it.
        """
        ...


class Engine(Protocol):
    """The checks that a judgement is made of, each for many items at once."""

    def claims(self, texts: Sequence[tuple[str, str]]) -> list[Found[tuple[str, ...]]]:
        """Return the claims of each (question, text)."""
        ...

    def verify(self, checks: Sequence[Check]) -> list[Found[Verdict]]:
        """Return the verdict on each claim."""
        ...

    def grade(self, readings: Sequence[Reading]) -> list[Found[tuple[Grade, bool]]]:
        """Return relevance and usefulness of each passage; usefulness means nothing where no reference is given."""
        ...

    def rate(self, answers: Sequence[tuple[str, str]]) -> list[Found[int]]:
        """Return from 1 to 5 how well each (question, answer) fits."""
        ...

    def echo(self, answers: Sequence[tuple[str, str]]) -> list[Found[float]]:
        """Return the mean cosine between each question and questions made from its answer."""
        ...


def check_parts(parts: Sequence[str], where: str) -> None:
    """Raise ConfigError for a part of a judgement that does not exist."""
    for part in parts:
        if part not in PARTS:
            raise ConfigError(f"{where}.parts: got {part!r}; {near(part, PARTS)}")


def statements(text: str) -> tuple[str, ...]:
    """Return the sentences of an answer without citation marks, those left out that state nothing."""
    pieces = (s for segment in _MARKS.split(text) for s in sentences(segment))
    return tuple(dict.fromkeys(s for s in pieces if content_words(s)))


def cited(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """Return (sentence, passage numbers) of each sentence of an answer that carries citation marks."""
    found: list[tuple[str, tuple[int, ...]]] = []
    start, sentence = 0, ""
    for mark in _MARKS.finditer(text):
        before = sentences(text[start : mark.start()])
        sentence = before[-1] if before else sentence
        start = mark.end()
        if sentence:
            found.append((sentence, tuple(dict.fromkeys(int(n) for n in re.findall(r"\d+", mark.group())))))
    return found


def flat(text: str) -> str:
    """Return ``text`` with its white space collapsed: quotes are compared without it."""
    return " ".join(text.split())


def holders(quote: str, passages: Sequence[str]) -> tuple[int, ...]:
    """Return the numbers, from 1, of the passages that hold ``quote``, white space and case aside."""
    wanted = flat(quote).casefold()
    return tuple(n for n, passage in enumerate(passages, 1) if wanted and wanted in flat(passage).casefold())
