"""Print PrecisionΩ of our cluster chunks beside the published one (Smith & Troynikov, 2024; all-MiniLM-L6-v2).

Run: ``python -m tests.benchmarks.cluster_chroma`` (some minutes the first time, seconds after: vectors are cached).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.chunkers.base import Tools
from bench.chunkers.cluster_semantic import ClusterSemantic
from bench.chunkers.run import chunk_corpus
from bench.corpus.golden import load_golden
from bench.corpus.importers import run_import
from bench.corpus.load import load_documents
from bench.embedders.cache import CachedEmbedder, VectorCache
from bench.embedders.transformer import Transformer
from bench.layout import Layout
from bench.measures.estimate import estimates
from bench.measures.retrieval import score_retrieval
from bench.paths import shared_dir
from bench.tokenize import get_tokenizer
from bench.types import Cuts

PUBLISHED = {200: 33.6, 250: 28.6}
SEPARATORS = ["\n\n", "\n", ".", "?", "!", " ", ""]


def main() -> None:
    """Print both sizes."""
    shared = shared_dir()
    if shared is None:
        sys.exit("cluster_chroma: the shared data sets are absent; set BENCH_SHARED")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "chroma"
        run_import("shared", shared / "data" / "chroma", folder)
        documents = load_documents(folder / "documents")
        questions = load_golden(folder / "golden.jsonl", documents)
    layout = Layout.of(documents, get_tokenizer("cl100k"))
    texts = {document.doc_id: document.text for document in documents}
    embedder = CachedEmbedder(Transformer(precision="auto").load(), VectorCache())
    tools = Tools(get_tokenizer, lambda passages: embedder.encode(passages, "passage"))
    for size, published in PUBLISHED.items():
        chunker = ClusterSemantic(size, tokenizer="cl100k", limit="atoms", separators=SEPARATORS, keep="start")
        chunks = chunk_corpus(chunker, documents, tools).chunks
        scores = score_retrieval(questions, chunks, [], layout, texts, Cuts((5,), (2000,)), rules="chroma")
        ours = 100 * (estimates(scores)["precision_omega"].mean or 0.0)
        print(f"cluster {size}: published {published:.1f}, ours {ours:.2f} ({len(chunks)} chunks)", flush=True)


if __name__ == "__main__":
    main()
