"""Tokenizers by name, as counts and offsets. One of them is the budget tokenizer of a whole sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bench.types import Ints


class Tokenizer(Protocol):
    """Tokens of a text, without special tokens and without truncation.

    ``fingerprint`` changes whenever the same text could be tokenised otherwise (vocabulary, normaliser).
    """

    name: str
    fingerprint: str

    def starts(self, text: str) -> Ints:
        """Return the code-point offset at which each token starts, non-decreasing, shape (tokens,).

        A byte-level token that starts inside a character is given the start of that character.
        """
        ...

    def count(self, texts: Sequence[str]) -> Ints:
        """Return the number of tokens of each text on its own, shape (len(texts),)."""
        ...
