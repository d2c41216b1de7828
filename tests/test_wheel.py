"""The built wheel carries configuration and corpora, and works in a folder that has never seen the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent


def run(*arguments: str, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    quiet = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    run("-m", "pip", "wheel", *quiet, "--wheel-dir", str(folder), str(CHECKOUT), cwd=folder)
    return next(folder.glob("chunksweep-*.whl"))


def test_the_wheel_holds_the_package_its_configuration_and_its_corpora(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for path in CHECKOUT.joinpath("conf").rglob("*.*"):
        assert f"bench/_conf/{path.relative_to(CHECKOUT / 'conf').as_posix()}" in names
    assert "bench/_corpora/norrvane/golden.jsonl" in names
    assert "bench/__main__.py" in names
    assert not [name for name in names if name.startswith(("tests/", "results/", "conf/"))]


def test_a_sweep_runs_from_the_installed_wheel_in_another_folder(wheel: Path, tmp_path: Path) -> None:
    site, work = tmp_path / "site", tmp_path / "work"
    work.mkdir()
    quiet = ["--quiet", "--disable-pip-version-check", "--no-deps"]
    run("-m", "pip", "install", *quiet, "--target", str(site), str(wheel), cwd=work)
    where = run("-c", "import bench; print(bench.__file__)", cwd=work, PYTHONPATH=str(site))
    assert Path(where.strip()).is_relative_to(site)
    overrides = ["corpus=yunosawa", "embedder=static", "generator=none", "chunker.size=64,128", "sweep.name=w"]
    shown = run("-m", "bench", "sweep", *overrides, cwd=work, PYTHONPATH=str(site))
    assert "recursive 64/0 static" in shown
    assert (work / "results" / "w" / "summary.csv").is_file()


def test_the_editable_install_reads_the_checkout(tmp_path: Path) -> None:
    code = "from bench.paths import conf_dir, corpora_dir; print(conf_dir(), corpora_dir())"
    conf, corpora = map(Path, run("-c", code, cwd=tmp_path).split())
    assert (conf, corpora) == (CHECKOUT / "conf", CHECKOUT / "corpora")
