"""Cut three bundled documents by the strategies that ask a language model, with the installed local one.

Usage: ``python -m tests.benchmarks.llm_strategies FOLDER`` (``make models`` first): the documents and their questions
are copied to FOLDER, then swept there. About twenty minutes on two cores; seconds when it is run again.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from bench.__main__ import main as bench
from bench.paths import corpora_dir
from bench.store import Sweep

NAMES = ("policies/demurrage-2026.md", "policies/cancellation-2025.html", "operations/winter-plan.md")
FIXED = ["corpus=folder", "corpus.documents=documents", "corpus.golden=golden.jsonl", "generator=none"]
SIZES = ["embedder.precision=auto", "scoring.headline_tokens=512", "chunker.size=128"]
SWEEPS = {
    "model": ["chunker=blurb,lumber,propositions"],
    "placed": ["chunker=propositions", "chunker.unplaced=passage"],
    "without": ["chunker=recursive,markdown,contextual"],
}


def copy_corpus(target: Path) -> int:
    """Write the documents and the questions whose evidence lies in them alone; return how many questions those are."""
    source = corpora_dir() / "norrvane"
    for name in NAMES:
        (target / "documents" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / "documents" / name, target / "documents" / name)
    lines = (source / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if _inside(json.loads(line).get("evidence") or [])]
    (target / "golden.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    return len(kept)


def _inside(evidence: list[dict[str, object]]) -> bool:
    return bool(evidence) and all(item.get("doc_id") in NAMES for item in evidence)


def main(folder: Path) -> None:
    """Sweep and print a line a strategy."""
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    print(f"{copy_corpus(Path())} questions")
    for name, strategies in SWEEPS.items():
        bench(["sweep", *FIXED, *SIZES, *strategies, f"sweep.name={name}"])
    for name in SWEEPS:
        for record in Sweep.open(Path("results") / name).records():
            calls = {key: record.realised.get(f"cutting_{key}") for key in ("calls", "prompt_tokens", "lost")}
            print(record.label, record.mean("span_recall@tokens=512"), record.realised["chunks"], "chunks", calls)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
