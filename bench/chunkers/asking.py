"""What strategies that ask a language model have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from bench.chunkers.base import Sized, Tools
from bench.errors import ChunkingError, ConfigError
from bench.prompts import check_folder, fingerprint, render
from bench.replies import Chat, Endpoint, Reply, Request, Usage


@dataclass(frozen=True)
class Asking(Endpoint, Sized):
    """An endpoint (see ``bench.replies.Endpoint``) beside the parameters of a sized strategy.

    Attributes:
        prompt: name of the template.
        prompts: folder of templates of your own, looked into before the bundled ones.
        domain: see ``bench.prompts``.
        follows: what is asked depends on the replies before it, and so does the number of calls.
    """

    group: ClassVar[str] = "chunker"
    follows: ClassVar[bool] = False

    prompt: str = ""
    prompts: str = ""
    domain: str = "general"

    def __post_init__(self) -> None:
        Endpoint.__post_init__(self)
        Sized.__post_init__(self)
        check_folder(self.prompts, "chunker.prompts")
        fingerprint(self.prompt, self.prompts, self.domain)

    @property
    def prompt_version(self) -> str:
        """Hash of the template: part of a point's identity."""
        return fingerprint(self.prompt, self.prompts, self.domain)

    def messages(self, **values: object) -> tuple[tuple[str, str], ...]:
        """Return the messages of the template."""
        return render(self.prompt, folder=self.prompts, domain=self.domain, **values)

    def ask(self, requests: Sequence[Request], tools: Tools) -> list[Reply]:
        """Return one reply a request, in order.

        Raises:
            ConfigError: there is no language model.
            ChunkingError: a call failed (what the others brought is kept: a rerun asks only for the rest).
            LimitReached: a limit of the endpoint stopped it.
        """
        if tools.chat is None:
            raise ConfigError("chunker: asks a language model, and none was handed over; run it in a sweep")
        replies = tools.chat.ask(requests)
        failed = [reply for reply in replies if reply.state == "failed"]
        if failed:
            raise ChunkingError(
                f"chunker: {len(failed)} of {len(replies)} calls of {self.model} failed ({failed[0].reason}); "
                "run the same command again, replies that came are kept"
            )
        return replies

    def lost(self, tools: Tools, what: str, count: int) -> None:
        """Count what replies were no good for: what the strategy does instead is in its own words."""
        if isinstance(tools.chat, CountedChat):
            tools.chat.lost[what] += count


@dataclass
class CountedChat:
    """A language model whose calls are counted: they are part of what a strategy costs.

    Attributes:
        chat: asks.
        usage: of all replies, as if none had been in the cache (``sent``: those that were not).
        states: how many replies ended in each state.
        lost: how often the strategy had to do without what it asked for, by what that was.
    """

    chat: Chat
    usage: Usage = field(default_factory=Usage)
    states: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """See ``bench.replies.Chat``."""
        replies = self.chat.ask(requests)
        self.usage = sum((reply.usage for reply in replies), self.usage)
        self.states.update(reply.state for reply in replies)
        return replies

    def spent(self) -> dict[str, Any]:
        """Return what a record keeps of the calls."""
        usage = self.usage
        return {
            "cutting_calls": usage.replies,
            "cutting_calls_sent": usage.sent,
            "cutting_prompt_tokens": usage.prompt_tokens,
            "cutting_completion_tokens": usage.completion_tokens,
            "cutting_price_usd": usage.price_usd,
            "cutting_replies": dict(self.states),
            "cutting_lost": {what: count for what, count in self.lost.items() if count},
        }
