"""CPU seconds of every strategy on texts from 0.1 to 10 MB, and the exponent of their growth (1: linear).

Run: ``python -m tests.benchmarks.chunker_speed [--largest MB] [--only NAME ...]``. Strategies that cut by meaning are
given vectors made from letters, so that embedding is left out. The last columns are one line of 5 MB and a table of
10,000 rows.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Sequence

import numpy as np

from bench.chunkers.base import Chunker, Tools
from bench.chunkers.cluster_semantic import ClusterSemantic
from bench.chunkers.code import Code
from bench.chunkers.contextual import Contextual
from bench.chunkers.elements import Elements
from bench.chunkers.fixed import Fixed
from bench.chunkers.html import Html
from bench.chunkers.langchain import LangChain
from bench.chunkers.markdown import Markdown
from bench.chunkers.multi_scale import MultiScale
from bench.chunkers.page import Page
from bench.chunkers.recursive import Recursive
from bench.chunkers.run import chunk_corpus
from bench.chunkers.semantic import Semantic
from bench.chunkers.sentence import Paragraph, Sentence
from bench.chunkers.small_to_big import AutoMerge, ParentChild, SentenceWindow
from bench.chunkers.syntax import Syntax
from bench.tokenize import get_tokenizer
from bench.types import Document, Floats

STRATEGIES: dict[str, Chunker] = {
    "characters": Fixed(size=1000, unit="characters"),
    "tokens": Fixed(),
    "sentence": Sentence(),
    "paragraph": Paragraph(),
    "recursive": Recursive(),
    "markdown": Markdown(),
    "html": Html(),
    "code": Code(language="python"),
    "langchain": LangChain(),
    "semantic": Semantic(),
    "cluster_semantic": ClusterSemantic(),
    "parent_child": ParentChild(),
    "sentence_window": SentenceWindow(),
    "auto_merge": AutoMerge(),
    "contextual": Contextual(),
    "elements": Elements(),
    "page": Page(),
    "syntax": Syntax(language="python"),
    "multi_scale": MultiScale(),
}
SIZES_MB = (0.1, 0.3, 1.0, 3.0, 10.0)
VOCABULARY = (
    "the ferry policy covers damage by water when a passenger reports it within thirty days of the crossing and keeps "
    "records of repair cost otherwise a claim may be reduced unless the officer on duty has agreed to it in writing"
)
PYTHON = "\n\ndef fare_{0}(way: int) -> int:\n    # nearest pier\n    if way > {0}:\n        return {0}\n    return 2\n"


def prose(size: int, seed: int = 7) -> str:
    """Sections with headings, paragraphs, lists and small tables, about ``size`` characters."""
    rng, words = np.random.default_rng(seed), VOCABULARY.split()
    parts: list[str] = []
    done = 0
    while done < size:
        picks = rng.integers(0, len(words), 120)
        sentences = [" ".join(words[i] for i in picks[at : at + 12]).capitalize() + "." for at in range(0, 108, 12)]
        table = "| pier | fare |\n|---|---|\n" + "".join(f"| {i} | {i}.00 |\n" for i in picks[:4])
        part = f"## Part {done}\n\n{' '.join(sentences)}\n\n- {sentences[0]}\n- {sentences[1]}\n\n{table}\n"
        parts.append(part)
        done += len(part)
    return "".join(parts)[:size]


def program(size: int) -> str:
    """Python functions, about ``size`` characters."""
    return "".join(PYTHON.format(number) for number in range(size // len(PYTHON) + 1))[:size]


def by_letters(texts: Sequence[str]) -> Floats:
    """Unit vectors of character counts."""
    if not texts:
        return np.zeros((0, 16), dtype=np.float32)
    codes = [np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32) % 16 for text in texts]
    rows = np.stack([np.bincount(code, minlength=16) for code in codes]).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def seconds(chunker: Chunker, text: str, kind: str) -> float:
    """CPU seconds of one document with nothing remembered."""
    get_tokenizer.cache_clear()
    gc.collect()
    tools = Tools(get_tokenizer, by_letters)
    document = Document("d", text, kind, {"title": "Ferries"})  # type: ignore[arg-type]
    start = time.process_time()
    chunk_corpus(chunker, [document], tools)
    return time.process_time() - start


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """Slope of log seconds against log size, from 0.3 MB up."""
    kept = [(size, spent) for size, spent in zip(sizes, times, strict=True) if size >= 0.3]
    return float(np.polyfit(*np.log(np.array(kept).T), 1)[0])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=float, default=10.0)
    parser.add_argument("--only", nargs="*", default=list(STRATEGIES))
    arguments = parser.parse_args()
    sizes = [size for size in SIZES_MB if size <= arguments.largest]
    line, table = (
        "No stop here, only words and commas " * 145_000,
        "| id | name |\n|---|---|\n" + "| 1 | Ada |\n" * 10_000,
    )
    print(
        f"{'strategy':>18}" + "".join(f"{size:>9} MB" for size in sizes) + "  exponent   MB/s  5 MB line  10,000 rows"
    )
    for name in arguments.only:
        chunker = STRATEGIES[name]
        coded = name in ("code", "syntax")
        kind = "html" if name == "html" else "md"
        texts = [(program if coded else prose)(int(size * 1e6)) for size in sizes]
        times = [seconds(chunker, text, kind) for text in texts]
        extra = [seconds(chunker, text, kind) for text in (line, table)]
        shown = "".join(f"{spent:>12.3f}" for spent in times)
        rate = sizes[-1] / times[-1]
        print(
            f"{name:>18}{shown}{exponent(sizes, times):>10.2f}{rate:>7.1f}{extra[0]:>11.1f}{extra[1]:>13.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
