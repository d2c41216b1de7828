"""Small passages are indexed, the larger ones around them are handed over: parents, windows, merged parents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bench.chunkers.atoms import refuse_overlap, sentence_atoms
from bench.chunkers.base import Sized, Tools
from bench.chunkers.bases import base_of, check_base
from bench.chunkers.clusters import clusters
from bench.chunkers.deliver import Handed, once
from bench.chunkers.pieces import Cuts, Splitter, trim
from bench.chunkers.recursive import MULTILINGUAL, document_meter, separator_levels
from bench.errors import ConfigError
from bench.types import Chunk, Document, Hit, Ints, Ranking, Span

GROWTH = 4


@dataclass(frozen=True)
class ParentChild(Sized):
    """Children of ``size`` are indexed; the parent that a child was cut from is handed over, once.

    The scheme of LangChain's ``ParentDocumentRetriever``. No child crosses the border of two parents.

    Attributes:
        parent_size: maximum size of what is handed over, in ``unit``; None: four times the size.
        base: strategy that cuts the parents; see ``bench.chunkers.bases``. Children are cut at separators.
    """

    parent_size: int | None = None
    base: str = "recursive"

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_overlap(self, "parent_child")
        check_base(self.base)
        if self.parent_size is not None and self.parent_size <= self.size:
            raise ConfigError(
                f"chunker.parent_size: got {self.parent_size}; allowed: above chunker.size ({self.size}), or null"
            )

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the children of one document, each with its parent; see ``Chunker``."""
        parents, children = nested(
            self, document, [self.parent_size or GROWTH * self.size, self.size], self.base, tools
        )
        owners = holders(parents, children)
        return [_child(document, child, parents[owner]) for child, owner in zip(children, owners, strict=True)]

    def deliver(self, rankings: Sequence[Ranking], chunks: Sequence[Chunk], texts: Mapping[str, str]) -> list[Ranking]:
        """Hand over each parent at the rank of its first child."""
        return once(rankings, texts)

    def fold(self, chunks: Sequence[Chunk]) -> int:
        """Most children of one parent."""
        return max(Counter(chunk.delivered for chunk in chunks).values())


@dataclass(frozen=True)
class SentenceWindow(Sized):
    """Single sentences are indexed; each is handed over with its neighbours (LlamaIndex ``SentenceWindowNodeParser``).

    Where windows overlap, the later hit hands over only what is new.

    Attributes:
        size: maximum size of a sentence, in ``unit``; longer ones are cut.
        window: sentences on each side that are handed over with it.
        language: ISO 639-1 code: which abbreviations end no sentence.
    """

    window: int = 3
    language: str = "en"

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_overlap(self, "sentence_window")
        if self.window < 0:
            raise ConfigError(f"chunker.window: got {self.window}; allowed: a whole number of sentences from 0")

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the sentences of one document, each with its window; see ``Chunker``."""
        atoms = sentence_atoms(self, document, self.language, tools)
        places = np.arange(len(atoms))
        lows = atoms.starts[np.maximum(places - self.window, 0)].tolist()
        highs = atoms.ends[np.minimum(places + self.window, len(atoms) - 1)].tolist()
        own = zip(atoms.starts.tolist(), atoms.ends.tolist(), strict=True)
        return [_child(document, span, around) for span, around in zip(own, zip(lows, highs, strict=True), strict=True)]

    def deliver(self, rankings: Sequence[Ranking], chunks: Sequence[Chunk], texts: Mapping[str, str]) -> list[Ranking]:
        """Hand over of each window what is new."""
        return once(rankings, texts)

    def fold(self, chunks: Sequence[Chunk]) -> int:
        """Sentences of a window."""
        return 2 * self.window + 1


@dataclass(frozen=True, slots=True)
class Leaf(Chunk):
    """A chunk that knows what holds it.

    Attributes:
        ancestors: (span, number of direct children) of its parent, its parent's parent and so on.
    """

    ancestors: tuple[tuple[Span, int], ...]


@dataclass(frozen=True)
class AutoMerge(Sized):
    """Leaves are indexed; once more than a share of a parent's children were hit, the whole parent is handed over.

    The rule of LlamaIndex's ``AutoMergingRetriever``, applied rank by rank: what is handed over for the first hits does
    not depend on how many are taken, so one search serves every budget. Of a merged parent only what is new is added.

    Attributes:
        size: of the leaves.
        levels: sizes of the parents, ascending, in ``unit``; None: four and sixteen times the size.
        ratio: share of the children that must be exceeded.
        base: strategy that cuts the largest parents; see ``bench.chunkers.bases``. The rest is cut at separators.
    """

    size: int = 128
    levels: list[int] | None = None
    ratio: float = 0.5
    base: str = "recursive"

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_overlap(self, "auto_merge")
        check_base(self.base)
        sizes = [self.size, *self.parents]
        if len(sizes) < 2 or any(large <= small for small, large in pairwise(sizes)):
            raise ConfigError(
                f"chunker.levels: got {self.levels}; allowed: ascending sizes above chunker.size ({self.size}), or null"
            )
        if not 0 <= self.ratio < 1:
            raise ConfigError(f"chunker.ratio: got {self.ratio}; allowed: a share from 0 up to, not including, 1")

    @property
    def parents(self) -> list[int]:
        """Sizes of the parents, ascending."""
        return [GROWTH * self.size, GROWTH**2 * self.size] if self.levels is None else list(self.levels)

    def cut(self, document: Document, tools: Tools) -> Sequence[Chunk]:
        """Return the leaves of one document; see ``Chunker``."""
        tree = nested(self, document, [*self.parents[::-1], self.size], self.base, tools)[::-1]
        up = [holders(large, small) for small, large in pairwise(tree)]
        counts = [np.bincount(owners, minlength=len(large)) for owners, large in zip(up, tree[1:], strict=True)]
        leaves: list[Chunk] = []
        for at, (start, end) in enumerate(tree[0]):
            ancestors, child = [], at
            for owners, number, level in zip(up, counts, tree[1:], strict=True):
                child = int(owners[child])
                ancestors.append((Span(document.doc_id, *level[child]), int(number[child])))
            span = Span(document.doc_id, start, end)
            leaves.append(Leaf(span, document.text[start:end], span, tuple(ancestors)))
        return leaves

    def deliver(self, rankings: Sequence[Ranking], chunks: Sequence[Chunk], texts: Mapping[str, str]) -> list[Ranking]:
        """Hand over leaves, and parents from the rank on at which enough of their children were hit."""
        return [self._merged(ranking, chunks, Handed(texts)) for ranking in rankings]

    def _merged(self, ranking: Ranking, chunks: Sequence[Chunk], handed: Handed) -> Ranking:
        met, merged = Counter[Span](), set[Span]()
        hits: list[Hit] = []
        for hit in ranking.hits:
            give = hit.delivered
            for parent, children in _ancestors(chunks[hit.chunk]):
                if parent in merged:
                    break
                met[parent] += 1
                if met[parent] <= self.ratio * children:
                    break
                merged.add(parent)
                give = parent
            hits += handed.give(hit, give) if give else ()
        return Ranking(ranking.question_id, tuple(hits))

    def fold(self, chunks: Sequence[Chunk]) -> int:
        """Most leaves of one of the largest parents."""
        return max(Counter(_ancestors(chunk)[-1][0] for chunk in chunks).values())


def nested(
    sized: Sized, document: Document, sizes: Sequence[int], base: str, tools: Tools
) -> list[list[tuple[int, int]]]:
    """Return a document cut to each of ``sizes``, largest first; every span lies within one of the size before.

    The first cut is that of the base, those within are made at separators.
    """
    text = document.text
    first = base_of(base, Sized(sizes[0], 0, sized.unit, sized.tokenizer), document).cut(document, tools)
    tree = [[(chunk.span.start, chunk.span.end) for chunk in first if chunk.span and chunk.indexed_text.strip()]]
    separators = separator_levels(text, MULTILINGUAL, True, "end")
    meter, known = document_meter(sized, text, tools), clusters(text)
    for size in sizes[1:]:
        borders = Cuts(np.array([start for start, _ in tree[-1]], dtype=np.int64))
        spans = Splitter([borders, *separators], meter, size, 0, apart=1).split(0, len(text))
        trimmed = (trim(text, start, end, known) for start, end in spans)
        tree.append([(start, end) for start, end in trimmed if text[start:end].strip()])
    return tree


def holders(large: Sequence[tuple[int, int]], small: Sequence[tuple[int, int]]) -> Ints:
    """Return for each small span the position of the large one that holds its start, shape (small,)."""
    starts = np.array([start for start, _ in large], dtype=np.int64)
    inner = np.array([start for start, _ in small], dtype=np.int64)
    return np.asarray(np.searchsorted(starts, inner, side="right") - 1, dtype=np.int64)


def _child(document: Document, span: tuple[int, int], around: tuple[int, int]) -> Chunk:
    start, end = span
    return Chunk(Span(document.doc_id, start, end), document.text[start:end], Span(document.doc_id, *around))


def _ancestors(chunk: Chunk) -> tuple[tuple[Span, int], ...]:
    return chunk.ancestors if isinstance(chunk, Leaf) else ()
