"""``bench doctor``: what is installed, which models are found, and the exact command for what is missing."""

from __future__ import annotations

import argparse
import os
import platform
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path

from bench.embedders import packages
from bench.embedders.base import Embedder, EmbedderConfig
from bench.embedders.cpu import bf16_support
from bench.embedders.e5 import E5
from bench.embedders.static import Static
from bench.embedders.transformer import Transformer
from bench.errors import BenchError, ConfigError
from bench.paths import conf_dir, corpora_dir, models_dir, shared_dir
from bench.provenance import installed
from bench.tokenize import get_tokenizer

PYTHON = (3, 11)
DISTRIBUTION = "chunksweep"
BELOW = ("torch", "transformers")
MODELS: dict[str, tuple[str, EmbedderConfig]] = {
    "minilm": ("minilm", Transformer("minilm")),
    "static": ("wordllama", Static()),
    "e5": ("e5", E5()),
    "mpnet": ("mpnet", Transformer("mpnet")),
}
TOKENIZERS = ("minilm", "wordllama", "cl100k")
NEEDED = ("minilm",)
BROKEN = "name another file, or delete this one if it was the cache: it is filled again"
FILE = "vectors.sqlite"
SENTENCE = "The quick brown fox jumps over the lazy dog."


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. ``missing``: looked for in vain. ``needed``: the default sweep cannot run without it."""

    group: str
    name: str
    text: str
    missing: bool = False
    needed: bool = False


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("--load", action="store_true", help="load each model and embed one sentence (imports torch)")
    parser.add_argument("--unpack", action="store_true", help="first join and unpack the model mpnet from its packages")
    parser.add_argument("--cache", type=Path, default=Path(".cache") / FILE, help="file of the vector cache")


def run(arguments: argparse.Namespace) -> int:
    """Print the findings; return 0 if the default sweep could run, else 2.

    Raises:
        BenchError: unpacking was asked for and failed, or ``--cache`` is a folder.
    """
    if arguments.cache.is_dir():
        raise ConfigError(f"--cache: {arguments.cache} is a folder; give the file, as in {arguments.cache}/{FILE}")
    if arguments.unpack:
        print(f"unpacked {packages.unpack_mpnet()}")
    findings = list(examine(arguments.cache, arguments.load))
    width = max(len(finding.name) for finding in findings)
    group = ""
    for finding in findings:
        if finding.group != group:
            group = finding.group
            print(group)
        print(f"  {'--' if finding.missing else 'ok'}  {finding.name:{width}}  {finding.text}")
    blocking = [finding.name for finding in findings if finding.missing and finding.needed]
    verdict = f"cannot run, it lacks {', '.join(blocking)}" if blocking else "can run: experiment=quickstart"
    print(f"\nthe default sweep {verdict}")
    return 2 if blocking else 0


def examine(cache: Path, load: bool = False) -> Iterator[Finding]:
    """Yield what is found, group by group; without ``load`` torch is not imported."""
    yield from _programs()
    for name, (packaged, config) in MODELS.items():
        yield _tried("models", name, partial(_model, packaged, config, load))
    for name in TOKENIZERS:
        yield _tried("tokenizers", name, partial(_tokenizer, name))
    yield from _machine(load)
    yield from _files(cache)


def _programs() -> Iterator[Finding]:
    old = sys.version_info[:2] < PYTHON
    wanted = f" (at least {'.'.join(map(str, PYTHON))} is needed)" if old else ""
    yield Finding("packages", "python", platform.python_version() + wanted, old, True)
    for name in required():
        version = installed(name)
        yield Finding("packages", name, version or f"missing; run: pip install {name}", not version, True)


def required() -> list[str]:
    """Return the distributions that this one declares, and those below them that numbers depend on."""
    try:
        declared = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        declared = []
    names = {re.split(r"[^\w.-]", line, maxsplit=1)[0] for line in declared if "extra ==" not in line}
    return sorted(names.union(BELOW))


def _tried(group: str, name: str, look: Callable[[], str]) -> Finding:
    needed = name in NEEDED
    try:
        return Finding(group, name, look(), needed=needed)
    except BenchError as error:
        return Finding(group, name, str(error), missing=True, needed=needed)
    except ImportError as error:
        return Finding(group, name, f"needs a package: {error}", missing=True, needed=needed)


def _model(packaged: str, config: EmbedderConfig, load: bool) -> str:
    folder = packages.require(packaged)
    model = config.load()
    limit = f"{model.usable_tokens} tokens of text" if model.usable_tokens else "any length"
    text = f"{model.dim} dimensions, {limit}, {_megabytes(folder)}, {folder}"
    return f"{text}{_embedded(model)}" if load else text


def _tokenizer(name: str) -> str:
    tokenizer = get_tokenizer(name)
    return f"{tokenizer.count([SENTENCE])[0]} tokens in a sentence of {len(SENTENCE)} characters"


def _embedded(model: Embedder) -> str:
    start = time.perf_counter()
    model.prepare()
    ready = time.perf_counter()
    model.encode([SENTENCE], "passage")
    return f"; loaded in {ready - start:.1f} s, one sentence in {1000 * (time.perf_counter() - ready):.0f} ms"


def _machine(load: bool) -> Iterator[Finding]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = f"{cores} cores, OMP_NUM_THREADS {os.environ.get('OMP_NUM_THREADS') or 'not set'}"
    if load and installed("torch"):
        import torch

        threads += f", torch uses {torch.get_num_threads()}"
    yield Finding("machine", "threads", threads)
    flag = bf16_support()
    yield Finding("machine", "bfloat16", f"{flag}: embedder.precision=bf16 is faster here" if flag else "no: use fp32")


def _files(cache: Path) -> Iterator[Finding]:
    for name, folder in (("configuration", conf_dir()), ("corpora", corpora_dir())):
        yield Finding("files", name, str(folder), missing=not folder.is_dir(), needed=True)
    yield _cache(cache)
    yield Finding("files", "models folder", f"{models_dir()} (set BENCH_MODELS to change it)")
    shared = shared_dir()
    text = str(shared) if shared else "not found, some tests are skipped; set BENCH_SHARED or put it at ../shared"
    yield Finding("files", "shared data", text, missing=shared is None)


def _cache(path: Path) -> Finding:
    if not path.is_file() or not path.stat().st_size:
        return Finding("files", "vector cache", f"{path} (not there yet)")
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            count = connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
        finally:
            connection.close()
    except sqlite3.Error as error:
        return Finding("files", "vector cache", f"{path}: {error}; {BROKEN}", missing=True, needed=True)
    return Finding("files", "vector cache", f"{count} vectors, {path.stat().st_size / 1e6:.1f} MB, {path}")


def _megabytes(folder: Path) -> str:
    return f"{sum(path.stat().st_size for path in folder.rglob('*') if path.is_file()) / 1e6:.0f} MB"
