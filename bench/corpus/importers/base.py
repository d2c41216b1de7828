"""What every importer shares: locating quotes in the documents, collecting questions and problems."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bench.corpus.importers.files import Row, refuse, shorten
from bench.errors import GoldenError


@dataclass(frozen=True)
class ImportResult:
    """A foreign golden set in our format.

    Attributes:
        documents: pairs of doc_id (relative POSIX path) and text.
        questions: rows of golden.jsonl.
        problems: one line each: where, what could not be located and why, whether the question was kept.
    """

    documents: list[tuple[str, str]]
    questions: list[Row]
    problems: list[str]


@dataclass(frozen=True, slots=True)
class Quote:
    """Evidence as the foreign set states it.

    Attributes:
        text: the quote; empty where the set gives only offsets.
        doc_id: its document; None where the set does not say.
        span: the offsets stated by the set, if any.
        exact: the offsets are the annotator's own choice. They then stand alone: "12" elsewhere in the document is
            no evidence. Offsets that were found by searching the text are not exact, and every occurrence counts.
        within: part of the document to search in.
    """

    text: str
    doc_id: str | None
    span: tuple[int, int] | None = None
    exact: bool = False
    within: tuple[int, int] | None = None


class Source:
    """Text of one document, searchable exactly and with white space normalised."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _words(self) -> tuple[str, list[int], list[int]]:
        """Words joined by single spaces, and the start of each word there and in the text."""
        found = [(m.start(), m.group()) for m in re.finditer(r"\S+", self.text)]
        starts, at = [], 0
        for _, word in found:
            starts.append(at)
            at += len(word) + 1
        return " ".join(word for _, word in found), starts, [start for start, _ in found]

    def find(self, quote: str) -> list[tuple[int, int]]:
        """Every place where ``quote`` stands exactly, not overlapping itself, in order."""
        return _every(self.text, quote)

    def find_loosely(self, quote: str) -> list[tuple[int, int]]:
        """Every place where ``quote`` stands when runs of white space count as one space, as offsets of the text."""
        joined, starts, origins = self._words

        def origin(position: int) -> int:
            word = bisect_right(starts, position) - 1
            return origins[word] + position - starts[word]

        return [(origin(start), origin(end - 1) + 1) for start, end in _every(joined, " ".join(quote.split()))]


def _every(text: str, quote: str) -> list[tuple[int, int]]:
    """Every place of ``quote`` that does not overlap the one before; none where it is empty."""
    places, start = [], text.find(quote)
    while quote and start >= 0:
        places.append((start, start + len(quote)))
        start = text.find(quote, start + len(quote))
    return places


@dataclass
class Collection:
    """Documents, and the questions located in them so far."""

    documents: dict[str, str]
    questions: dict[str, Row] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    _sources: dict[str, Source] = field(default_factory=dict)

    def add(self, where: str, row: Row, quotes: Sequence[Quote] = ()) -> None:
        """Add the question ``row`` with its evidence located, or report at ``where`` why it is kept out.

        Raises:
            GoldenError: the question has no text, or its id is taken.
        """
        question_id = "_".join(row["question_id"].split())
        if not row["question"].strip() or not question_id:
            refuse(where, "the question or its id is empty", "a question in words, and an id")
        if question_id in self.questions:
            refuse(where, f"question id {question_id!r} stands twice", "one id for each question")
        items: list[Row] = []
        misses: list[str] = []
        for quote in quotes:
            item = self._locate(where, quote, misses)
            if item is not None and item not in items:
                items.append(item)
        if row["answerable"] and not items:
            reasons = misses or ["no evidence given"]
            self.problems += [f"{where}: {reason}; question {question_id} kept out" for reason in reasons]
            return
        self.problems += [f"{where}: {miss}; question {question_id} kept with the part located" for miss in misses]
        if row.get("document") is not None and row["document"] not in self.documents:
            self.problems.append(
                f"{where}: document {row['document']!r} is missing; question {question_id} kept without"
            )
        self.questions[question_id] = self._fit({**row, "question_id": question_id, "evidence": items})

    def result(self) -> ImportResult:
        """Everything collected.

        Raises:
            GoldenError: no question could be kept.
        """
        empty = [doc_id for doc_id, text in self.documents.items() if not text.strip().strip("\ufeff")]
        for doc_id in empty:
            del self.documents[doc_id]
            self.problems.append(f"{doc_id}: holds no text; document left out")
        if not self.questions:
            first = f"; first problem: {self.problems[0]}" if self.problems else ""
            raise GoldenError(f"nothing to import: no question could be kept{first}")
        return ImportResult(list(self.documents.items()), list(self.questions.values()), self.problems)

    def _fit(self, row: Row) -> Row:
        """The row without claims about documents that hold none of its evidence, and without empty answers."""
        held = {span["doc_id"] for item in row["evidence"] for span in item.get("alternatives", [item])}
        sources = [doc_id for doc_id in row.get("required_sources", ()) if doc_id in held]
        optional = {
            "answers": [answer for answer in row.get("answers", ()) if answer],
            "required_sources": sources if len(sources) > 1 else [],
            "document": row.get("document") if row.get("document") in self.documents else None,
        }
        return {key: value for key, value in {**row, **optional}.items() if value or key not in optional}

    def _locate(self, where: str, quote: Quote, misses: list[str]) -> Row | None:
        if quote.doc_id is not None and quote.doc_id not in self.documents:
            misses.append(f"document {quote.doc_id!r} is missing")
            return None
        if quote.doc_id is not None and quote.span is not None and self._stands(quote):
            given = (quote.doc_id, *quote.span)
            others = [] if quote.exact else [place for place in self._search(quote) if place != given]
            return self._evidence([given, *others])
        if not quote.text.strip():
            bare = quote.span is not None and not quote.text
            misses.append(f"offsets {quote.span} select no text of {quote.doc_id}" if bare else "an empty quote")
            return None
        places = self._search(quote)
        loosely = not places
        places = places or self._search(quote, loosely=True)
        if not places:
            misses.append(f"not found in {quote.doc_id or 'any document'}: {shorten(quote.text)}")
            return None
        if loosely or quote.span is not None:
            doc_id, start, end = places[0]
            reason = "white space differs" if loosely else f"offsets {list(quote.span or ())} hold other text"
            self.problems.append(f"{where}: moved to {doc_id} [{start}, {end}), {reason}: {shorten(quote.text)}")
        return self._evidence(places)

    def _stands(self, quote: Quote) -> bool:
        """True if the text at the stated offsets is the quote (or simply text, where there is no quote)."""
        start, end = quote.span or (0, 0)
        text = self.documents[str(quote.doc_id)]
        if not 0 <= start < end <= len(text):
            return False
        return text[start:end] == quote.text if quote.text else not text[start:end].isspace()

    def _search(self, quote: Quote, *, loosely: bool = False) -> list[tuple[str, int, int]]:
        doc_ids: Iterable[str] = self.documents if quote.doc_id is None else (quote.doc_id,)
        places = []
        for doc_id in doc_ids:
            source = self._sources.setdefault(doc_id, Source(self.documents[doc_id]))
            low, high = quote.within or (0, len(source.text))
            found = source.find_loosely(quote.text) if loosely else source.find(quote.text)
            places += [(doc_id, start, end) for start, end in found if low <= start and end <= high]
        return places

    def _evidence(self, places: Sequence[tuple[str, int, int]]) -> Row:
        spans = [
            {"doc_id": doc_id, "start": start, "end": end, "quote": self.documents[doc_id][start:end]}
            for doc_id, start, end in places
        ]
        return spans[0] if len(spans) == 1 else {"alternatives": spans}
