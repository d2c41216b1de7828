"""Files of a decision: the configuration runs as it is, and the program makes exactly the same chunks."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench import cut
from bench.__main__ import main
from bench.decision.build import decide
from bench.decision.options import Options
from bench.decision.production import production_program, production_yaml, write_production
from bench.decision.relevance import recall_by_threshold
from bench.decision.table import Table
from bench.errors import ConfigError
from bench.production import Production
from bench.store import Sweep
from bench.types import Document
from tests.small import write_corpus

TRICKY = (
    "Fee is 5. Term is 9. Fee is 5. End.\n\nÀ côté: naïve café… “Quoted.” (See §3!)\tTabbed\f\n"
    "价格是五元。期限是九天。价格是五元！真的吗？\r\nUnicode—dashes; and, commas: yes.\n\n...\n\n---\n\nFee is 5.\n" * 3
)
STRATEGIES: dict[str, dict[str, Any]] = {
    "recursive": {"_target_": "bench.chunkers.recursive.Recursive", "size": 24, "separators": None, "keep": "end"},
    "recursive overlap": {"_target_": "bench.chunkers.recursive.Recursive", "size": 24, "overlap": 0.5},
    "langchain defaults": {
        "_target_": "bench.chunkers.recursive.Recursive",
        "size": 120,
        "overlap": 30,
        "unit": "characters",
        "separators": ["\n\n", "\n", " ", ""],
        "keep": "start",
    },
    "chroma": {
        "_target_": "bench.chunkers.recursive.Recursive",
        "size": 30,
        "tokenizer": "cl100k",
        "separators": ["\n\n", "\n", ".", "?", "!", " ", ""],
        "keep": "start",
    },
    "dropped separators": {
        "_target_": "bench.chunkers.recursive.Recursive",
        "size": 40,
        "separators": ["\n\n", "\n", " ", ""],
        "keep": "none",
    },
    "tokens": {"_target_": "bench.chunkers.fixed.Fixed", "size": 16, "overlap": 4},
    "characters": {"_target_": "bench.chunkers.fixed.Fixed", "size": 50, "unit": "characters", "strip": True},
}
PACKAGED: dict[str, dict[str, Any]] = {
    "markdown": {"_target_": "bench.chunkers.markdown.Markdown", "size": 24},
    "own regex": {"_target_": "bench.chunkers.recursive.Recursive", "separators": [r"(?<=\w)\s", ""], "regex": True},
}


def whole(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with every default, as a record holds them."""
    from bench.config import as_plain

    return as_plain(Production.of(settings).chunker)


def documents(text: str = TRICKY) -> list[Document]:
    from tests.small import DOCUMENTS

    return [Document("tricky.txt", text), *(Document(name, body) for name, body in DOCUMENTS.items())]


def run_program(program: str, folder: Path, given: Sequence[Document]) -> list[tuple[str, int, int, str]]:
    """Chunks that the program writes, in a process of its own."""
    folder.mkdir()
    (folder / "production_chunker.py").write_text(program, encoding="utf-8")
    for document in given:
        (folder / document.doc_id).write_bytes(document.text.encode())
    command = [sys.executable, "production_chunker.py", *(document.doc_id for document in given)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, encoding="utf-8")
    rows = map(json.loads, done.stdout.splitlines())
    return [(row["file"], row["start"], row["end"], row["text"]) for row in rows]


def expected(settings: dict[str, Any], given: Sequence[Document]) -> list[tuple[str, int, int, str]]:
    ours = Production.of(settings)
    return [(d.doc_id, row["start"], row["end"], row["text"]) for d in given for row in ours.rows(d)]


@pytest.mark.parametrize("name", STRATEGIES)
def test_program_without_this_package_makes_the_same_chunks(name: str, tmp_path: Path) -> None:
    settings, given = whole(STRATEGIES[name]), documents()
    program = production_program({"chunker": settings}, given)
    assert "bench" not in program
    chunks = run_program(program, tmp_path / "run", given)
    assert chunks == expected(settings, given)
    assert len(chunks) > 15


@pytest.mark.parametrize("name", PACKAGED)
def test_other_strategies_use_this_package(name: str, tmp_path: Path) -> None:
    settings, given = whole(PACKAGED[name]), documents()
    program = production_program({"chunker": settings}, given)
    assert "from bench.production import Production" in program
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(compile(program, "program", "exec"), namespace)
    assert namespace["SETTINGS"]["chunker"] == settings


def test_packaged_program_runs(tmp_path: Path) -> None:
    settings, given = whole(PACKAGED["markdown"]), documents()
    program = production_program({"chunker": settings}, given)
    program = f"import sys\nsys.path.insert(0, {str(Path(__file__).parent.parent)!r})\n" + program.replace(
        "from __future__ import annotations\n", ""
    )
    assert run_program(program, tmp_path / "run", given) == expected(settings, given)


def test_graphemes_that_langchain_would_cut_keep_this_package() -> None:
    family = "\U0001f468‍\U0001f469‍\U0001f467" * 40
    settings = whole({"_target_": "bench.chunkers.recursive.Recursive", "size": 12, "unit": "characters"})
    assert "from bench.production" in production_program({"chunker": settings}, documents(family))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder in which one sweep was run."""
    folder = tmp_path_factory.mktemp("work")
    texts, golden = write_corpus(folder / "mine")
    corpus = [
        "corpus=folder",
        f"corpus.documents={texts}",
        f"corpus.golden={golden}",
        "embedder=static",
        "generator=none",
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["sweep", *corpus, "sweep.name=t", "chunker=markdown,recursive_chroma", "chunker.size=16"]) == 0
    return folder


@pytest.fixture
def swept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return Path("results/t")


def test_the_configuration_sweeps_to_the_same_point(swept: Path) -> None:
    for record in Sweep(swept).records():
        Path("production.yaml").write_text(production_yaml(record, "t"), encoding="utf-8")
        assert main(["sweep", "--config", "production.yaml"]) == 0
        again = Sweep(Path("results/t-production")).records()
        assert [one.point_id for one in again] == [record.point_id]
        assert again[0].estimates == record.estimates


def test_the_configuration_cuts_the_same_chunks(swept: Path) -> None:
    record = next(r for r in Sweep(swept).records() if r.axes["strategy"] == "markdown")
    Path("production.yaml").write_text(production_yaml(record, "t"), encoding="utf-8")
    parser = argparse.ArgumentParser()
    cut.configure(parser)
    assert cut.run(parser.parse_args(["mine/documents", "--config", "production.yaml", "-o", "chunks.jsonl"])) == 0
    rows = [json.loads(line) for line in Path("chunks.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = {document.doc_id: document.text for document in Sweep(swept).documents()}
    assert len(rows) == record.realised["chunks"]
    assert all(texts[row["doc_id"]][row["start"] : row["end"]] == row["text"] for row in rows)
    assert len({row["chunk_id"] for row in rows}) == len(rows)


def test_recall_by_threshold_is_the_recorded_one_where_any_character_counts(swept: Path) -> None:
    table = Table.read(swept)
    points = range(len(table.points))
    found = recall_by_threshold(table, points, 5)
    for point, mean in zip(table.points, found["R@k=5 at relevance 0"], strict=True):
        assert mean == pytest.approx(point.mean("R@k=5"))
    means = [found[f"R@k=5 at relevance {share}"] for share in ("0", "0.5", "1")]
    assert all(loose >= strict for loose, strict in zip(means[0], means[2], strict=True))
    assert means[0] != means[2]


def test_a_decision_writes_both_files(swept: Path) -> None:
    table = Table.read(swept)
    decision = decide(table, Options())
    decision["chosen"] = {"point_id": table.points[0].point_id, "label": table.points[0].label}
    files = write_production(table, decision, swept)
    assert [file.name for file in files] == ["production.yaml", "production_chunker.py"]
    assert yaml.safe_load(files[0].read_text(encoding="utf-8"))["chunker"]["size"] == 16
    decision["chosen"] = None
    assert write_production(table, decision, swept) == []
    assert not files[0].exists()
    assert not files[1].exists()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a: [", "is not YAML"),
        ("seed: 1", "has no chunker"),
        ("chunker: {_target_: bench.chunkers.fixed.Fixed, siz: 3}", "did you mean 'size'"),
        ("chunker: {_target_: bench.chunkers.fixed.Fixed, tokenizer: '${nothing}'}", "nothing"),
    ],
)
def test_a_wrong_configuration_is_named(tmp_path: Path, text: str, names: str) -> None:
    path = tmp_path / "production.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=names):
        Production.read(path)
    with pytest.raises(ConfigError, match="is not a file"):
        Production.read(tmp_path / "none.yaml")
