"""Grammars of tree-sitter (https://tree-sitter.github.io), found by the name of their language."""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

from bench.errors import ModelError

if TYPE_CHECKING:
    from tree_sitter import Parser

ALIASES = {
    "py": "python", "js": "javascript", "jsx": "javascript", "ts": "typescript", "c++": "cpp", "c#": "c_sharp",
    "csharp": "c_sharp", "golang": "go", "sh": "bash", "kt": "kotlin", "rb": "ruby", "rs": "rust",
}  # fmt: skip
KNOWN = frozenset(
    ("python", "javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp", "c_sharp", "ruby", "php", "bash",
     "kotlin", "scala", "swift", "haskell", "lua")
)  # fmt: skip
"""Languages whose files are programs: their grammar is asked for where it is missing."""
PACKAGES = {"tsx": "tree_sitter_typescript"}


@lru_cache(maxsize=64)
def parser_of(language: str) -> Parser | None:
    """Return the parser of a language; None where it has no grammar and is no program (JSON, an unknown name).

    Raises:
        ModelError: its grammar is not installed.
    """
    name = ALIASES.get(language.lower(), language.lower())
    package = PACKAGES.get(name, f"tree_sitter_{name}")
    if not name.isidentifier() or importlib.util.find_spec(package) is None:
        if name not in KNOWN:
            return None
        install = f"pip install tree-sitter {package.replace('_', '-')}"
        raise ModelError(f"chunker syntax: the grammar of {language!r} is not installed; run: {install}")
    from tree_sitter import Language, Parser

    module = importlib.import_module(package)
    make = getattr(module, "language", None) or getattr(module, f"language_{name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # grammars that still hand over a pointer as an int
        return Parser(Language(make()))
