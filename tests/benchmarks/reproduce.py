"""Print our numbers beside the published table of Chroma's chunking evaluation (Smith & Troynikov, 2024).

Run it with ``make reproduce``: about ten minutes on two cores the first time, seconds after (vectors are cached).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.__main__ import main as bench
from bench.chunkers.base import Tools
from bench.chunkers.run import chunk_corpus
from bench.config import build
from bench.corpus.golden import load_golden
from bench.corpus.importers import run_import
from bench.corpus.load import load_documents
from bench.layout import Layout
from bench.measures.estimate import estimates
from bench.measures.retrieval import score_retrieval
from bench.paths import conf_dir, shared_dir
from bench.report.data import SweepData
from bench.tokenize import get_tokenizer
from bench.types import Cuts

OMEGA = {
    ("recursive_chroma", 800, 400): 6.7,
    ("recursive_chroma", 400, 200): 13.9,
    ("recursive_chroma", 400, 0): 17.7,
    ("recursive_chroma", 200, 0): 29.9,
    ("tokens_chroma", 800, 400): 4.7,
    ("tokens_chroma", 400, 200): 8.4,
    ("tokens_chroma", 400, 0): 12.5,
    ("tokens_chroma", 200, 0): 21.0,
}
"""Published PrecisionΩ (%), which needs no embedder."""

MINILM = {
    ("recursive_chroma", 250, 125): (78.7, 4.9, 4.9),
    ("tokens_chroma", 250, 125): (82.4, 3.6, 3.5),
    ("recursive_chroma", 250, 0): (78.5, 5.4, 5.4),
    ("tokens_chroma", 250, 0): (77.1, 3.3, 3.3),
    ("recursive_chroma", 200, 0): (75.7, 6.5, 6.5),
    ("tokens_chroma", 200, 0): (76.6, 4.1, 4.1),
}
"""Published recall, precision and IoU (%) of all-MiniLM-L6-v2 at the first five chunks."""


def omegas(folder: Path) -> dict[tuple[str, int, int], float]:
    """PrecisionΩ (%) of every setting of ``OMEGA``, by Chroma's rules."""
    from omegaconf import OmegaConf

    documents = load_documents(folder / "documents")
    questions = load_golden(folder / "golden.jsonl", documents)
    layout = Layout.of(documents, get_tokenizer("cl100k"))
    texts = {document.doc_id: document.text for document in documents}
    found = {}
    for name, size, overlap in OMEGA:
        node = OmegaConf.merge(
            OmegaConf.load(conf_dir() / "chunker" / f"{name}.yaml"), {"size": size, "overlap": overlap}
        )
        chunks = chunk_corpus(build(node, "chunker"), documents, Tools(get_tokenizer)).chunks
        scores = score_retrieval(questions, chunks, [], layout, texts, Cuts((5,), (2000,)), rules="chroma")
        mean = estimates(scores)["precision_omega"].mean
        found[name, size, overlap] = 100 * (mean or 0.0)
    return found


def minilm_rows(folder: Path) -> dict[tuple[str, int, int], tuple[float, float, float]]:
    """Recall, precision and IoU (%) at five chunks of every setting of ``MINILM``, from real sweeps."""
    found = {}
    for name, sizes in (
        ("reproduce-250", "chunker.size=250 chunker.overlap=0,125"),
        ("reproduce-200", "chunker.size=200"),
    ):
        corpus = [
            f"corpus.documents={folder}/documents",
            f"corpus.golden={folder}/golden.jsonl",
            "corpus=folder",
            "generator=none",
        ]
        chroma = ["scoring.rules=chroma", "tokenizer=cl100k", "chunker=recursive_chroma,tokens_chroma"]
        code = bench(["sweep", *corpus, *chroma, *sizes.split(), f"sweep.name={name}"])
        if code:
            sys.exit(code)
        for point in SweepData.read(Path("results") / name).points:
            shares = [point.mean(f"{m}@k=5") or 0.0 for m in ("span_recall", "span_precision", "span_iou")]
            key = (point.axes["strategy"], point.axes["size"], int(point.axes["overlap"]))
            found[key] = (100 * shares[0], 100 * shares[1], 100 * shares[2])
    return found


def main() -> None:
    """Print both tables."""
    shared = shared_dir()
    if shared is None:
        sys.exit("reproduce: the shared data sets are absent; set BENCH_SHARED to the folder that holds data/chroma")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "chroma"
        run_import("shared", shared / "data" / "chroma", folder)
        ours, rows = omegas(folder), minilm_rows(folder)
    print("\nPrecisionΩ (%)             published    ours")
    for key, published in OMEGA.items():
        print(f"{key[0]:>16} {key[1]}/{key[2]:<4} {published:10.1f} {ours[key]:9.2f}")
    print("\nall-MiniLM-L6-v2, k = 5     recall: published  ours   precision: published  ours   IoU: published  ours")
    for key, (recall, precision, iou) in MINILM.items():
        r, p, i = rows[key]
        print(
            f"{key[0]:>16} {key[1]}/{key[2]:<4} {recall:22.1f} {r:6.1f} {precision:21.1f} {p:6.1f} {iou:15.1f} {i:6.1f}"
        )


if __name__ == "__main__":
    main()
