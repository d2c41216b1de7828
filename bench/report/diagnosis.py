"""One cause for every miss, by the order in which a person would ask: is it there, is it whole, is it found?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bench.layout import Layout
from bench.report.answers import answer_fault
from bench.report.causes import NAMES
from bench.report.chunkings import NOTHING, Chunking, chunking_of
from bench.report.context import (
    Alternatives,
    Piece,
    best_share,
    context_of,
    evidence_of,
    is_miss,
    layout_of,
    quotes_of,
    share,
    without_repeats,
)
from bench.report.data import Row, SweepData
from bench.store import PointRecord
from bench.types import Span

DILUTED_SHARE = 0.10
DILUTED_TOKENS = 200
NEAR = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """Why one question failed at one point: the cause, the evidence for it in words, the rank where it stands."""

    question_id: str
    cause: str
    evidence: str
    rank: int | None = None


@dataclass(frozen=True)
class View:
    """What a diagnosis looks at: the sweep, one point, its chunk borders, the counts of the documents."""

    data: SweepData
    record: PointRecord
    chunking: Chunking
    layout: Layout

    @classmethod
    def of(cls, data: SweepData, index: int) -> View:
        """Look at one point."""
        return cls(data, data.points[index], chunking_of(data, data.points[index]), layout_of(data))

    def text(self, span: Span) -> str:
        """Text of a span, one short line."""
        words = " ".join(self.data.documents[span.doc_id].text[span.start : span.end].split())
        return words if len(words) <= 60 else f"{words[:57]}…"

    def tokens(self, doc_id: str, start: int, end: int) -> int:
        """Budget tokens of a range."""
        counts = self.layout.tokens[doc_id]
        return int(counts[end] - counts[start])


def diagnose_point(data: SweepData, index: int, rows: Sequence[Row] | None = None) -> list[Finding | None]:
    """Return one finding a question of a point, None where nothing is wrong or nothing can be told.

    Args:
        data: the sweep.
        index: number of the point.
        rows: its per-question rows, where the caller has read them already.
    """
    view = View.of(data, index)
    return [diagnose(view, row) for row in (data.rows_of(index) if rows is None else rows)]


def diagnose(view: View, row: Row) -> Finding | None:
    """Diagnose one question at one point."""
    golden = view.data.golden.get(row["question_id"], {})
    missed = is_miss(row, view.data.headline)
    found: tuple[str, str, int | None] | None = None
    if missed and "evidence" in golden and view.data.documents:
        found = _retrieval(view, row, golden)
    elif missed is None and row.get("answerable", True) and "evidence" in golden:
        found = ("not_in_corpus", "the question counts as answerable, but no evidence for it is in any document", None)
    found = found or answer_fault(row, evidence_given=missed is False)
    return Finding(row["question_id"], *found) if found else None


def _retrieval(view: View, row: Row, golden: Row) -> tuple[str, str, int | None]:
    hits = row["hits"]
    pieces = context_of(hits, view.data.budget_tokens, view.layout)
    causes = []
    for item in evidence_of(golden):
        found = _item(view, hits, pieces, item, golden)
        causes += [found] if found else []
    if not causes:
        return "ranked_below", "the record counts evidence as missing", None
    return min(causes, key=lambda cause: NAMES.index(cause[0]))


def _item(
    view: View, hits: Sequence[Any], pieces: Sequence[Piece], item: Alternatives, golden: Row
) -> tuple[str, str, int | None] | None:
    """The cause for one evidence item; None if all of it was handed over."""
    known = tuple(span for span in item if span.doc_id in view.data.documents)
    scope = golden.get("scope")
    if not known:
        return "not_in_corpus", f"{item[0].doc_id} is not among the documents", None
    if scope is not None and not any(span.doc_id in scope for span in known):
        return "not_in_corpus", f"the question's scope leaves out {known[0].doc_id}", None
    given, span = best_share(pieces, known, view.layout)
    if given >= 1:
        return None
    lost = _lost(view, known, quotes_of(golden))
    if lost:
        return "lost_at_loading", lost, None
    holders = [(s, int(a), int(b)) for s in known for a, b in _holders(view, s)]
    if not holders and view.chunking:
        return "evidence_cut", _cut_words(view, span, given), _rank(hits, [(span, span.start, span.end)], whole=False)
    rank = _rank(hits, holders or [(span, span.start, span.end)], whole=bool(holders))
    return _placed(view, hits, pieces, span, holders, rank)


def _holders(view: View, span: Span) -> Any:
    """Chunks that hold all non-white-space characters of a span."""
    text = view.data.documents[span.doc_id].text[span.start : span.end]
    start = span.start + len(text) - len(text.lstrip())
    return view.chunking.get(span.doc_id, NOTHING).holders(start, span.start + len(text.rstrip()))


def _lost(view: View, known: Alternatives, quotes: dict[Span, str]) -> str:
    """What is wrong with the text itself; empty if one alternative is as it should be."""
    reasons = []
    for span in known:
        text = view.data.documents[span.doc_id].text
        quote = quotes.get(span)
        if quote is not None and text[span.start : span.end] != quote:
            reasons.append(f"{span.doc_id} does not hold the quote at [{span.start}, {span.end}) as it was loaded")
            continue
        covered = view.chunking.get(span.doc_id, NOTHING).spans
        if not view.chunking or share(covered, span, view.layout) >= 1:
            return ""
        reasons.append(f"characters of [{span.start}, {span.end}) in {span.doc_id} are in no chunk")
    return reasons[0]


def _cut_words(view: View, span: Span, given: float) -> str:
    parts = view.chunking.get(span.doc_id, NOTHING).touching(span.start, span.end)
    most = max((share(parts[i : i + 1], span, view.layout) for i in range(len(parts))), default=0.0)
    return (
        f"“{view.text(span)}” lies across {len(parts)} chunks of {span.doc_id}; the largest part is {most:.0%}, "
        f"{given:.0%} was handed over"
    )


def _rank(hits: Sequence[Any], places: Sequence[tuple[Span, int, int]], *, whole: bool) -> int | None:
    """First rank, from 1, of a hit on one of the places: equal to it (``whole``), or sharing a character with it."""
    for rank, (doc_id, start, end, *_rest) in enumerate(hits, 1):
        for span, low, high in places:
            if doc_id == span.doc_id and ((start, end) == (low, high) if whole else start < high and end > low):
                return rank
    return None


def _placed(
    view: View,
    hits: Sequence[Any],
    pieces: Sequence[Piece],
    span: Span,
    holders: Sequence[tuple[Span, int, int]],
    rank: int | None,
) -> tuple[str, str, int | None]:
    """The cause for evidence that stands whole in a chunk which was not handed over, or not to its end."""
    last = pieces[-1].rank if pieces else 0
    where = f"rank {rank}" if rank else f"not among the {len(hits)} ranked"
    end = "the budget ends inside it" if rank == last else f"the context ends at rank {last}"
    stands = f"its chunk in {span.doc_id}: {where}; {end}"
    limit = view.record.provenance.get("usable_tokens")
    if limit and view.record.realised.get("truncated_chunks") and holders:
        needed = min(view.tokens(s.doc_id, start, s.end) for s, start, _ in holders)
        if needed > limit:
            return "truncated", f"it ends at token {needed} of its chunk, the embedder reads {limit}; {where}", rank
    older = view.layout.supersedes.get(span.doc_id, frozenset())
    stale = next((piece for piece in pieces if piece.doc_id in older), None)
    if stale is not None:
        return (
            "wrong_document",
            f"{stale.doc_id}, which {span.doc_id} replaces, is at rank {stale.rank}; {stands}",
            rank,
        )
    texts = {name: document.text for name, document in view.data.documents.items()} if rank else {}
    if rank and rank > last and without_repeats(hits[:rank], view.data.budget_tokens, view.layout, texts) >= rank:
        return "crowded_out", f"without repeated text the budget would reach rank {rank}; {stands}", rank
    if holders and (thin := _diluted(view, holders)):
        return "diluted", f"{thin}; {stands}", rank
    if not any(piece.doc_id == span.doc_id for piece in pieces) and (rank is None or rank > NEAR * last):
        others = ", ".join(name for name, _ in Counter(piece.doc_id for piece in pieces).most_common(2))
        return "wrong_document", f"nothing of {span.doc_id} was handed over, but {others or 'nothing'}; {stands}", rank
    return "ranked_below", stands, rank


def _diluted(view: View, holders: Sequence[tuple[Span, int, int]]) -> str:
    """How little of its chunk the evidence is; empty if it is a fair part of one."""
    found = []
    for span, start, end in holders:
        ink = view.layout.ink[span.doc_id]
        part = int(ink[span.end] - ink[span.start]) / max(1, int(ink[end] - ink[start]))
        tokens = view.tokens(span.doc_id, start, end)
        if part >= DILUTED_SHARE or tokens < DILUTED_TOKENS:
            return ""
        found.append(f"it is {part:.0%} of a chunk of {tokens} tokens")
    return found[0]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Findings of all points: ``causes[i]`` counts those of point i, over ``n`` questions each."""

    findings: tuple[tuple[Finding | None, ...], ...]
    n: int

    def counts(self, index: int) -> Counter[str]:
        """How often each cause stands at one point."""
        return Counter(finding.cause for finding in self.findings[index] if finding)

    def by_family(self, data: SweepData) -> dict[str, Counter[str]]:
        """Counts by strategy, summed over its points, the strategies in order of the sweep."""
        found: dict[str, Counter[str]] = {}
        for index in range(len(self.findings)):
            found.setdefault(data.family(index), Counter()).update(self.counts(index))
        return found


def diagnosis_of(data: SweepData) -> Diagnosis:
    """Diagnose every point, once."""
    return data.once("diagnosis", _diagnosis)


def _diagnosis(data: SweepData) -> Diagnosis:
    findings = tuple(tuple(diagnose_point(data, index)) for index in range(len(data.points)))
    return Diagnosis(findings, len(data.question_ids))
