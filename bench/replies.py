"""The nouns of generation and judging: requests and replies of a language model, answers, verdicts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, Protocol
from urllib.parse import urlsplit

from pydantic import BaseModel

from bench.errors import BenchError, ConfigError

State = Literal["ok", "refused", "truncated", "empty", "invalid_json", "prompt_cut", "failed"]
AnswerStatus = Literal["answered", "declined", "refused", "truncated", "empty", "prompt_cut", "failed"]
VerdictName = Literal["supported", "partial", "unsupported", "contradicted"]
VERDICTS: tuple[VerdictName, ...] = ("supported", "partial", "unsupported", "contradicted")


class LimitReached(BenchError):
    """``max_calls`` or ``max_cost_usd`` is used up: what was asked so far is kept, a rerun goes on from there."""


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint and how it may be used.

    ``base_url`` ends where ``/chat/completions`` begins; ``local`` starts the llama.cpp server on loopback with the
    installed ``model``. The API key is read from the environment variable ``api_key_env`` at each call, kept nowhere.
    ``identity`` replaces the URL in the key of the reply cache (a local server has another port every time). Prices are
    in US dollars a million tokens. ``max_calls`` and ``max_cost_usd`` limit what one run sends, cached replies aside.
    """

    group: ClassVar[str] = "endpoint"  # where its fields are set: the first word of the keys that errors name
    model: str = ""
    base_url: str = "https://api.openai.com/v1"
    api_key_env: str = "OPENAI_API_KEY"
    identity: str = ""
    temperature: float = 0.0
    max_tokens: int = 512
    max_concurrency: int = 8
    read_timeout_s: float = 300.0
    connect_timeout_s: float = 10.0
    retries: int = 5
    max_wait_s: float = 60.0
    max_calls: int | None = None
    max_cost_usd: float | None = None
    prompt_usd_per_mtok: float | None = None
    completion_usd_per_mtok: float | None = None

    def __post_init__(self) -> None:
        where = self.group
        if not self.model.strip():
            raise ConfigError(f"{where}.model: has no value; name the model that the endpoint serves")
        parts = urlsplit("http://127.0.0.1" if self.base_url == "local" else self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                f"{where}.base_url: got {self.base_url.rpartition('@')[2]!r}; allowed: an http or https URL, or local"
            )
        if parts.username or parts.password:
            raise ConfigError(f"{where}.base_url: holds a user name or password; put the key into {self.api_key_env}")
        least = {"max_tokens": 1, "max_concurrency": 1, "retries": 0, "temperature": 0, "read_timeout_s": 120}
        for name, value in least.items():
            if getattr(self, name) < value:
                raise ConfigError(f"{where}.{name}: got {getattr(self, name)}; allowed: at least {value}")
        if self.max_cost_usd is not None and not self.priced:
            raise ConfigError(f"{where}.max_cost_usd: needs prices; set prompt_usd_per_mtok, completion_usd_per_mtok")

    @property
    def priced(self) -> bool:
        """Both prices are known."""
        return self.prompt_usd_per_mtok is not None and self.completion_usd_per_mtok is not None

    def price_usd(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Price of so many tokens, or None where no price is set."""
        if self.prompt_usd_per_mtok is None or self.completion_usd_per_mtok is None:
            return None
        return (prompt_tokens * self.prompt_usd_per_mtok + completion_tokens * self.completion_usd_per_mtok) / 1e6

    def endpoint(self) -> Endpoint:
        """The endpoint alone, of a class that adds fields of its own."""
        return Endpoint(**{f.name: getattr(self, f.name) for f in fields(Endpoint)})

    def key(self) -> str | None:
        """API key from the environment, or None."""
        return os.environ.get(self.api_key_env) or None


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls took. ``replies`` counts replies used, ``sent`` those that were not in the cache.

    ``price_usd`` is None as soon as one reply has no known price.
    """

    replies: int = 0
    sent: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    price_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        known = self.price_usd is not None and other.price_usd is not None
        return Usage(
            self.replies + other.replies,
            self.sent + other.sent,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            (self.price_usd or 0.0) + (other.price_usd or 0.0) if known else None,
        )


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model: (role, content) pairs, and the form of the reply where it must be JSON.

    ``variant`` tells repeated votes on the same messages apart; it is sent as the seed.
    """

    messages: tuple[tuple[str, str], ...]
    form: type[BaseModel] | None = None
    max_tokens: int | None = None
    variant: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. ``data`` is the checked JSON where a form was asked for; ``raw`` is kept whatever the state."""

    state: State
    text: str = ""
    data: BaseModel | None = None
    reason: str = ""
    usage: Usage = field(default_factory=Usage)
    sent: Mapping[str, Any] = field(default_factory=dict)
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would send: calls, tokens of prompts, most tokens of completions, price (None: no price set)."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    price_usd: float | None = 0.0

    def __add__(self, other: Forecast) -> Forecast:
        known = self.price_usd is not None and other.price_usd is not None
        return Forecast(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            (self.price_usd or 0.0) + (other.price_usd or 0.0) if known else None,
        )


class Chat(Protocol):
    """A model that can be asked many things at once."""

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Return one reply a request, in order, or raise LimitReached."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A generated answer. ``citations`` are numbers of passages, from 1, as the answer gives them."""

    text: str
    citations: tuple[int, ...] = ()
    status: AnswerStatus = "answered"
    usage: Usage = field(default_factory=Usage)
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Judgement of one claim. ``passages`` are the numbers, from 1, of passages that hold the quote.

    ``score`` is the judge's probability of support, if any. ``ballot``: each vote of one that votes more than once.
    """

    claim: str
    verdict: VerdictName
    quote: str = ""
    passages: tuple[int, ...] = ()
    score: float | None = None
    reason: str = ""
    ballot: tuple[VerdictName | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Grade:
    """Relevance of one passage to the question: 0, 1 or 2."""

    grade: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Citation:
    """One citation of the answer: the claim it stands at, the passage it names, and whether that bears it out."""

    claim: str
    passage: int
    verdict: VerdictName | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """What a judge is given for one question."""

    question: str
    passages: tuple[str, ...]
    answer: Answer
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that a judge found for one question. A part is None where it was not judged; ``faults`` says why.

    Attributes:
        claims: each claim of the answer against the passages.
        grades: each passage against the question.
        helpful: each passage: does it bear out any part of the reference answer?
        attributed: each claim of the reference against the passages.
        correct: each claim of the answer against the reference.
        covered: each claim of the reference against the answer.
        citations: each citation of the answer.
        relevance: 1 (beside the question) to 5 (answers it).
        echo: mean cosine between the question and questions made from the answer.
        similarity: cosine between answer and reference.
        faults: part to the reason why it failed; ``usage`` is of all calls.
    """

    claims: tuple[Verdict, ...] | None = None
    grades: tuple[Grade, ...] | None = None
    helpful: tuple[bool, ...] | None = None
    attributed: tuple[Verdict, ...] | None = None
    correct: tuple[Verdict, ...] | None = None
    covered: tuple[Verdict, ...] | None = None
    citations: tuple[Citation, ...] | None = None
    relevance: int | None = None
    echo: float | None = None
    similarity: float | None = None
    faults: Mapping[str, str] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
