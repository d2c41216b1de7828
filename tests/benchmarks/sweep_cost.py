"""Print where a sweep's time goes, on the bundled corpus and on 1.4 million characters: ``make benchmarks``.

Each sweep runs in a process and a folder of its own; CPU and peak memory are the kernel's figures of that process.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.corpus.importers import run_import
from bench.paths import shared_dir
from bench.store import Sweep

CHECKOUT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Run:
    """Seconds, CPU seconds and peak memory (MiB) of one command."""

    wall_s: float
    cpu_s: float
    peak_mib: float


def sweep(folder: Path, *overrides: str) -> Run:
    """Run ``bench sweep`` in ``folder``."""
    command = [sys.executable, "-m", "bench", "sweep", *overrides]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT), "HF_HUB_OFFLINE": "1"}
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed with status {status}")
    return Run(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def forward_cpu_s(folder: Path, name: str) -> float:
    """CPU seconds inside the model, summed over the points of a sweep."""
    return sum(float(r.cost.get("embedded_now_cpu_s", 0.0)) for r in Sweep(folder / "results" / name).records())


def bundled(folder: Path) -> None:
    """The first experiment, cold and again."""
    cold = sweep(folder, "experiment=quickstart")
    forward = forward_cpu_s(folder, "quickstart")
    again = sweep(folder, "experiment=quickstart")
    print(
        f"quickstart, cold cache: {cold.wall_s:.0f} s, {cold.cpu_s:.0f} s CPU, of which forward passes {forward:.0f} s"
    )
    print(
        f"  forward passes are {100 * forward / cold.cpu_s:.0f} % of the CPU time; peak memory {cold.peak_mib:.0f} MiB"
    )
    steps = [r.timings_s for r in Sweep(folder / "results" / "quickstart").records() if r.duplicate_of is None]
    embed, answer = (sum(step.get(name, 0.0) for step in steps) for name in ("embed", "answer"))
    print(f"  embedding took {embed:.0f} s, answering and judging {answer:.0f} s")
    print(f"quickstart, again: {again.wall_s:.1f} s, {again.cpu_s:.1f} s CPU")


def large(folder: Path) -> None:
    """Five corpora of Chroma's evaluation under the static model: what a point costs beside embedding."""
    shared = shared_dir()
    if shared is None:
        print("1.4 million characters: skipped, the shared data sets are absent")
        return
    run_import("shared", shared / "data" / "chroma", folder / "chroma")
    corpus = [
        "corpus=folder",
        "generator=none",
        "corpus.documents=chroma/documents",
        "corpus.golden=chroma/golden.jsonl",
    ]
    swept = [
        "embedder=static",
        "chunker=recursive,tokens,sentence,markdown",
        "chunker.size=128,256,512",
        "sweep.name=large",
    ]
    run = sweep(folder, *corpus, *swept)
    print(
        f"1.4 million characters, 472 questions, static model: {run.wall_s:.0f} s, peak memory {run.peak_mib:.0f} MiB"
    )
    for record in Sweep(folder / "results" / "large").records():
        if record.duplicate_of:
            continue
        steps = record.timings_s
        own = steps["chunk"] + steps["score"]
        print(f"  {record.label:<28} chunk {steps['chunk']:.2f} s + score {steps['score']:.2f} s = {own:.2f} s")


def main() -> None:
    """Print all figures."""
    with tempfile.TemporaryDirectory() as scratch:
        bundled(Path(scratch))
        large(Path(scratch))
    print(f"(processor time of this script itself: {resource.getrusage(resource.RUSAGE_SELF).ru_utime:.1f} s)")


if __name__ == "__main__":
    main()
