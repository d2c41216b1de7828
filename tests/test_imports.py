"""The arrows of the architecture: siblings do not import each other, heavy packages are imported late."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bench

PACKAGE = Path(bench.__file__).parent
BASE = {"bench", "bench.errors", "bench.types", "bench.spans", "bench.paths", "bench.tokenize", "bench.layout"}
BASE |= {"bench.context", "bench.sentences", "bench.provenance", "bench.replies", "bench.prompts", "bench.devices"}
SIBLINGS = (
    "corpus",
    "chunkers",
    "embedders",
    "index",
    "retrieve",
    "llm",
    "generators",
    "judges",
    "measures",
    "stats",
    "retrievers",
    "indexes",
)
HEAVY = ("torch", "sentence_transformers", "transformers", "faiss", "matplotlib", "langchain_text_splitters", "scipy")


def part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Modules that a file imports anywhere, type-checking blocks left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


FILES = sorted(path for path in PACKAGE.rglob("*.py") if part(path) in SIBLINGS)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_sibling_imports_only_the_base_and_itself(path: Path) -> None:
    own = f"bench.{part(path)}"
    ours = {name for name in imported(path) if name.split(".")[0] == "bench"}
    strangers = {name for name in ours if name not in BASE and name != own and not name.startswith(f"{own}.")}
    assert strangers <= ALLOWED.get(part(path), set()), f"{path.name} imports {sorted(strangers)}"


# What a family must know of its base, and of how files of models are hashed.
ALLOWED: dict[str, set[str]] = {
    "retrievers": {"bench.retrieve", "bench.embedders.fingerprint"},
    "indexes": {"bench.index"},
}


@pytest.mark.parametrize("module", ["bench.__main__", "bench.report.cli", "bench.config", "bench.pipeline"])
def test_heavy_packages_are_imported_late(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    assert done.stdout.strip() == "[]"
