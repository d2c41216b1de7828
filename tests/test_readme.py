"""Every command and program of README runs, in its order, in one folder, as a reader would run them.

What would take minutes runs at a smaller size, by ``CHEAPER``; targets of make are checked to exist.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.paths import corpora_dir, shared_dir

CHECKOUT = Path(__file__).parent.parent
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines() if line.strip()]
MAY_FAIL = {"bench gate": {0, 1}, "bench decide": {0, 1}}
"""Commands whose exit code is a verdict on the data, not on the command."""

CHEAPER = {
    "../shared/data/chroma": "$BENCH_SHARED/data/chroma",
    "chunker.size=100,200,400 chunker.overlap=0,0.5 embedder.precision=auto": "chunker.size=200,400 embedder=static",
    "embedder=minilm,static": "embedder=static",
    "chunker.size=128,256,512": "chunker.size=128,256",
    "experiment=strategies": "experiment=strategies --dry-run",
    "experiment=retrieval": "experiment=retrieval --dry-run",
    "experiment=local_llm": "experiment=local_llm --dry-run",
    "experiment=quickstart": "experiment=quickstart --dry-run",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader's folder: documents, a golden set, and the programs that README shows."""
    place = tmp_path_factory.mktemp("reader")
    shutil.copytree(corpora_dir() / "norrvane" / "documents", place / "docs")
    shutil.copy(corpora_dir() / "norrvane" / "golden.jsonl", place / "golden.jsonl")
    for kind, text in BLOCKS:
        if kind == "python" and (named := re.match(r"# (\S+\.py)\n", text)):
            (place / named[1]).write_text(text, encoding="utf-8")
    return place


def ran(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    for dear, cheap in CHEAPER.items():
        command = command.replace(dear, cheap)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"BENCH_SHARED": str(shared_dir() or "")}
    environment["PYTHONPATH"] = f"{CHECKOUT}{os.pathsep}{folder}"
    words = ["bash", "-c", command]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("make ")])
def test_every_target_exists(command: str) -> None:
    done = subprocess.run([*command.split(), "--dry-run"], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_command_runs(folder: Path) -> None:
    for command in COMMANDS:
        if command.startswith("make ") or ("chroma" in command and shared_dir() is None):
            continue
        done = ran(command, folder)
        allowed = next((codes for start, codes in MAY_FAIL.items() if command.startswith(start)), {0})
        assert done.returncode in allowed, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


def test_every_json_line_is_a_golden_question() -> None:
    from bench.corpus.row import parse_row

    rows = [line for kind, text in BLOCKS if kind == "json" for line in text.splitlines() if line.strip()]
    assert rows
    import json

    texts = {"policies/demurrage-2026.md": "the first 24 hours after placement are free", "prices/tariff.md": "a"}
    for row in rows:
        question, problems = parse_row(json.loads(row), texts)
        assert problems == []
        assert question is not None


def test_pictures_and_files_that_are_named_exist() -> None:
    for target in re.findall(r"\]\(((?!https?:)[^)#]+)\)", README):
        assert (CHECKOUT / target).exists(), target
