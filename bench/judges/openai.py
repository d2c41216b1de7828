"""A language model as judge: claims, then a verdict on each, by JSON of a fixed form. Documents are data to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeVar

from pydantic import BaseModel

from bench.errors import ConfigError
from bench.judges.base import PARTS, Check, Found, Reading, Tools, check_parts, holders, statements
from bench.judges.parts import judge_all
from bench.prompts import check_folder, fingerprint, render
from bench.replies import Case, Chat, Endpoint, Grade, Judgement, Reply, Request, Usage, Verdict, VerdictName
from bench.sentences import content_words, stems

PHRASINGS = ("verdict", "verdict_strict")
WORTH: dict[VerdictName, int] = {"supported": 3, "partial": 2, "unsupported": 1, "contradicted": 0}
V = TypeVar("V")


class ClaimsForm(BaseModel):
    """Claims of a text."""

    claims: list[str]


class VerdictForm(BaseModel):
    """A verdict with the words that decide."""

    quote: str
    reason: str
    verdict: Literal["supported", "partial", "unsupported", "contradicted"]


class BareVerdictForm(BaseModel):
    """A verdict alone: a tenth of the tokens."""

    verdict: Literal["supported", "partial", "unsupported", "contradicted"]


class RelevanceForm(BaseModel):
    """Grade of a passage."""

    reason: str
    grade: Literal[0, 1, 2]
    useful: bool


class RatingForm(BaseModel):
    """Rating of an answer."""

    reason: str
    rating: Literal[1, 2, 3, 4, 5]


class QuestionsForm(BaseModel):
    """Questions that an answer would answer."""

    questions: list[str]


@dataclass(frozen=True)
class OpenAI(Endpoint):
    """Judge behind an OpenAI-compatible endpoint, at temperature 0 unless told otherwise.

    ``votes`` asks so often and takes the majority, ties being unsupported; ``phrasings: 2`` asks in two ways and takes
    the worse verdict; ``reasons`` has quotes and reasons written. ``claims: sentences`` takes the sentences of a text
    for its claims, which saves two calls a question.
    """

    group: ClassVar[str] = "judge"

    name: str = "openai"
    votes: int = 1
    phrasings: int = 1
    reasons: bool = True
    claims: str = "model"
    echoes: int = 3
    domain: str = "general"
    prompts: str = ""
    parts: list[str] | None = None
    note: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.votes < 1 or not 1 <= self.phrasings <= len(PHRASINGS):
            raise ConfigError(f"judge: votes {self.votes}, phrasings {self.phrasings}; allowed: 1 or more, and 1 or 2")
        if self.claims not in ("model", "sentences"):
            raise ConfigError(f"judge.claims: got {self.claims!r}; allowed: model, sentences")
        check_parts(self.parts or PARTS, "judge")
        check_folder(self.prompts, "judge.prompts")

    @property
    def prompt_versions(self) -> dict[str, str]:
        """Hash of each template used: part of a point's identity."""
        names = ("claims", *PHRASINGS[: self.phrasings], "relevance", "answer_relevance", "questions")
        return {name: fingerprint(name, self.prompts, self.domain) for name in names}

    def judge(self, cases: Sequence[Case], tools: Tools) -> list[Judgement]:
        """Return one judgement a case.

        Raises:
            ConfigError: no language model was handed over.
            LimitReached: a limit of the endpoint stopped it.
        """
        if tools.chat is None:
            raise ConfigError("judge: needs a language model; none was handed over")
        return judge_all(ModelEngine(self, tools.chat, tools), cases, self.parts or PARTS)


class ModelEngine:
    """Checks by asking a model."""

    def __init__(self, config: OpenAI, chat: Chat, tools: Tools) -> None:
        self._config, self._chat, self._embed = config, chat, tools.embed

    def claims(self, texts: Sequence[tuple[str, str]]) -> list[Found[tuple[str, ...]]]:
        """Claims by the model, or sentences."""
        if self._config.claims == "sentences":
            return [Found(statements(text)) for _, text in texts]
        requests = [self._request("claims", ClaimsForm, question=q, text=t) for q, t in texts]
        return self._read(requests, ClaimsForm, lambda form: tuple(c.strip() for c in form.claims if c.strip()))

    def verify(self, checks: Sequence[Check]) -> list[Found[Verdict]]:
        """One verdict a claim: majority of the votes, then the worse of the phrasings. No passages, no support."""
        config = self._config
        form = VerdictForm if config.reasons else BareVerdictForm
        asked = [check for check in checks if check.passages]
        ballot = [(name, vote) for name in PHRASINGS[: config.phrasings] for vote in range(config.votes)]
        requests = [
            replace(self._request(name, form, passages=c.passages, claim=c.claim, reasons=config.reasons), variant=vote)
            for c in asked
            for name, vote in ballot
        ]
        replies = iter(self._chat.ask(requests))
        found: list[Found[Verdict]] = []
        for check in checks:
            if check.passages:
                found.append(self._settle(check, [next(replies) for _ in ballot]))
            else:
                found.append(Found(Verdict(check.claim, "unsupported", reason="there is no passage")))
        return found

    def grade(self, readings: Sequence[Reading]) -> list[Found[tuple[Grade, bool]]]:
        """Grade and usefulness in one call a passage."""
        requests = [
            self._request(
                "relevance", RelevanceForm, question=r.question, passage=r.passage, reference=r.reference or ""
            )
            for r in readings
        ]
        return self._read(requests, RelevanceForm, lambda form: (Grade(form.grade, form.reason), form.useful))

    def rate(self, answers: Sequence[tuple[str, str]]) -> list[Found[int]]:
        """Rating by the model."""
        requests = [self._request("answer_relevance", RatingForm, question=q, text=a) for q, a in answers]
        return self._read(requests, RatingForm, lambda form: int(form.rating))

    def echo(self, answers: Sequence[tuple[str, str]]) -> list[Found[float]]:
        """Mean cosine of the question and the questions that the model makes from the answer."""
        embed = self._embed
        if embed is None or not self._config.echoes:
            return [Found(None) for _ in answers]
        requests = [self._request("questions", QuestionsForm, text=a, count=self._config.echoes) for _, a in answers]
        made = self._read(requests, QuestionsForm, lambda form: [q for q in form.questions if q.strip()])
        found: list[Found[float]] = []
        for (question, _), one in zip(answers, made, strict=True):
            if one.fault or not one.value:
                found.append(Found(None, one.fault or "the model made no question", one.usage))
                continue
            vectors = embed([question, *one.value])
            found.append(Found(float((vectors[1:] @ vectors[0]).mean()), "", one.usage))
        return found

    def _request(self, template: str, form: type[BaseModel], **values: object) -> Request:
        messages = render(template, folder=self._config.prompts, domain=self._config.domain, **values)
        return Request(messages, form)

    def _read(self, requests: Sequence[Request], form: type[BaseModel], value: Callable[..., V]) -> list[Found[V]]:
        found: list[Found[V]] = []
        for reply in self._chat.ask(requests):
            good = isinstance(reply.data, form)
            found.append(Found(value(reply.data) if good else None, "" if good else fault(reply), reply.usage))
        return found

    def _settle(self, check: Check, replies: Sequence[Reply]) -> Found[Verdict]:
        usage = sum((reply.usage for reply in replies), Usage())
        votes = self._config.votes
        rounds = [replies[start : start + votes] for start in range(0, len(replies), votes)]
        settled = [majority(one) for one in rounds]
        if None in settled:
            return Found(None, fault(next(r for r in replies if r.data is None)), usage)
        worst = _worst([name for name in settled if name is not None])
        shown = next((r for r in replies if r.data is not None and verdict_of(r) == worst), None)
        quote, reason = (getattr(shown.data, "quote", ""), getattr(shown.data, "reason", "")) if shown else ("", "tie")
        where = holders(quote, check.passages)
        if quote and not where:
            reason, quote = f"{reason} (its quote is not in the passages)".strip(), ""
        if not where and WORTH[worst] > 1:
            where = likeliest(check)
        return Found(Verdict(check.claim, worst, quote, where, None, reason, ballot(rounds)), "", usage)


def majority(replies: Sequence[Reply]) -> VerdictName | None:
    """Return the verdict of more than half of the votes, ``unsupported`` for a tie, None if most of them were lost."""
    votes = Counter(verdict_of(reply) for reply in replies if reply.data is not None)
    if votes.total() * 2 <= len(replies):
        return None
    (first, count), *others = votes.most_common()
    return "unsupported" if others and others[0][1] == count else first


def ballot(rounds: Sequence[Sequence[Reply]]) -> tuple[VerdictName | None, ...]:
    """Return each vote's verdict, the worse of its phrasings, None where it was lost; empty for a single vote."""
    if len(rounds[0]) < 2:
        return ()
    votes = ([verdict_of(reply) for reply in vote if reply.data is not None] for vote in zip(*rounds, strict=True))
    return tuple(_worst(vote) if vote else None for vote in votes)


def _worst(verdicts: Sequence[VerdictName]) -> VerdictName:
    return min(verdicts, key=lambda name: WORTH[name])


def verdict_of(reply: Reply) -> VerdictName:
    """Return the verdict of a reply that has one."""
    verdict: VerdictName = getattr(reply.data, "verdict")  # noqa: B009 - one of two forms
    return verdict


def likeliest(check: Check) -> tuple[int, ...]:
    """Return the number of the passage that shares most words with the claim."""
    words = [word.stem for word in content_words(check.claim)]
    shared = [sum(word in stems(passage) for word in words) for passage in check.passages]
    return (shared.index(max(shared)) + 1,) if any(shared) else ()


def fault(reply: Reply) -> str:
    """Return what was wrong with a reply, its state first."""
    return f"{reply.state}: {reply.reason}".rstrip(": ")
