"""The span measures again, the slow and obvious way: as Python sets of characters. Shares no code with the package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.types import GoldenQuestion, Span

Char = tuple[str, int]


def chars(span: Span, texts: Mapping[str, str]) -> list[Char]:
    return [(span.doc_id, i) for i in range(span.start, span.end) if not texts[span.doc_id][i].isspace()]


def token_starts(span: Span, starts: Mapping[str, Sequence[int]]) -> list[Char]:
    return [(span.doc_id, i) for i in starts[span.doc_id] if span.start <= i < span.end]


def items_of(question: GoldenQuestion, texts: Mapping[str, str]) -> list[list[Span]]:
    items = [[span for span in evidence.alternatives if chars(span, texts)] for evidence in question.evidence]
    return [item for item in items if item]


def share(span: Span, held: set[Char], texts: Mapping[str, str]) -> float:
    wanted = chars(span, texts)
    return sum(char in held for char in wanted) / len(wanted)


def chosen(question: GoldenQuestion, held: set[Char], texts: Mapping[str, str]) -> list[Span]:
    """Best-covered alternative of each item; max() keeps the first of equals."""
    return [max(item, key=lambda span: share(span, held, texts)) for item in items_of(question, texts)]


def fill(pieces: Sequence[Span], budget: int, starts: Mapping[str, Sequence[int]]) -> list[Span]:
    """Walk over the tokens one by one until the budget is spent."""
    kept: list[Span] = []
    left = budget
    for piece in pieces:
        inside = [i for i in starts[piece.doc_id] if piece.start <= i < piece.end]
        if left <= 0:
            break
        if len(inside) > left:
            kept.append(Span(piece.doc_id, piece.start, inside[left]))
            break
        kept.append(piece)
        left -= len(inside)
    return kept


def compare(gold: set[Char], retrieved: list[Char]) -> dict[str, float | None]:
    unique = set(retrieved)
    shared = len(gold & unique)
    if not gold:
        return dict.fromkeys(("span_recall", "span_precision", "span_precision_unique", "span_iou"))
    return {
        "span_recall": shared / len(gold),
        "span_precision": shared / len(retrieved) if retrieved else 0.0,
        "span_precision_unique": shared / len(unique) if unique else 0.0,
        "span_iou": shared / (len(gold) + len(retrieved) - shared),
    }


def cut_scores(
    question: GoldenQuestion, pieces: Sequence[Span], texts: Mapping[str, str], starts: Mapping[str, Sequence[int]]
) -> dict[str, float | None]:
    """Every measure of one cut; None: undefined."""
    retrieved = [char for piece in pieces for char in chars(piece, texts)]
    tokens = [token for piece in pieces for token in token_starts(piece, starts)]
    held = set(retrieved)
    best = chosen(question, held, texts)
    gold = {char for span in best for char in chars(span, texts)}
    gold_tokens = {token for span in best for token in token_starts(span, starts)}
    whole = [share(span, held, texts) == 1 for span in best]
    return {
        **compare(gold, retrieved),
        **{f"{name}_in_tokens": value for name, value in compare(gold_tokens, tokens).items()},
        "evidence_hit": sum(whole) / len(whole) if whole else None,
        "evidence_all": float(all(whole)) if whole else None,
        "duplication": 1 - len(held) / len(retrieved) if retrieved else None,
        "duplication_in_tokens": 1 - len(set(tokens)) / len(tokens) if tokens else None,
        "context_tokens": float(len(tokens)),
    }


def chunking_scores(
    question: GoldenQuestion, chunks: Sequence[Span], texts: Mapping[str, str], starts: Mapping[str, Sequence[int]]
) -> dict[str, float | None]:
    """Every measure that needs no retrieval; None: undefined."""
    everything = {char for chunk in chunks for char in chars(chunk, texts)}
    best = chosen(question, everything, texts)
    if not best:
        return dict.fromkeys(("precision_omega", "precision_omega_in_tokens", "evidence_intact", "reachable"))
    taken = [c for c in chunks if any(set(chars(c, texts)) & set(chars(span, texts)) for span in best)]
    gold = {char for span in best for char in chars(span, texts)}
    gold_tokens = {token for span in best for token in token_starts(span, starts)}
    intact = [
        any(set(chars(span, texts)) <= set(chars(chunk, texts)) for span in item for chunk in chunks)
        for item in items_of(question, texts)
    ]
    return {
        "precision_omega": compare(gold, [c for t in taken for c in chars(t, texts)])["span_precision_unique"],
        "precision_omega_in_tokens": compare(gold_tokens, [c for t in taken for c in token_starts(t, starts)])[
            "span_precision_unique"
        ],
        "evidence_intact": sum(intact) / len(intact),
        "reachable": float(all(share(span, everything, texts) == 1 for span in best)),
    }
