"""No generator: the sweep scores retrieval alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.generators.base import Answer, Tools
from bench.types import Context


@dataclass(frozen=True)
class NoGenerator:
    """Generates nothing."""

    name: str = "none"
    golden_context: bool = False
    note: str = ""

    def answer(self, questions: Sequence[str], contexts: Sequence[Context], tools: Tools) -> list[Answer]:
        """Return no answers; the pipeline does not ask for any."""
        return []
