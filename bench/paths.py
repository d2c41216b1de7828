"""Where the configuration and the bundled corpora stand: beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def _data(name: str) -> Path:
    carried = PACKAGE / f"_{name}"
    return carried if carried.is_dir() else PACKAGE.parent / name


def conf_dir() -> Path:
    """Folder of the Hydra configuration (absolute)."""
    return _data("conf")


def corpora_dir() -> Path:
    """Folder of the bundled corpora (absolute)."""
    return _data("corpora")


def models_dir() -> Path:
    """Folder for models that are joined from parts: ``$BENCH_MODELS``, else the user's cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("BENCH_MODELS") or Path(cache) / "chunksweep" / "models")


def shared_dir() -> Path | None:
    """Folder of the shared data sets: ``$BENCH_SHARED``, else ``../shared`` beside the checkout; None if absent."""
    named = os.environ.get("BENCH_SHARED")
    folder = Path(named) if named else PACKAGE.parent.parent / "shared"
    return folder if (folder / "data").is_dir() else None
