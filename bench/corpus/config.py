"""The corpus group of the configuration: where the documents and the golden set are, loaded and checked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.corpus.golden import golden_sha256, load_golden
from bench.corpus.load import HTML_MODES, corpus_sha256, load_documents
from bench.errors import ConfigError, CorpusError, GoldenError, near
from bench.types import Document, GoldenQuestion

FILE_KEYS = ("sha256", "characters", "meta")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents and golden questions as loaded, with the hashes that identify them."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[GoldenQuestion, ...]
    sha256: str
    golden_sha256: str


@dataclass(frozen=True)
class CorpusConfig:
    """A folder of documents with a golden set.

    A bundled corpus has a ``manifest`` (corpus.yaml) and its paths start at the folder of the bundled corpora; the
    manifest lists every file with its SHA-256, its characters and its ``meta``. Else paths start at the working folder.
    """

    name: str
    documents: str
    golden: str
    include: list[str]
    html: str = "source"
    manifest: str | None = None

    def __post_init__(self) -> None:
        for key in ("name", "documents", "golden"):
            if not getattr(self, key).strip():
                raise ConfigError(f"corpus.{key}: is empty; give a {'name' if key == 'name' else 'path'}")
        if not self.include or not all(self.include):
            raise ConfigError(f"corpus.include: got {list(self.include)}; give patterns of paths, such as ['**/*']")
        if self.html not in HTML_MODES:
            raise ConfigError(f"corpus.html: got {self.html!r}; {near(self.html, HTML_MODES)}")

    def load(self, base: Path) -> Corpus:
        """Return the corpus, every file checked against the manifest if there is one.

        Args:
            base: folder of the bundled corpora.

        Raises:
            CorpusError: a document cannot be loaded, or is not the one that the manifest lists.
            GoldenError: the golden set is wrong, or lies among the documents.
        """
        root = base if self.manifest else Path()
        folder, golden = root / Path(self.documents).expanduser(), root / Path(self.golden).expanduser()
        manifest = root / self.manifest if self.manifest else None
        files = _read_manifest(manifest) if manifest else {}
        meta = {doc_id: entry.get("meta") or {} for doc_id, entry in files.items()}
        documents = load_documents(folder, include=self.include, meta=meta, html=self.html)
        if manifest:
            _check(manifest, folder, files, documents)
        if any(golden.resolve() == (folder / document.doc_id).resolve() for document in documents):
            raise GoldenError(
                f"{golden}: lies among the documents and would be retrieved as one of them; move it out "
                f"of {folder}, or leave it out (corpus.include)"
            )
        questions = load_golden(golden, documents)
        return Corpus(self.name, documents, questions, corpus_sha256(documents), golden_sha256(questions))


def _read_manifest(path: Path) -> dict[str, dict[str, Any]]:
    """Return the entries of ``files`` by document id."""
    import yaml

    try:
        content = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror}); restore the bundled corpus") from error
    except yaml.YAMLError as error:
        raise CorpusError(f"{path}: bad YAML ({' '.join(str(error).split())}); restore the bundled corpus") from error
    files = content.get("files") if isinstance(content, dict) else None
    if not isinstance(files, dict) or not all(isinstance(entry, dict) for entry in files.values()):
        raise CorpusError(f'{path}: has no "files"; expected a mapping of document id to {", ".join(FILE_KEYS)}')
    for doc_id, entry in files.items():
        for key in entry:
            if key not in FILE_KEYS:
                raise CorpusError(f"{path}: files: {doc_id}: unknown key {key!r}; {near(str(key), FILE_KEYS)}")
    return {str(doc_id): entry for doc_id, entry in files.items()}


def _check(manifest: Path, folder: Path, files: Mapping[str, Mapping[str, Any]], documents: Sequence[Document]) -> None:
    """Raise CorpusError unless each document is listed, with the hash of its file and the length of its text."""
    for document in documents:
        path = folder / document.doc_id
        if document.doc_id not in files:
            raise CorpusError(f"{path}: is not listed in {manifest}; list it there, or remove the file")
        entry = files[document.doc_id]
        found = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "characters": len(document.text)}
        if "converted" in document.meta:
            del found["characters"]  # depends on the converter's version
        for key, value in found.items():
            if entry.get(key) != value:
                raise CorpusError(
                    f"{path}: {key} is {value}, but {manifest} says {entry.get(key)}; restore the file, "
                    "or correct the manifest if the change is meant"
                )
