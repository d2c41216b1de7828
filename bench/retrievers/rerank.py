"""Reranking by a cross-encoder: one model reads the question and the chunk together (Nogueira & Cho 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.devices import check_device
from bench.embedders.fingerprint import fingerprint, model_files
from bench.errors import ConfigError, ModelError
from bench.retrieve import Retrieval, ranking
from bench.retrievers.base import Stage, at_least, with_rest
from bench.types import Floats, Ranking

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

LIBRARIES = ("torch", "transformers", "sentence-transformers", "tokenizers")


@dataclass(frozen=True, kw_only=True)
class Rerank(Stage):
    """The candidates of ``base`` in the order of a sentence-transformers ``CrossEncoder``, by its raw output.

    Attributes:
        model: folder or hub name.
        candidates: how many hits of ``base`` are read; its further hits follow behind.
        batch: pairs of one forward pass.
        max_tokens: longest pair; null: the model's own limit. The rest of a chunk is not read.
        device: "cpu", "cuda" (or "cuda:1"), "mps".
    """

    model: str
    candidates: int = 50
    batch: int = 32
    max_tokens: int | None = None
    device: str = "cpu"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.model:
            raise ConfigError("retriever.model: is empty; give the folder or the name of a cross-encoder")
        at_least("candidates", self.candidates, 1)
        at_least("batch", self.batch, 1)
        if self.max_tokens is not None:
            at_least("max_tokens", self.max_tokens, 8)
        check_device(self.device, "retriever.device")

    @property
    def fingerprint(self) -> str:
        """Hash of the model's files and of the packages that run it.

        Raises:
            ModelError: the model is not there.
        """
        return fingerprint(model_files(find(self.model)), {"base": self.first.fingerprint}, LIBRARIES)

    def prepare(self, given: Retrieval) -> Retrieval:
        """Read the model; see ``Retriever.prepare``."""
        self._loaded()
        return super().prepare(given)

    def rank(self, given: Retrieval) -> list[Ranking]:
        """See ``Retriever.rank``. Each question's pairs are batches of their own: no other question moves a score.

        Raises:
            ModelError: the model is not there, is no cross-encoder, or fails on a batch.
        """
        model, rankings = self._loaded(), []
        base = self.first.rank(replace(given, depth=max(given.depth, self.candidates)))
        for ranked, question in zip(base, given.questions, strict=True):
            ids = sorted(hit.chunk for hit in ranked.hits[: self.candidates])
            scores = relevances(model, question.text, [given.chunks[i].indexed_text for i in ids], self.batch)
            order = np.argsort(-scores, kind="stable")
            head = ranking(question, [ids[i] for i in order], scores[order].tolist(), given.chunks)
            rankings.append(with_rest(head, ranked, given.depth))
        return rankings

    def _loaded(self) -> CrossEncoder:
        return load(str(find(self.model)), self.device, self.max_tokens)


def find(model: str) -> Path:
    """Return the folder of a model: a local one, or a hub name (what is stored here comes first).

    Raises:
        ModelError: it is neither.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise ModelError(f"retriever.model: folder {model} holds no model (no config.json)")
        return folder.resolve()
    from huggingface_hub import snapshot_download

    problem = ""
    for stored in (True, False):
        try:
            return Path(snapshot_download(model, local_files_only=stored))
        except (OSError, ValueError) as error:
            problem = str(error).splitlines()[0]
    raise ModelError(f"retriever.model: {model!r} is no folder and cannot be fetched ({problem}); give a folder")


@lru_cache(maxsize=2)
def load(folder: str, device: str, max_tokens: int | None) -> CrossEncoder:
    """Return the model (imports torch); kept in memory.

    Raises:
        ModelError: its files make no model, or one with several outputs.
    """
    from sentence_transformers import CrossEncoder
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model: CrossEncoder = CrossEncoder(folder, device=device, max_length=max_tokens)
    except (OSError, ValueError, RuntimeError, KeyError, AttributeError, ImportError) as error:
        raise ModelError(f"retriever.model: {folder} cannot be loaded ({str(error).splitlines()[0]})") from error
    if model.num_labels != 1:
        raise ModelError(f"retriever.model: {folder} has {model.num_labels} outputs; a reranker has one")
    return model


def relevances(model: CrossEncoder, question: str, texts: Sequence[str], batch: int) -> Floats:
    """Return the model's raw output for each text, shape (len(texts),); equal texts have equal ones.

    Raises:
        ModelError: a batch failed, or an output is not a number.
    """
    from torch.nn import Identity

    rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    if not rows:
        return np.zeros(0, dtype=np.float32)
    pairs = [(_clean(question), _clean(text)) for text in rows]
    try:
        found = model.predict(pairs, batch_size=batch, show_progress_bar=False, activation_fn=Identity())
    except RuntimeError as error:
        raise ModelError(f"retriever.model: a batch failed ({str(error).splitlines()[0]})") from error
    scores = np.asarray(found, dtype=np.float32).reshape(-1)
    if len(scores) != len(rows) or not np.isfinite(scores).all():
        raise ModelError(f"retriever.model: gave no number for some of {len(rows)} pairs; is it a cross-encoder?")
    return scores[[rows[text] for text in texts]]


def _clean(text: str) -> str:
    """Lone surrogates, which no tokenizer takes, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
