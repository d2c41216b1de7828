"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("MPLBACKEND", "agg")

from bench.paths import shared_dir


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of the shared data sets; the test is skipped where they are absent."""
    folder = shared_dir()
    if folder is None:
        pytest.skip("shared data sets are absent (set BENCH_SHARED)")
    return folder
