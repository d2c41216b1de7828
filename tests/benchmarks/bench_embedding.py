"""Tokens a second of this package against plain ``SentenceTransformer.encode``, interleaved in one process.

Run: ``python -m tests.benchmarks.bench_embedding [--tokens N] [--rounds N]``. Prints the best of the rounds, wall clock
and CPU, and the smallest cosine to plain encode. Texts are of 128 tokens, of 256 (254 of text), and of mixed lengths as
splitters make them. On a busy machine set OMP_NUM_THREADS=1: threads that wait for each other count as CPU.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.embedders import packages
from bench.embedders.cpu import bf16_support
from bench.embedders.transformer import LoadedTransformer, Transformer
from bench.types import Floats

PROSE = (
    "the policy covers damage caused by water when the owner reports it within thirty days of the event and keeps "
    "records of repair cost otherwise a claim may be reduced unless an officer of the company has agreed in writing"
)


@dataclass(frozen=True)
class Run:
    """One timed pass: seconds of wall clock, seconds of CPU, vectors."""

    wall_s: float
    cpu_s: float
    vectors: Floats


def texts_of(lengths: list[int], seed: int = 0) -> list[str]:
    """Texts of exactly so many tokens: every word above is one token of the model."""
    random, words = np.random.default_rng(seed), PROSE.split()
    return [" ".join(random.choice(words, size=length)) for length in lengths]


def timed(encode: Callable[[list[str]], Floats], texts: list[str]) -> Run:
    """Run once."""
    wall, cpu = time.perf_counter(), time.process_time()
    vectors = encode(texts)
    return Run(time.perf_counter() - wall, time.process_time() - cpu, vectors)


def loaded(precision: str) -> LoadedTransformer:
    """MiniLM, weights read."""
    model = Transformer(precision=precision).load()
    model.prepare()
    return model


def compare(name: str, lengths: list[int], ways: dict[str, Callable[[list[str]], Floats]], rounds: int) -> None:
    """Print one table."""
    texts = texts_of(lengths)
    tokens = sum(lengths)
    runs: dict[str, list[Run]] = {way: [] for way in ways}
    for encode in ways.values():
        encode(texts[:8])
    for _ in range(rounds):
        for way, encode in ways.items():
            runs[way].append(timed(encode, texts))
    plain = runs["plain encode"]
    base_cpu = min(run.cpu_s for run in plain)
    print(f"\n{name}: {len(texts)} texts, {tokens} tokens, {rounds} rounds")
    print(f"  {'way':14} {'tokens/s':>9} {'tokens/CPU s':>13} {'speed':>7} {'min cosine':>11}")
    for way, results in runs.items():
        wall, cpu = min(run.wall_s for run in results), min(run.cpu_s for run in results)
        cosine = float((results[0].vectors * plain[0].vectors).sum(axis=1).min())
        print(f"  {way:14} {tokens / wall:9.0f} {tokens / cpu:13.0f} {base_cpu / cpu:6.2f}x {cosine:11.6f}")


def main() -> None:
    """Print three tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=16_000, help="tokens of one pass")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    from sentence_transformers import SentenceTransformer

    reference = SentenceTransformer(str(packages.require("minilm")), device="cpu")
    full, half = loaded("fp32"), loaded("bf16")
    ways: dict[str, Callable[[list[str]], Floats]] = {
        "plain encode": lambda texts: np.asarray(reference.encode(texts, show_progress_bar=False), dtype=np.float32),
        "ours fp32": lambda texts: full.encode(texts, "passage"),
        "ours bf16": lambda texts: half.encode(texts, "passage"),
    }
    print(f"bfloat16 in hardware: {bf16_support() or 'no'}; speed is CPU seconds of plain encode over ours")
    for length in (128, 254):
        compare(f"{length} tokens", [length] * (options.tokens // length), ways, options.rounds)
    spread = np.random.default_rng(1).integers(10, 254, size=options.tokens // 132).tolist()
    compare("10 to 254 tokens", [int(length) for length in spread], ways, options.rounds)


if __name__ == "__main__":
    main()
