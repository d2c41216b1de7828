"""How large the page gets, and how fast it opens: 500 points x 500 questions over 1.4 million characters.

    python -m tests.benchmarks.report_scale [--points 500] [--questions 500]

Writes a synthetic sweep into a scratch folder, makes its report, opens it in Chromium, prints megabytes and seconds.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.borders import write_chunking
from bench.report.data import SweepData
from bench.report.write import write_report
from bench.store import PointRecord, Sweep, write_json
from bench.types import Chunk, Document

WORDS = 4000
DOCUMENTS = 60
CHARACTERS = 1_400_000
BUDGET = 2000
MEASURES = ("span_recall", "span_precision", "evidence_all")


def documents(rng: np.random.Generator) -> tuple[Document, ...]:
    """Random sentences of a vocabulary with the frequencies of a language."""
    words = ["".join(map(chr, rng.integers(97, 123, rng.integers(2, 11)))) for _ in range(WORDS)]
    odds = 1 / np.arange(1, WORDS + 1)
    made = []
    for number in range(DOCUMENTS):
        size = CHARACTERS // DOCUMENTS
        picked = rng.choice(WORDS, size // 5, p=odds / odds.sum())
        text = "".join(words[w] + (". " if i % 12 == 11 else " ") for i, w in enumerate(picked))[:size]
        made.append(Document(f"document-{number:02d}.txt", text))
    return tuple(made)


def write_sweep(folder: Path, points: int, questions: int, rng: np.random.Generator) -> None:
    """A sweep whose rankings are drawn near the evidence, of five embedders on each chunking."""
    texts = documents(rng)
    sweep = Sweep(folder)
    golden = []
    for q in range(questions):
        document = texts[int(rng.integers(DOCUMENTS))]
        start = int(rng.integers(0, len(document.text) - 200))
        quote = document.text[start : start + 120].strip()
        start = document.text.index(quote, start)
        span = {"doc_id": document.doc_id, "start": start, "end": start + len(quote), "quote": quote}
        text = f"{quote[:60]} and what else is there to know of it?"
        golden.append({"question_id": f"q{q:04d}", "question": text, "answer": quote, "evidence": [span]})
        golden[-1] |= {"category": f"kind-{q % 8}", "answerable": True}
    sweep.write_inputs(texts, golden)
    ids = [f"{i:012x}" for i in range(points)]
    write_json(folder / "sweep.json", header(ids, questions))
    for number, name in enumerate(ids):
        write_point(sweep, number, name, texts, golden, rng)


def header(ids: list[str], questions: int) -> dict[str, Any]:
    corpus = {"name": "made", "sha256": "c", "golden_sha256": "g", "documents": DOCUMENTS, "questions": questions}
    made = {"schema_version": 1, "name": "scale", "created": "2026-01-01T00:00:00+00:00", "overrides": [], "seed": 0}
    made |= {"corpus": corpus, "tokenizer": "minilm", "cuts": {"ks": [5], "tokens": [512, BUDGET]}, "points": ids}
    return made | {"headline": f"span_recall@tokens={BUDGET}", "headline_tokens": BUDGET, "provenance": {}}


def write_point(sweep: Sweep, number: int, name: str, texts: Any, golden: Any, rng: np.random.Generator) -> None:
    size = 200 + 16 * (number // 5)
    chunks = {d.doc_id: [(s, min(s + size, len(d.text))) for s in range(0, len(d.text), size)] for d in texts}
    fingerprint = f"{size:016x}"
    made = [Chunk.of(d, a, b) for d in texts for a, b in chunks[d.doc_id]]
    write_chunking(sweep.folder, fingerprint, made)
    flat = [(doc_id, a, b) for doc_id, own in chunks.items() for a, b in own]
    rows = []
    for row in golden:
        evidence = row["evidence"][0]
        own = chunks[evidence["doc_id"]]
        near = evidence["start"] // size + rng.integers(-3, 4, 4)
        hits = [(evidence["doc_id"], *own[int(i) % len(own)]) for i in near]
        hits += [flat[int(i)] for i in rng.integers(0, len(flat), 11000 // size)]
        scores = np.sort(rng.random(len(hits)))[::-1]
        found = float(any(h[0] == evidence["doc_id"] and h[1] <= evidence["start"] < h[2] for h in hits))
        ranked = [[d, a, b, round(float(s), 6), a, b] for (d, a, b), s in zip(hits, scores, strict=True)]
        values = {f"{m}@tokens={BUDGET}": found for m in MEASURES} | {"span_recall@tokens=512": found}
        values |= {"span_recall@k=5": found, "span_precision@k=5": found / 3, "nDCG@k=10": found / 2}
        rows.append({"question_id": row["question_id"], "category": row["category"], "cluster": evidence["doc_id"]})
        rows[-1] |= {"answerable": True, "hits": ranked, "scores": values}
    means = {m: float(np.mean([row["scores"][m] for row in rows])) for m in rows[0]["scores"]}
    counts = {"n_scored": len(rows), "n_undefined": 0, "n_failed": 0, "n_declined": 0, "low": None, "high": None}
    axes = {"strategy": f"strategy-{number % 4}", "size": size, "overlap": 0, "embedder": f"embedder-{number % 5}"}
    record = PointRecord(
        name, f"windows {size} embedder-{number % 5}", "complete", axes, {}, {"usable_tokens": None},
        {"chunks": len(flat), "chunking_fingerprint": fingerprint}, {}, {"index_bytes": 1500 * len(flat)},
        {m: {"mean": mean, "sd": None, **counts} for m, mean in means.items()},
    )  # fmt: skip
    sweep.write_point(record, rows, "")


def open_seconds(page: Path) -> list[float]:
    """Seconds from the call to the drawn data, three times in one browser."""
    from selenium import webdriver

    from tests.browser.conftest import FLAGS

    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    with tempfile.TemporaryDirectory() as profile:
        for flag in [*FLAGS, f"--user-data-dir={profile}"]:
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        try:
            return [_opened(browser, page) for _ in range(3)]
        finally:
            browser.quit()


def _opened(browser: Any, page: Path) -> float:
    browser.get("about:blank")
    start = time.perf_counter()
    browser.get(page.as_uri())
    while browser.execute_script("return document.documentElement.dataset.ready") != "yes":
        time.sleep(0.02)
    return time.perf_counter() - start


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--questions", type=int, default=500)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "scale"
        start = time.perf_counter()
        write_sweep(folder, arguments.points, arguments.questions, np.random.default_rng(0))
        print(f"{arguments.points} points x {arguments.questions} questions in {time.perf_counter() - start:.0f} s")
        start = time.perf_counter()
        page = write_report(SweepData.read(folder))[-1]
        print(f"report made in {time.perf_counter() - start:.0f} s: {page.stat().st_size / 1e6:.1f} MB (limit 25)")
        print("opens in " + ", ".join(f"{seconds:.2f}" for seconds in open_seconds(page)) + " s (limit 3)")


if __name__ == "__main__":
    main()
