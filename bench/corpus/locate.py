"""Where an evidence item of a golden row stands in its document: as a span, an exact quote, or the nearest text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bench.errors import GoldenError, near
from bench.types import Evidence, Ints, Span

ITEM_KEYS = ("doc_id", "start", "end", "quote", "alternatives")
SHOWN_CHARS = 80
SHOWN_NAMES = 12
EDGE_CHARS = 400
MIN_SIMILARITY = 0.5
SAME = str.maketrans({**dict.fromkeys("‘’‚‛“”„‟«»‹›`´′″＂＇", "'"), '"': "'", **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-")})
INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch ``[start, end)`` of a document and how like the quote it is, 0 to 1."""

    start: int
    end: int
    similarity: float


def find_all(text: str, quote: str) -> list[int]:
    """Return the offset of every occurrence of ``quote``, overlapping ones too."""
    found, at = [], text.find(quote) if quote else -1
    while at >= 0:
        found.append(at)
        at = text.find(quote, at + 1)
    return found


def nearest(text: str, quote: str) -> list[Place]:
    """Return the places of ``text`` most like ``quote``: none under 0.5, one, or several with the same text.

    White-space runs, quotation marks, dashes, case and invisible characters do not count as differences. The rest is
    normalised Indel similarity (rapidfuzz), the ends of the place fitted to the quote.
    """
    from rapidfuzz.fuzz import partial_ratio_alignment

    folded, offsets = _fold(text)
    wanted = _fold(quote)[0].strip()
    if not wanted or not folded.strip():
        return []
    places = [(at, at + len(wanted), 1.0) for at in find_all(folded, wanted)]
    if not places:
        found = partial_ratio_alignment(wanted, folded)
        if found is None or found.dest_start == found.dest_end:
            return []
        start, end, score = _fit(folded, wanted, found.dest_start, found.dest_end)
        places = [(at, at + end - start, score) for at in find_all(folded, folded[start:end])]
    return [
        Place(int(offsets[start]), int(offsets[end - 1]) + 1, score)
        for start, end, score in places
        if score >= MIN_SIMILARITY
    ]


@lru_cache(maxsize=4)
def _fold(text: str) -> tuple[str, Ints]:
    """Return ``text`` without differences of writing, and the offset that each of its characters came from."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    lower = re.sub(r"\s", " ", INVISIBLE.sub("\0", lower.translate(SAME)))
    codes = np.frombuffer(lower.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    offsets = np.flatnonzero(codes != 0)
    blank = codes[offsets] == ord(" ")
    offsets = offsets[~(blank & np.concatenate(([False], blank[:-1]))[: len(blank)])]
    return codes[offsets].tobytes().decode("utf-32-le", "surrogatepass"), offsets.astype(np.int64)


def _fit(text: str, wanted: str, start: int, end: int) -> tuple[int, int, float]:
    """Move first the end, then the start of a place to where it is most like ``wanted``; the shorter on a tie.

    Of a long quote only the last and first 400 characters are compared, each with a quarter more of the text.
    """
    from rapidfuzz.distance import Indel

    def end_like(stop: int) -> float:
        return Indel.normalized_similarity(wanted[-EDGE_CHARS:], text[max(start, stop - window) : stop])

    def start_like(begin: int) -> float:
        return Indel.normalized_similarity(wanted[:EDGE_CHARS], text[begin : min(end, begin + window)])

    slack, window = 5 + len(wanted) // 10, EDGE_CHARS * 5 // 4
    ends = range(max(start + 1, end - slack), min(len(text), end + slack) + 1)
    end = max(ends, key=lambda stop: (end_like(stop), -stop))
    starts = range(max(0, start - slack), min(end - 1, start + slack) + 1)
    start = max(starts, key=lambda begin: (start_like(begin), begin))
    return start, end, Indel.normalized_similarity(wanted, text[start:end])


def show(text: str) -> str:
    """Return ``text`` as one printable line of at most 80 characters between quotation marks."""
    return repr(text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…")


def near_document(doc_id: str, texts: Iterable[str]) -> str:
    """Return a clause that names the documents, or of many the ones most like ``doc_id``."""
    names = list(texts)
    if len(names) <= SHOWN_NAMES:
        return near(doc_id, names)
    from rapidfuzz.process import extract

    close = [name for name, _, _ in extract(doc_id, names, limit=3)]
    return f"allowed: one of {len(names)} documents; most like it: {', '.join(map(repr, close))}"


def resolve(item: object, texts: Mapping[str, str], *, explain: bool = True) -> Evidence:
    """Return the evidence that one item of a golden row stands for.

    Args:
        item: ``{doc_id, start, end, quote?}``, ``{doc_id, quote}``, ``{doc_id, quote, alternatives: "all"}`` or
            ``{alternatives: [item, ...]}``.
        texts: document texts by id.
        explain: show the nearest text of a quote that is missing (milliseconds a megabyte).

    Raises:
        GoldenError: the item is malformed, or does not say exactly one place; the message has no file:line.
    """
    check_keys(item, ITEM_KEYS)
    row: Mapping[str, Any] = item if isinstance(item, Mapping) else {}
    options = row.get("alternatives")
    if isinstance(options, list):
        if set(row) != {"alternatives"} or not options:
            raise GoldenError(
                '"alternatives" as a list stands alone and holds at least one place; give '
                '{"alternatives": [{"doc_id", "start", "end"}, ...]}'
            )
        spans = [span for option in options for span in resolve(option, texts, explain=explain).alternatives]
        return Evidence(tuple(dict.fromkeys(spans)))
    if options not in (None, "all"):
        raise GoldenError(f'"alternatives" is {options!r}; allowed: "all" beside a quote, or a list of places')
    return Evidence(tuple(_places(row, texts, explain)))


def check_keys(item: object, allowed: Sequence[str]) -> None:
    """Raise GoldenError unless ``item`` is an object with no keys but ``allowed``."""
    if not isinstance(item, Mapping):
        raise GoldenError(f"{item!r} is not an object; allowed: an object with keys {', '.join(allowed)}")
    for key in item:
        if key not in allowed:
            raise GoldenError(f"unknown key {key!r}; {near(key, allowed)}")


def _places(row: Mapping[str, Any], texts: Mapping[str, str], explain: bool) -> Iterator[Span]:
    doc_id, quote = row.get("doc_id"), row.get("quote")
    if not isinstance(doc_id, str) or not isinstance(quote, str | None):
        raise GoldenError('"doc_id" must be a string, and so must "quote" where it is given')
    if doc_id not in texts:
        raise GoldenError(f"unknown document {doc_id!r}; {near_document(doc_id, texts)}")
    if "start" in row or "end" in row:
        yield _stated(row, doc_id, texts[doc_id], explain)
        return
    if quote is None or not quote.strip():
        raise GoldenError('evidence needs "start" and "end", or a "quote" that is not white space')
    found = find_all(texts[doc_id], quote)
    if not found or (len(found) > 1 and row.get("alternatives") != "all"):
        hint = "" if found else "; correct it, or use --repair"
        raise GoldenError(_unlocated(doc_id, texts[doc_id], quote, found, explain) + hint)
    yield from (Span(doc_id, at, at + len(quote)) for at in found)


def _stated(row: Mapping[str, Any], doc_id: str, text: str, explain: bool) -> Span:
    start, end, quote = row.get("start"), row.get("end"), row.get("quote")
    if type(start) is not int or type(end) is not int:
        raise GoldenError(f'"start" and "end" must both be whole numbers; received {start!r}, {end!r}')
    if row.get("alternatives") is not None:
        raise GoldenError('"alternatives": "all" goes with a quote alone; leave out "start" and "end"')
    where = f"{start}:{end} of {doc_id}"
    if not 0 <= start < end <= len(text):
        why = "is empty" if start == end else f"is outside the text; allowed: 0 <= start < end <= {len(text)}"
    elif not text[start:end].strip():
        why = f"is white space only ({show(text[start:end])})"
    elif quote is not None and text[start:end] != quote:
        found = find_all(text, quote)
        known = f"the quote stands at {_offsets(found, quote)}"
        stands = known if found else _unlocated(doc_id, text, quote, [], explain)
        why = f"is {show(text[start:end])}, not the quote {show(quote)}; {stands}; correct it, or use --repair"
    else:
        return Span(doc_id, start, end)
    raise GoldenError(f"evidence {where} {why}")


def _unlocated(doc_id: str, text: str, quote: str, found: Sequence[int], explain: bool) -> str:
    if found:
        many = f"quote {show(quote)} stands {len(found)} times in {doc_id}, at {_offsets(found, quote)}"
        return f'{many}; give "start" and "end", or "alternatives": "all"'
    places = nearest(text, quote) if explain else []
    like = ""
    if places:
        best = places[0]
        like = (
            f"; nearest text at {best.start}:{best.end} (similarity {best.similarity:.2f}): "
            f"{show(text[best.start : best.end])}"
        )
    return f"quote {show(quote)} is not in {doc_id}{like}"


def _offsets(found: Sequence[int], quote: str) -> str:
    shown = ", ".join(f"{at}:{at + len(quote)}" for at in found[:8])
    return shown + (f" and {len(found) - 8} more" if len(found) > 8 else "")
