"""The bundled corpora are what their manifests say, and as various as they were meant to be."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from omegaconf import OmegaConf

from bench.config import build
from bench.corpus.config import Corpus
from bench.paths import conf_dir, corpora_dir

NAMES = ("norrvane", "yunosawa")
LEAST = {
    "single_fact": 20, "table_lookup": 15, "needs_heading": 10, "qualifier_next_sentence": 10, "multi_span": 15,
    "multi_document": 15, "code": 10, "current_vs_old": 10, "ambiguous": 5, "paraphrased": 10, "unanswerable": 25,
}  # fmt: skip


def manifest(name: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((corpora_dir() / name / "corpus.yaml").read_text(encoding="utf-8"))
    return content


def corpus(name: str) -> Corpus:
    loaded: Corpus = build(OmegaConf.load(conf_dir() / "corpus" / f"{name}.yaml"), "corpus").load(corpora_dir())
    return loaded


@pytest.mark.parametrize("name", NAMES)
def test_counts_and_hashes_are_those_of_the_manifest(name: str) -> None:
    stated, found = manifest(name), corpus(name)
    answerable = sum(question.answerable for question in found.questions)
    counts = stated["counts"]
    assert counts["documents"] == len(found.documents) == len(stated["files"])
    assert counts["characters"] == sum(len(document.text) for document in found.documents)
    assert (counts["answerable"], counts["unanswerable"]) == (answerable, len(found.questions) - answerable)
    by_category = counts.get("by_category") or counts["categories"]
    assert by_category == dict(Counter(question.category for question in found.questions))
    golden = (corpora_dir() / name / "golden.jsonl").read_bytes()
    assert stated["golden_sha256"] == hashlib.sha256(golden).hexdigest()
    for doc_id, entry in stated["files"].items():
        data = (corpora_dir() / name / "documents" / doc_id).read_bytes()
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
    assert stated["licence"].startswith("Apache-2.0")


@pytest.mark.parametrize("name", NAMES)
def test_answerable_questions_have_exact_evidence_and_an_answer(name: str) -> None:
    for question in corpus(name).questions:
        assert bool(question.evidence) == question.answerable == (question.answer is not None)


def test_the_english_corpus_is_large_and_various() -> None:
    found = corpus("norrvane")
    assert len(found.documents) >= 25
    assert sum(len(document.text) for document in found.documents) >= 150_000
    assert {document.format for document in found.documents} == {"md", "html", "txt", "code"}
    assert len(found.questions) >= 175
    categories = Counter(question.category for question in found.questions)
    assert all(categories[name] >= count for name, count in LEAST.items()), categories
    asked = {span.doc_id for q in found.questions for e in q.evidence for span in e.alternatives}
    assert asked == {document.doc_id for document in found.documents}


def test_revisions_contradictions_and_the_planted_instruction_are_marked() -> None:
    found = corpus("norrvane")
    ids = {document.doc_id for document in found.documents}
    old = [document.meta["supersedes"] for document in found.documents if "supersedes" in document.meta]
    assert len(old) >= 2
    assert set(old) <= ids
    tags = [tag for document in found.documents for tag in document.meta.get("tags", [])]
    assert tags.count("contradiction") >= 2
    planted = [document for document in found.documents if "planted_instruction" in document.meta.get("tags", [])]
    assert len(planted) == 1
    assert planted[0].meta["canary"] in planted[0].text


@pytest.mark.parametrize("name", NAMES)
def test_no_paragraph_is_filler(name: str) -> None:
    paragraphs = Counter(
        " ".join(paragraph.split())
        for path in (corpora_dir() / name / "documents").rglob("*")
        if path.is_file()
        for paragraph in path.read_text(encoding="utf-8").replace("\r", "").split("\n\n")
        if len(paragraph) > 60
    )
    assert [paragraph for paragraph, count in paragraphs.items() if count > 1] == []


def test_the_second_corpus_is_in_another_script() -> None:
    found = corpus("yunosawa")
    text = "".join(document.text for document in found.documents)
    assert sum("\u3040" <= c <= "\u30ff" or "\u4e00" <= c <= "\u9fff" for c in text) / len(text) > 0.5
    assert sum(question.answerable for question in found.questions) >= 20
    assert Path(corpora_dir() / "yunosawa" / "corpus.yaml").is_file()
