"""Static embeddings: a text's vector is the mean of its tokens' vectors, normalised. No torch, no forward pass.

Same numbers as ``sentence_transformers`` ``StaticEmbedding``. The packaged model is wordllama
(https://github.com/dleemiller/WordLlama).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.embedders import packages
from bench.embedders.base import Kind, clean, unit
from bench.embedders.fingerprint import fingerprint
from bench.errors import ConfigError, ModelError, near
from bench.types import Floats, Ints

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGED = ("wordllama",)


@dataclass(frozen=True)
class Static:
    """A static model: "wordllama", or a folder with one ``*.safetensors`` (one matrix) and one tokenizer file."""

    model: str = "wordllama"

    def __post_init__(self) -> None:
        if not self.model:
            raise ConfigError("embedder.model: is empty; give a name or a folder")

    def load(self) -> LoadedStatic:
        """Read the matrix and the tokenizer.

        Raises:
            ModelError: the model is not there, or not a static one.
        """
        folder = packages.require(self.model) if self.model in PACKAGED else Path(self.model).expanduser()
        if not folder.is_dir():
            raise ModelError(f"embedder.model: {self.model!r} is no folder; {near(self.model, PACKAGED)}, or a folder")
        weights, tokenizer = _only(folder, "*.safetensors"), _only(folder, "*tokenizer*.json")
        return LoadedStatic(Path(self.model).name, weights, tokenizer)


class LoadedStatic:
    """A static model ready to embed; see ``bench.embedders.base.Embedder``. Any length of text, no prompts."""

    usable_tokens: int | None = None

    def __init__(self, name: str, weights: Path, tokenizer: Path) -> None:
        self.name = name
        self.fingerprint = fingerprint([weights, tokenizer], {"pooling": "mean"}, ["tokenizers"])
        self._matrix = _matrix(weights)
        self._tokenizer = _tokenizer(tokenizer)
        self.dim = self._matrix.shape[1]

    def prepare(self) -> None:
        """Do nothing: the matrix was read at once."""

    def count_tokens(self, texts: Sequence[str]) -> Ints:
        """Return the tokens of each text, shape (len(texts),)."""
        return np.array([len(ids) for ids in self._ids(texts)], dtype=np.int64)

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        """Return unit vectors of shape (len(texts), dim); ``kind`` makes no difference.

        Raises:
            ModelError: a text is empty.
        """
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, ids in enumerate(self._ids(texts)):
            if ids:
                vectors[row] = self._matrix[ids].mean(axis=0)
        return unit(vectors, len(texts), self.name) if len(texts) else vectors

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        codes = self._tokenizer.encode_batch_fast([clean(text) for text in texts], add_special_tokens=False)
        return [code.ids for code in codes]


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(path for path in folder.rglob(pattern) if path.name != "tokenizer_config.json")
    if len(found) != 1:
        raise ModelError(f"model {folder}: holds {len(found)} files {pattern}; a static model has one")
    return found[0]


def _matrix(weights: Path) -> Floats:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        tables = [table for table in load_file(weights).values() if table.ndim == 2]
    except (SafetensorError, OSError) as error:
        raise ModelError(f"model file {weights}: cannot be read ({error})") from error
    if len(tables) != 1:
        raise ModelError(f"model file {weights}: holds {len(tables)} matrices; a static model has one")
    return np.ascontiguousarray(tables[0], dtype=np.float32)


def _tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises nothing narrower
        raise ModelError(f"model file {path}: cannot be read ({error})") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
