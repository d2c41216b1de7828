"""The errors a user can meet. Each message says what, where, the value received, what is allowed, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class BenchError(Exception):
    """Base of every error that is the user's to mend: one line on the terminal and exit code 2."""


class ConfigError(BenchError):
    """A configuration value is wrong: unknown name, wrong type, values that contradict each other."""


class CorpusError(BenchError):
    """A document cannot be read, or two documents claim one id."""


class GoldenError(BenchError):
    """A golden question is malformed, or its evidence is not in the documents."""


class ChunkingError(BenchError):
    """A chunker returned text whose place in the document cannot be shown."""


class ModelError(BenchError):
    """A model or tokenizer cannot be found or loaded."""


class StoreError(BenchError):
    """A record cannot be written or read."""


def near(name: str, allowed: Iterable[str]) -> str:
    """Return a clause that lists the allowed names and, where one is close to ``name``, suggests it."""
    names = sorted(allowed)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"allowed: {', '.join(names)}{hint}"
