"""Whole small sweeps for tests of the report: real chunks, real scores, rankings as the test wants them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.borders import write_chunking
from bench.corpus.golden import load_golden
from bench.layout import Layout
from bench.measures.estimate import estimates
from bench.measures.retrieval import score_retrieval
from bench.rows import question_rows
from bench.store import PointRecord, Sweep, write_json, write_json_lines
from bench.tokenize import get_tokenizer
from bench.types import Chunk, Cuts, Document, GoldenQuestion, Hit, Ranking

BUDGET = 64
CUTS = Cuts((1, 5, 10), (16, 32, BUDGET, 128))
HOSTILE = (
    "# Regeln <script>alert('x')</script>\n\n</style></script><img src=x onerror=alert(1)> \"quoted\" "
    "'single' & &amp;\n\n"
    "مرحبا بالعالم: النص من اليمين إلى اليسار. 😀👩‍👩‍👧 The emoji stand before the fee. The fee is 42 euros.\n"
    "\u202eturned around\u202c {{ 7*7 }} ${7*7} <!-- comment -->\n\n## 表\n\n"
    "| 品 | 価 |\n|---|---|\n| 茶 | 300 |\n| 水 | 100 |\n"
)

HOSTILE_ANSWER = {
    "answer": {"text": "It is 42. <script>alert(3)</script> [1]", "status": "answered", "citations": [1], "reason": ""},
    "claims": [
        {
            "claim": "It is <b>42</b>.",
            "verdict": "supported",
            "quote": "The fee is 42 euros.",
            "passages": [1],
            "reason": "",
        },
        {
            "claim": "It is free on Mondays.",
            "verdict": "unsupported",
            "quote": "",
            "passages": [],
            "reason": "not said",
        },
    ],
    "citations": [{"claim": "It is <b>42</b>.", "passage": 1, "verdict": "supported", "reason": ""}],
    "faults": {},
}


@dataclass
class Point:
    """A point to write. ``size`` cuts documents into windows of that many characters.

    ``ranked`` gives the chunks of a question as (document, number of its chunk), best first; other questions, and
    None, rank by shared words. ``more`` adds to the record, ``generation`` to the row of a question.
    """

    label: str
    size: int
    overlap: int = 0
    ranked: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)
    axes: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    realised: Mapping[str, Any] = field(default_factory=dict)
    generation: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass
class World:
    """Documents, golden rows (evidence as quotes) and points; ``write`` leaves what a sweep leaves."""

    documents: Mapping[str, str]
    golden: Sequence[Mapping[str, Any]]
    points: Sequence[Point]
    meta: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    name: str = "made"

    def write(self, folder: Path) -> Path:
        """Write the sweep; return its folder."""
        documents = tuple(
            Document(name, text, "html" if name.endswith("html") else "md", self.meta.get(name, {}))
            for name, text in self.documents.items()
        )
        write_json_lines(folder / "asked.jsonl", self.golden)
        questions = load_golden(folder / "asked.jsonl", documents)
        (folder / "asked.jsonl").unlink()
        sweep = Sweep(folder)
        sweep.write_inputs(documents, [_resolved(row, questions) for row in self.golden])
        ids = [f"{i + 1:012x}" for i in range(len(self.points))]
        write_json(folder / "sweep.json", self._header(documents, questions, ids))
        layout = Layout.of(documents, get_tokenizer("minilm"))
        for name, point in zip(ids, self.points, strict=True):
            _write_point(sweep, name, point, documents, questions, layout)
        return folder

    def _header(self, documents: Any, questions: Any, ids: Sequence[str]) -> dict[str, Any]:
        corpus = {"name": "made", "sha256": "c" * 64, "golden_sha256": "g" * 64, "documents": len(documents)}
        corpus |= {"characters": sum(len(d.text) for d in documents), "questions": len(questions)}
        return {
            "schema_version": 1,
            "name": self.name,
            "description": "",
            "created": "2026-01-01T00:00:00+00:00",
            "overrides": ["experiment=made"],
            "corpus": corpus,
            "tokenizer": "minilm",
            "cuts": {"ks": list(CUTS.ks), "tokens": list(CUTS.tokens)},
            "headline": f"span_recall@tokens={BUDGET}",
            "headline_tokens": BUDGET,
            "rules": "standard",
            "relevance_threshold": 0.0,
            "seed": 0,
            "points": list(ids),
            "provenance": {"bench": "0", "packages": {"numpy": "2"}},
        }


def _resolved(row: Mapping[str, Any], questions: Sequence[GoldenQuestion]) -> dict[str, Any]:
    own = next(q for q in questions if q.question_id == row["question_id"])
    quotes = [item.get("quote") for item in row.get("evidence", [])]
    spans = [item.alternatives[0] for item in own.evidence]
    evidence = [
        {"doc_id": s.doc_id, "start": s.start, "end": s.end, "quote": quote}
        for s, quote in zip(spans, quotes, strict=True)
    ]
    return {**row, "evidence": evidence, "category": own.category, "answerable": own.answerable}


def windows(document: Document, size: int, overlap: int) -> list[Chunk]:
    """Windows of ``size`` characters, blank ones left out."""
    step = size - overlap
    starts = range(0, max(1, len(document.text) - overlap), step)
    cut = [Chunk.of(document, start, min(start + size, len(document.text))) for start in starts]
    return [chunk for chunk in cut if chunk.indexed_text.strip()]


def _write_point(
    sweep: Sweep, name: str, point: Point, documents: Sequence[Document], questions: Any, layout: Layout
) -> None:
    ordered = sorted(documents, key=lambda document: document.doc_id)
    chunks = [chunk for document in ordered for chunk in windows(document, point.size, point.overlap)]
    texts = {document.doc_id: document.text for document in documents}
    rankings = [_ranking(question, point, chunks) for question in questions]
    scores = score_retrieval(questions, chunks, rankings, layout, texts, CUTS)
    rows = question_rows(questions, chunks, rankings, scores)
    for row in rows:
        row["scores"].update(point.scores.get(row["question_id"], {}))
        if row["question_id"] in point.generation:
            row["generation"] = point.generation[row["question_id"]]
    fingerprint = f"{point.size:08x}{point.overlap:08x}"
    write_chunking(sweep.folder, fingerprint, chunks)
    means = {measure: asdict(estimate) for measure, estimate in estimates(scores).items()}
    for measure in {m for own in point.scores.values() for m in own}:
        values = [own[measure] for own in point.scores.values() if isinstance(own.get(measure), int | float)]
        counts = {"n_scored": len(values), "n_undefined": 0, "n_failed": 0, "n_declined": 0}
        mean = sum(values) / len(values) if values else None
        means[measure] = {"mean": mean, **counts, "low": None, "high": None, "sd": None}
    axes = {"strategy": "windows", "embedder": "words", "retriever": "dense", "size": point.size} | dict(point.axes)
    record = PointRecord(
        point_id=name,
        label=point.label,
        status="complete",
        axes=axes | {"overlap": point.overlap},
        config={},
        provenance={"bench": "0", "usable_tokens": None} | dict(point.provenance),
        realised={"chunks": len(chunks), "chunking_fingerprint": fingerprint, "over_limit": 0} | dict(point.realised),
        timings_s={"chunk": 0.1},
        cost={"index_bytes": 1000 * len(chunks), "embedding_s": 0.5, "context_tokens": BUDGET, "embedding_tokens": 100},
        estimates=means,
    )
    sweep.write_point(record, rows, "")


def _ranking(question: GoldenQuestion, point: Point, chunks: Sequence[Chunk]) -> Ranking:
    wanted = point.ranked.get(question.question_id)
    if wanted is None:
        words = set(question.text.lower().split())
        shared = [len(words & set(chunk.indexed_text.lower().split())) for chunk in chunks]
        order = sorted(range(len(chunks)), key=lambda i: (-shared[i], i))
    else:
        order = [_place(chunks, doc_id, number) for doc_id, number in wanted]
    hits = tuple(Hit(i, 1.0 - rank / 1000, chunks[i].delivered) for rank, i in enumerate(order))
    return Ranking(question.question_id, hits)


def _place(chunks: Sequence[Chunk], doc_id: str, number: int) -> int:
    own = [i for i, chunk in enumerate(chunks) if chunk.span is not None and chunk.span.doc_id == doc_id]
    return own[number]


def asked(number: int, question: str, evidence: Sequence[tuple[str, str]], **more: Any) -> dict[str, Any]:
    """One golden row with evidence as (document, quote)."""
    quotes = [{"doc_id": doc_id, "quote": quote} for doc_id, quote in evidence]
    return {"question_id": f"q{number}", "question": question, "answer": "so", "evidence": quotes, **more}


def hostile_world(points: Sequence[Point] | None = None) -> World:
    """Documents and labels that a page must show and never run."""
    golden = [
        asked(0, "What is the fee? <b>bold</b>", [("a.md", "The fee is 42 euros.")], category="fact"),
        asked(1, "茶はいくら?", [("a.md", "| 茶 | 300 |")], category="table"),
        asked(2, "Who is </script><script>alert(2)</script>?", [("b.md", "Nobody lives here")], category="fact"),
        asked(3, "What is not said?", [], category="none", answerable=False),
    ]
    plain = "# House\n\nNobody lives here, but the door is open on Sundays.\n\n- one\n- two\n\n```\ncode\n```\n"
    plain += "\nSomebody lives next door, and the fee is paid there.\n" * 3
    made = points or [
        Point("windows 40 $\\alpha$", 40),
        Point("windows 80/20 <i>x</i>", 80, 20, generation={"q0": HOSTILE_ANSWER}),
        Point("大きな窓 160", 160, axes={"strategy": "large"}),
    ]
    return World({"a.md": HOSTILE, "b.md": plain}, golden, made, name="hostile")
