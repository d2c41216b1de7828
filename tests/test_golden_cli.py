"""``bench golden`` as a user calls it, and the corpus group of the configuration."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from omegaconf import OmegaConf

from bench.__main__ import main
from bench.config import build
from bench.corpus.config import CorpusConfig
from bench.corpus.golden import load_golden
from bench.corpus.load import load_documents
from bench.errors import BenchError, ConfigError, CorpusError, GoldenError
from bench.paths import conf_dir, corpora_dir
from bench.types import Span

GUIDE = "New first line.\nFee is 5. Term is 9. Fee is 5.\nThe “refund” window\r\n\tis 30 days.\n"
PLAN = "Plan A costs 10 euro. Plan B costs 20 euro."


def write(folder: Path, *rows: dict[str, Any] | str) -> tuple[Path, Path]:
    """Two documents and a golden set; returns the golden file and the folder of documents."""
    documents = folder / "docs"
    documents.mkdir()
    (documents / "guide.md").write_bytes(GUIDE.encode())
    (documents / "plan.txt").write_bytes(PLAN.encode())
    golden = folder / "golden.jsonl"
    golden.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    return golden, documents


def row(question_id: str, *evidence: Any, **fields: Any) -> dict[str, Any]:
    return {"question_id": question_id, "question": f"{question_id}?", "evidence": list(evidence), **fields}


def at(doc_id: str, start: int, end: int, quote: str | None = None) -> dict[str, Any]:
    return {"doc_id": doc_id, "start": start, "end": end} | ({"quote": quote} if quote is not None else {})


def verify(golden: Path, documents: Path, *more: str) -> int:
    return main(["golden", "verify", str(golden), "--documents", str(documents), *more])


def test_verify_sums_up_a_good_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden, documents = write(
        tmp_path,
        row("a", at("guide.md", 16, 25), category="fact"),
        row("b", at("plan.txt", 0, 20), at("plan.txt", 10, 20), category="fact"),
        row("c", {"doc_id": "guide.md", "quote": "Fee is 5.", "alternatives": "all"}),
        {"question_id": "d", "question": "d?", "answerable": False, "document": "plan.txt"},
        {"question_id": "e", "question": "e?", "answerable": False},
    )
    assert verify(golden, documents) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"documents: 2 ({len(GUIDE) + len(PLAN)} characters), 0 without a question",
        "questions: 5 (3 answerable, 2 unanswerable)",
        "categories: uncategorised 3, fact 2",
        "questions per document: guide.md 2, plan.txt 2, (none named) 1",
        "evidence: 4 items, median 9.5 characters",
        "repeated quotes with places that are not listed as alternatives: 1 (a)",
        "questions whose evidence items overlap: 1 (b)",
        "problems: 0",
    ]


def test_verify_tells_every_problem_and_exits_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(f"q{n}", at("plan.txt", 0, 0)) for n in range(30)]
    golden, documents = write(tmp_path, row("fine", at("plan.txt", 0, 20)), *rows)
    assert verify(golden, documents) == 2
    out = capsys.readouterr().out.splitlines()
    assert "questions: 1 (1 answerable, 0 unanswerable)" in out
    assert out[-31] == "problems: 30"
    assert [line.split(": ")[0] for line in out[-30:]] == [f"{golden}:{n}" for n in range(2, 32)]


@pytest.mark.parametrize(
    ("golden", "documents", "message"),
    [("none.jsonl", "docs", "none.jsonl: cannot be read"), ("golden.jsonl", "none", "none: no such folder"),
     ("golden.jsonl", "docs", "golden.jsonl: no questions")],
)  # fmt: skip
def test_verify_without_files_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], golden: str, documents: str, message: str
) -> None:
    write(tmp_path)
    assert verify(tmp_path / golden, tmp_path / documents) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def repaired(tmp_path: Path, *rows: dict[str, Any] | str, code: int = 0) -> tuple[Path, list[dict[str, Any]]]:
    golden, documents = write(tmp_path, *rows)
    before = golden.read_bytes()
    target = tmp_path / "new" / "repaired.jsonl"
    assert verify(golden, documents, "--repair", str(target)) == code
    assert golden.read_bytes() == before
    return golden, [json.loads(line) for line in target.read_text("utf-8").splitlines()]


MOVED: dict[str, tuple[Any, Any, str]] = {
    "shifted": (at("guide.md", 10, 20, "Term is 9."), at("guide.md", 26, 36, "Term is 9."),
                "guide.md 10:20 -> 26:36 (the quote stands there)"),
    "out of the text": (at("guide.md", 900, 910, "Term is 9."), at("guide.md", 26, 36, "Term is 9."),
                        "guide.md 900:910 -> 26:36 (the quote stands there)"),
    "repeated": (at("guide.md", 0, 9, "Fee is 5."),
                 {"alternatives": [at("guide.md", 16, 25, "Fee is 5."), at("guide.md", 37, 46, "Fee is 5.")]},
                 "guide.md 0:9 -> 16:25, 37:46 (the quote stands 2 times)"),
    "quote alone, repeated": ({"doc_id": "guide.md", "quote": "Fee is 5."},
                              {"alternatives": [at("guide.md", 16, 25, "Fee is 5."),
                                                at("guide.md", 37, 46, "Fee is 5.")]},
                              "guide.md quote -> 16:25, 37:46 (the quote stands 2 times)"),
    "written otherwise": ({"doc_id": "guide.md", "quote": "the \"Refund\" window is 30 days."},
                          at("guide.md", 47, 80, "The “refund” window\r\n\tis 30 days."),
                          "guide.md quote -> 47:80 (similarity 1.00: 'the \"Refund\" window is 30 days.' is "
                          "'The “refund” window\\r\\n\\tis 30 days.')"),
    "a slip of the pen": (at("plan.txt", 3, 21, "Plan A costs 10 euros."),
                          at("plan.txt", 0, 21, "Plan A costs 10 euro."),
                          "plan.txt 3:21 -> 0:21 (similarity 0.98: 'Plan A costs 10 euros.' is "
                          "'Plan A costs 10 euro.')"),
    "one of the alternatives": ({"alternatives": [at("plan.txt", 0, 4), at("guide.md", 0, 10, "Term is 9.")]},
                                {"alternatives": [at("plan.txt", 0, 4), at("guide.md", 26, 36, "Term is 9.")]},
                                "guide.md 0:10 -> 26:36 (the quote stands there)"),
    "an alternative that repeats": ({"alternatives": [at("plan.txt", 0, 4), at("guide.md", 0, 9, "Fee is 5.")]},
                                    {"alternatives": [at("plan.txt", 0, 4), at("guide.md", 16, 25, "Fee is 5."),
                                                      at("guide.md", 37, 46, "Fee is 5.")]},
                                    "guide.md 0:9 -> 16:25, 37:46 (the quote stands 2 times)"),
}  # fmt: skip


@pytest.mark.parametrize("kind", MOVED)
def test_repair_moves_evidence_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    wrong, right, note = MOVED[kind]
    good = at("plan.txt", 5, 9)
    golden, rows = repaired(tmp_path, row("q", good, wrong, answer="é", meta={"kept": 1}))
    assert rows == [row("q", good, right, answer="é", meta={"kept": 1})]
    out = capsys.readouterr().out.splitlines()
    assert f"{golden}:1: evidence 2: {note}" in out
    assert "evidence items moved: 1" in out
    documents = load_documents(tmp_path / "docs")
    assert len(load_golden(tmp_path / "new" / "repaired.jsonl", documents)) == 1


@pytest.mark.parametrize(
    ("lost", "why"),
    [
        (row("q", at("plan.txt", 0, 21, "Plan A costs 30 euro.")), "not the quote 'Plan A costs 30 euro.'"),
        (row("q", {"doc_id": "plan.txt", "quote": "Something else entirely"}), "is not in plan.txt"),
        (row("q", at("plan.txt", 0, 900)), "0:900 of plan.txt is outside the text"),
        (row("q", at("plan.md", 0, 21, "Plan A costs 10 euro.")), "unknown document 'plan.md'"),
        (row("q", {"doc_id": "guide.md", "quote": "Fee is 5.", "note": "x"}), "unknown key 'note'"),
        (row("q", at("guide.md", 0, 9, "Term is 9."), answerable=False), "unanswerable, but evidence is given"),
        (row("good", at("guide.md", 0, 9)), "question_id 'good' is that of line 1"),
        ("{nonsense", "bad JSON"),
    ],
)
def test_what_cannot_be_repaired_is_kept_out_and_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lost: Any, why: str
) -> None:
    good = row("good", at("plan.txt", 0, 21))
    golden, rows = repaired(tmp_path, good, lost, row("other", at("plan.txt", 22, 30)), code=2)
    assert [kept["question_id"] for kept in rows] == ["good", "other"]
    out = capsys.readouterr().out
    after = out[out.index("rows kept out, as they could not be repaired: 1") :]
    assert f"{golden}:2: " in after
    assert why in after


def test_repair_of_a_good_set_changes_no_byte(tmp_path: Path) -> None:
    line = '{"question": "a?",   "evidence": [{"doc_id": "plan.txt", "quote": "Plan A"}]}'
    repaired(tmp_path, line, "", json.dumps(row("b", at("guide.md", 0, 3))))
    assert (tmp_path / "new" / "repaired.jsonl").read_text("utf-8").splitlines()[0] == line


def test_repair_never_overwrites_its_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden, documents = write(tmp_path, row("a", at("guide.md", 0, 10, "Term is 9.")))
    (tmp_path / "link.jsonl").symlink_to(golden)
    before = golden.read_bytes()
    for target in (golden, tmp_path / "docs" / ".." / "golden.jsonl", tmp_path / "link.jsonl"):
        assert verify(golden, documents, "--repair", str(target)) == 2
        assert "is the golden file itself, which is never overwritten" in capsys.readouterr().err
    assert golden.read_bytes() == before


def test_a_real_set_is_repaired_after_its_documents_changed(
    tmp_path: Path, shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["golden", "import", "shared", str(shared / "data" / "chroma"), str(tmp_path / "set")]) == 0
    golden, folder = tmp_path / "set" / "golden.jsonl", tmp_path / "set" / "documents"
    before = load_golden(golden, load_documents(folder))
    added = "A notice that stands before everything else.\r\n"
    for path in folder.iterdir():
        path.write_bytes(added.encode() + path.read_bytes())
    assert verify(golden, folder, "--repair", str(tmp_path / "repaired.jsonl")) == 0
    assert "rows kept out" not in capsys.readouterr().out
    after = load_golden(tmp_path / "repaired.jsonl", load_documents(folder))
    assert len(after) == len(before) == 472
    for old, new in zip(before, after, strict=True):
        for was, now in zip(old.evidence, new.evidence, strict=True):
            moved = {Span(s.doc_id, s.start + len(added), s.end + len(added)) for s in was.alternatives}
            assert moved <= set(now.alternatives)


def test_an_imported_set_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qas = [{"id": "x1", "question": "What does A cost?", "answers": [{"text": "10 euro", "answer_start": 13}]},
           {"id": "x2", "question": "And C?", "is_impossible": True, "answers": []},
           {"id": "x3", "question": "And D?", "answers": [{"text": "nowhere", "answer_start": 0}]}]  # fmt: skip
    source = tmp_path / "squad.json"
    source.write_text(json.dumps({"data": [{"title": "Plans", "paragraphs": [{"context": PLAN, "qas": qas}]}]}))
    assert main(["golden", "import", "squad", str(source), str(tmp_path / "set")]) == 0
    out = capsys.readouterr().out
    assert "1 documents, 2 questions" in out
    assert "x3" in out.splitlines()[-1]
    assert verify(tmp_path / "set" / "golden.jsonl", tmp_path / "set" / "documents") == 0


def test_an_unknown_format_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["golden", "import", "sqaud", str(tmp_path), str(tmp_path / "set")]) == 2
    assert "did you mean 'squad'?" in capsys.readouterr().err


def configured(name: str, **values: Any) -> Any:
    return build(OmegaConf.merge(OmegaConf.load(conf_dir() / "corpus" / f"{name}.yaml"), values), "corpus")  # type: ignore[arg-type]


def test_folder_corpus_starts_at_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, row("a", {"doc_id": "plan.txt", "quote": "10 euro"}))
    monkeypatch.chdir(tmp_path)
    corpus = configured("folder", documents="docs", golden="golden.jsonl").load(Path("elsewhere"))
    assert corpus.name == "folder"
    assert [document.doc_id for document in corpus.documents] == ["guide.md", "plan.txt"]
    assert corpus.questions[0].evidence[0].alternatives == (Span("plan.txt", 13, 20),)
    again = configured("folder", documents=str(tmp_path / "docs"), golden=str(tmp_path / "golden.jsonl")).load(Path())
    assert (again.sha256, again.golden_sha256) == (corpus.sha256, corpus.golden_sha256)


def test_a_golden_set_among_the_documents_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golden, documents = write(tmp_path, row("a", at("plan.txt", 0, 4)))
    golden.rename(documents / "golden.jsonl")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GoldenError, match="lies among the documents and would be retrieved as one of them"):
        configured("folder", documents="docs", golden="docs/golden.jsonl").load(Path())
    narrowed = configured("folder", documents="docs", golden="docs/golden.jsonl", include=["*.md", "*.txt"])
    assert len(narrowed.load(Path()).documents) == 2


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"golden": "g"}, ConfigError, "corpus.documents: has no value"),
        ({"documents": "", "golden": "g"}, ConfigError, "corpus.documents: is empty; give a path"),
        ({"documents": "d", "golden": "g", "html": "text"}, ConfigError, "corpus.html: got 'text'; allowed: markdown"),
        ({"documents": "d", "golden": "g", "include": []}, ConfigError, r"corpus.include: got \[\]; give patterns"),
        ({"documents": "d", "golden": "g", "includes": ["*"]}, ConfigError, "did you mean 'include'"),
        ({"documents": "d", "golden": "g"}, CorpusError, "d: no such folder"),
        ({"documents": "docs", "golden": "empty"}, GoldenError, "empty: no questions"),
    ],
)
def test_wrong_folder_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: dict[str, Any], error: type[BenchError], message: str
) -> None:
    write(tmp_path)
    (tmp_path / "empty").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        configured("folder", **values).load(Path())


def bundled(tmp_path: Path, **changes: dict[str, Any] | None) -> CorpusConfig:
    """A corpus with a manifest; ``changes`` replace entries of the manifest, None removes them."""
    write(tmp_path, row("a", at("plan.txt", 0, 4)))
    files: dict[str, Any] = {
        name: {"sha256": hashlib.sha256(text.encode()).hexdigest(), "characters": len(text), "meta": {"revision": "2"}}
        for name, text in (("guide.md", GUIDE), ("plan.txt", PLAN))
    }
    files = {name: entry for name, entry in {**files, **changes}.items() if entry is not None}
    (tmp_path / "corpus.yaml").write_text(yaml.safe_dump({"name": "x", "files": files}))
    return CorpusConfig("x", "docs", "golden.jsonl", ["**/*"], manifest="corpus.yaml")


def test_a_manifest_gives_meta_and_guards_the_files(tmp_path: Path) -> None:
    config = bundled(tmp_path)
    corpus = config.load(tmp_path)
    assert [dict(document.meta) for document in corpus.documents] == [
        {"revision": "2"},
        {"title": PLAN, "revision": "2"},
    ]
    (tmp_path / "docs" / "plan.txt").write_text(PLAN.replace("10", "11"))
    with pytest.raises(CorpusError, match=r"plan\.txt: sha256 is [0-9a-f]+, but .*\.yaml says [0-9a-f]+; restore"):
        config.load(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gone.md": {"sha256": "0"}}, r"'gone\.md' is listed \(meta, manifest\) but not there"),
        ({"plan.txt": None}, r"plan\.txt: is not listed in .*corpus\.yaml"),
        ({"plan.txt": {"sha": "0"}}, r"corpus\.yaml: files: plan\.txt: unknown key 'sha'; .*did you mean 'sha256'"),
        ({"plan.txt": {"sha256": hashlib.sha256(PLAN.encode()).hexdigest(), "characters": 1}},
         r"plan\.txt: characters is 43, but"),
    ],
)  # fmt: skip
def test_a_manifest_that_does_not_fit(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        bundled(tmp_path, **changes).load(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read"), ("a: [", "bad YAML"), ("name: x", 'has no "files"'), ("[1]", 'has no "files"')],
)
def test_a_broken_manifest(tmp_path: Path, content: str | None, message: str) -> None:
    config = bundled(tmp_path)
    (tmp_path / "corpus.yaml").unlink()
    if content is not None:
        (tmp_path / "corpus.yaml").write_text(content)
    with pytest.raises(CorpusError, match=message) as caught:
        config.load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(path.parent.name for path in corpora_dir().glob("*/corpus.yaml")))
def test_bundled_corpora_load_by_their_configuration(name: str) -> None:
    corpus = configured(name).load(corpora_dir())
    assert corpus.name == name
    assert len(corpus.questions) >= 20
