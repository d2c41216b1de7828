"""A real Chromium, started by the tests: skipped, with the reason, where none is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

AXE = "axe-core@4.14.1"
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The browser, one for all tests, with a profile of its own."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("no Chromium here: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    started.set_script_timeout(60)
    try:
        yield started
    finally:
        started.quit()


@pytest.fixture(scope="session")
def axe() -> str:
    """Source of axe-core: from ``$BENCH_AXE``, else fetched once by npm into the cache folder of the checkout."""
    named = os.environ.get("BENCH_AXE")
    folder = Path(__file__).parent.parent.parent / ".cache" / "npm"
    script = Path(named) if named else folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        if shutil.which("npm") is None:
            pytest.skip("axe-core is not there, and no npm to fetch it")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text(json.dumps({"private": True}), encoding="utf-8")
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", AXE]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            pytest.skip(f"npm cannot fetch {AXE}: {done.stderr.strip()[-200:]}")
    return script.read_text(encoding="utf-8")
