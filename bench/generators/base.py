"""What a generator is, and what answers of all of them have in common: citations, and an exact way to decline."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.replies import Answer, Chat
from bench.types import Context, Floats

__all__ = ["DECLINE", "Answer", "Generator", "Tools", "citations", "declines", "plain"]

DECLINE = "I cannot answer this from the given passages."
_CITED = re.compile(r"\s*\[\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\s*\]")


@dataclass(frozen=True, slots=True)
class Tools:
    """What a generator may need: vectors of texts, shape (n, dim), unit length; a language model."""

    embed: Callable[[Sequence[str]], Floats] | None = None
    chat: Chat | None = None


class Generator(Protocol):
    """A frozen dataclass of parameters; what ``conf/generator/<name>.yaml`` sets.

    ``note`` is said beside every score of its answers. ``golden_context`` feeds it the gold evidence in place of what
    was retrieved.
    """

    name: str
    note: str
    golden_context: bool

    def answer(self, questions: Sequence[str], contexts: Sequence[Context], tools: Tools) -> list[Answer]:
        """Return one answer a question, in order. Faults are statuses of answers, not exceptions.

        Raises:
            LimitReached: a limit of the endpoint stopped it.
        """
        ...


def citations(text: str) -> tuple[int, ...]:
    """Return the passage numbers cited in ``text`` as [n], [n][m] or [n, m]: each once, in order."""
    found = [int(n) for match in _CITED.findall(text) for n in re.split(r"\D+", match)]
    return tuple(dict.fromkeys(found))


def plain(text: str) -> str:
    """Return ``text`` without citation marks."""
    return _CITED.sub("", text).strip()


def declines(text: str, phrase: str = DECLINE) -> bool:
    """True if ``text`` is the decline phrase, but for case, quotes, marks of citation and white space.

    A longer reply that only begins with it declines too; one that goes on to claim something after a "but" does not.
    """
    said, wanted = _bare(plain(text)), _bare(phrase)
    rest = said.removeprefix(wanted)
    return said.startswith(wanted) and not re.match(r"\s*(?:but|however)\b", rest)


def _bare(text: str) -> str:
    return re.sub(r"[^\w\s]", "", " ".join(text.casefold().split())).strip()
