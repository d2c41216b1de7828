"""A language model behind an OpenAI-compatible endpoint answers from numbered passages, with citations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from bench.errors import ConfigError
from bench.generators.base import DECLINE, Answer, Tools, citations, declines
from bench.prompts import check_folder, fingerprint, render
from bench.replies import Endpoint, Reply, Request
from bench.types import Context


@dataclass(frozen=True)
class OpenAI(Endpoint):
    """A grounded prompt over numbered passages. ``prompts`` is a folder of templates of your own."""

    group: ClassVar[str] = "generator"

    name: str = "openai"
    prompt: str = "answer"
    prompts: str = ""
    domain: str = "general"
    decline_phrase: str = DECLINE
    golden_context: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.decline_phrase.strip():
            raise ConfigError("generator.decline_phrase: is empty; give the sentence that means 'no answer'")
        check_folder(self.prompts, "generator.prompts")

    @property
    def prompt_version(self) -> str:
        """Hash of the template: part of a point's identity."""
        return fingerprint(self.prompt, self.prompts, self.domain)

    def requests(self, questions: Sequence[str], contexts: Sequence[Context]) -> list[Request]:
        """Return what would be asked."""
        return [
            Request(
                render(
                    self.prompt,
                    folder=self.prompts,
                    domain=self.domain,
                    passages=context.passages,
                    question=question,
                    decline_phrase=self.decline_phrase,
                )
            )
            for question, context in zip(questions, contexts, strict=True)
        ]

    def answer(self, questions: Sequence[str], contexts: Sequence[Context], tools: Tools) -> list[Answer]:
        """Ask for all answers at once. An empty context is declined without a call.

        Raises:
            ConfigError: no language model was handed over.
            LimitReached: a limit of the endpoint stopped it.
        """
        if tools.chat is None:
            raise ConfigError("generator: needs a language model; none was handed over")
        asked = [index for index, context in enumerate(contexts) if context.passages]
        requests = self.requests([questions[i] for i in asked], [contexts[i] for i in asked])
        replies = dict(zip(asked, tools.chat.ask(requests), strict=True))
        empty = Answer(self.decline_phrase, status="declined", reason="the context is empty")
        return [self._answer(replies[i]) if i in replies else empty for i in range(len(contexts))]

    def _answer(self, reply: Reply) -> Answer:
        if reply.state == "ok":
            declined = declines(reply.text, self.decline_phrase)
            return Answer(reply.text, citations(reply.text), "declined" if declined else "answered", reply.usage)
        return Answer(
            reply.raw, (), "failed" if reply.state == "invalid_json" else reply.state, reply.usage, reply.reason
        )
