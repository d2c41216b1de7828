"""A chunker of the user's own: a class or a function that returns spans or strings."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bench.chunkers.base import Tools
from bench.chunkers.clusters import Ranges, clusters
from bench.chunkers.exact import align, split_exactly
from bench.errors import BenchError, ChunkingError, ConfigError
from bench.types import Chunk, Document


@dataclass(frozen=True)
class Custom:
    """Run ``target`` on the text of every document.

    A class is made once, of ``arguments``; an instance with ``cut`` is a ``Chunker`` and used as it is, one with
    ``split_text`` (LangChain, LlamaIndex) or one that can be called is given the text. A function is given the text
    and ``arguments``. What comes back is a list of spans (``(start, end)``, or objects with ``start`` and ``end`` or
    ``start_index`` and ``end_index``), or of strings (or objects with ``text`` or ``page_content``) that are exact
    slices: their place is found, or they are refused.

    Attributes:
        target: dotted name.
        arguments: keyword arguments.
        whole_clusters: move ends of chunks that would cut a grapheme cluster back to its start.
    """

    target: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    whole_clusters: bool = True

    def __post_init__(self) -> None:
        if not self.target:
            raise ConfigError("chunker.target: got ''; give the dotted name of your class or function")
        load(self.target, "chunker.target")

    @property
    def rewrites(self) -> bool:
        """Whether the target says that it indexes other text than that of its spans."""
        return bool(getattr(self._made, "rewrites", False))

    @cached_property
    def _made(self) -> Any:
        found = load(self.target, "chunker.target")
        if not isinstance(found, type):
            return found
        try:
            return found(**self.arguments)
        except (TypeError, ValueError) as error:
            raise ConfigError(
                f"chunker.arguments: {self.target} refuses {self.arguments!r} ({error}); give its keyword arguments"
            ) from error

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the chunks of one document; see ``Chunker``."""
        where = repr(document.doc_id)
        try:
            result = self._run(document, tools, where)
        except BenchError:
            raise
        except Exception as error:  # the user's code may raise anything
            raise ChunkingError(
                f"chunker: {self.target} failed on {where} with {type(error).__name__}: {error}; mend it there"
            ) from error
        if result and isinstance(result[0], Chunk):
            return result
        spans = placed(document.text, result, where)
        known = clusters(document.text)
        return [Chunk.of(document, start, end) for start, end in whole(spans, known, self.whole_clusters)]

    def _run(self, document: Document, tools: Tools, where: str) -> list[Any]:
        made = self._made
        if hasattr(made, "cut"):
            return list(made.cut(document, tools))
        if hasattr(made, "split_text"):
            if hasattr(made, "_length_function"):
                return list(split_exactly(made, document.text, where))
            return list(made.split_text(document.text))
        arguments = self.arguments if not isinstance(load(self.target, "chunker.target"), type) else {}
        return _listed(made(document.text, **arguments), where)


def _listed(result: Any, where: str) -> list[Any]:
    """Return what was returned as a list; one string would be taken for a list of characters."""
    if isinstance(result, str | bytes) or not isinstance(result, Iterable):
        raise ChunkingError(
            f"chunker: {where}: got one {type(result).__name__} ({str(result)[:60]!r}); allowed: a list of "
            "(start, end) spans, or a list of strings"
        )
    return list(result)


def load(target: str, key: str) -> Any:
    """Import what a dotted name points at.

    Raises:
        ConfigError: there is nothing of that name, or it cannot be called.
    """
    module, _, name = target.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"{key}: cannot import {target!r} ({error}); give a dotted name such as mypackage.MyChunker, "
            "of a package that is installed or in the current folder"
        ) from error
    if not callable(found):
        raise ConfigError(f"{key}: {target!r} is a {type(found).__name__}; allowed: a class or a function")
    return found


def placed(text: str, result: Sequence[Any], where: str) -> list[tuple[int, int]]:
    """Return the spans of whatever a chunker returned.

    Raises:
        ChunkingError: neither spans nor strings, or strings whose place cannot be told.
    """
    spans = [_span(one) for one in result]
    real = [span for span in spans if span is not None]
    if len(real) == len(result):
        for start, end in real:
            if not 0 <= start <= end <= len(text):
                raise ChunkingError(
                    f"chunker: {where}: got the span ({start}, {end}); allowed: 0 <= start <= end <= {len(text)}, "
                    "half-open offsets in code points"
                )
        return real
    texts = [_text(one) for one in result]
    strings = [one for one in texts if one is not None]
    if len(strings) < len(result):
        wrong = result[texts.index(None)]
        raise ChunkingError(
            f"chunker: {where}: got a {type(wrong).__name__} ({str(wrong)[:60]!r}); allowed: a list of (start, end) "
            "spans, or a list of strings"
        )
    return align(text, strings, where)


def _span(one: Any) -> tuple[int, int] | None:
    pairs: Iterable[tuple[Any, Any]] = (
        (getattr(one, "start", None), getattr(one, "end", None)),
        (getattr(one, "start_index", None), getattr(one, "end_index", None)),
        tuple(one) if isinstance(one, tuple | list) and len(one) == 2 else (None, None),
    )
    for start, end in pairs:
        if isinstance(start, int | np.integer) and isinstance(end, int | np.integer):
            return int(start), int(end)
    return None


def _text(one: Any) -> str | None:
    found = one if isinstance(one, str) else getattr(one, "page_content", getattr(one, "text", None))
    return found if isinstance(found, str) else None


def whole(spans: Iterable[tuple[int, int]], known: Ranges, move: bool) -> list[tuple[int, int]]:
    """Return spans whose ends are moved back to the starts of the clusters they cut; those left empty are dropped."""
    found = [span for span in spans if span[0] < span[1]]
    if not move or not found or not len(known.starts):
        return found
    starts, ends = (known.floor(np.array(side, dtype=np.int64)).tolist() for side in zip(*found, strict=True))
    return [(start, end) for start, end in zip(starts, ends, strict=True) if start < end]
