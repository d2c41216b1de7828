"""Transformers of sentence-transformers (https://www.sbert.net), batched by length under a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.devices import check_device, kind_of
from bench.embedders.base import Kind, clean, unit
from bench.embedders.card import Card, read_card, read_weights, resolve
from bench.embedders.cpu import bf16_support
from bench.embedders.fingerprint import fingerprint, model_files
from bench.errors import ConfigError, ModelError, near
from bench.types import Floats, Ints

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PRECISIONS = ("fp32", "bf16", "auto")
LIBRARIES = ("torch", "transformers", "sentence-transformers", "tokenizers")


@dataclass(frozen=True)
class Transformer:
    """A transformer by packaged name ("minilm", "mpnet"), folder, or sentence-transformers name.

    Attributes:
        model: name or folder; what is on this machine comes before the hub.
        query_prompt: put before each question; None: the prompt that the model's own configuration names.
        passage_prompt: put before each chunk; None as above.
        precision: "fp32" gives the same numbers on every machine; "bf16" is 1.7 times as fast where the processor
            has AVX512_BF16 or AMX (cosine to fp32 at least .9999); "auto" is bf16 there and fp32 elsewhere.
        max_tokens: longest input, special tokens counted; None: the model's own.
        batch_tokens: tokens of one forward pass, padding counted.
        device: "cpu", "cuda" (or "cuda:1"), "mps".
    """

    model: str = "minilm"
    query_prompt: str | None = None
    passage_prompt: str | None = None
    precision: str = "fp32"
    max_tokens: int | None = None
    batch_tokens: int = 2048
    device: str = "cpu"

    def __post_init__(self) -> None:
        if not self.model:
            raise ConfigError("embedder.model: is empty; give a name or a folder")
        if self.precision not in PRECISIONS:
            raise ConfigError(f"embedder.precision: got {self.precision!r}; {near(self.precision, PRECISIONS)}")
        if self.max_tokens is not None and self.max_tokens < 8:
            raise ConfigError(f"embedder.max_tokens: got {self.max_tokens}; allowed: at least 8, or null (its own)")
        if self.batch_tokens < 1:
            raise ConfigError(f"embedder.batch_tokens: got {self.batch_tokens}; allowed: at least 1")
        check_device(self.device, "embedder.device")

    def load(self) -> LoadedTransformer:
        """Find the model and read its card; the weights are read when the first text is embedded.

        Raises:
            ModelError: the model is not there.
            ConfigError: ``max_tokens`` is more than its positions allow.
        """
        card = read_card(resolve(self.model))
        if self.max_tokens is not None and self.max_tokens > card.limit_tokens:
            most = f"{self.model} allows at most {card.limit_tokens}"
            raise ConfigError(f"embedder.max_tokens: got {self.max_tokens}; {most}")
        return LoadedTransformer(self, card)

    @property
    def bf16(self) -> bool:
        """Whether forward passes run in bfloat16 on this machine."""
        return self.precision == "bf16" or (self.precision == "auto" and self.device == "cpu" and bool(bf16_support()))


class LoadedTransformer:
    """A transformer ready to embed; see ``bench.embedders.base.Embedder``."""

    def __init__(self, config: Transformer, card: Card) -> None:
        self.name = Path(config.model).name
        self.prompts: dict[Kind, str] = {
            "query": card.prompt("query") if config.query_prompt is None else config.query_prompt,
            "passage": card.prompt("passage") if config.passage_prompt is None else config.passage_prompt,
        }
        self.max_tokens = config.max_tokens or card.max_tokens
        self.usable_tokens: int | None = self.max_tokens - card.specials - self._prompt_tokens(card, "passage")
        if self.usable_tokens < 1:
            raise ConfigError(f"embedder.max_tokens: {self.max_tokens} leaves no room after the prompt; raise it")
        self.dim = card.dim
        settings: dict[str, object] = {"prompts": self.prompts, "bf16": config.bf16, "max_tokens": self.max_tokens}
        settings["device"] = config.device
        self.fingerprint = fingerprint(model_files(card.folder), settings, LIBRARIES)
        self._config, self._card = config, card
        self._weights: SentenceTransformer | None = None

    def prepare(self) -> None:
        """Read the weights.

        Raises:
            ModelError: they cannot be read, or are not of the size that the folder's files state.
        """
        self._model()

    def count_tokens(self, texts: Sequence[str]) -> Ints:
        """Return the tokens of each text, without special tokens, prompt or truncation, shape (len(texts),)."""
        return self._card.count(texts)

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        """Return unit vectors of shape (len(texts), dim). Text beyond ``usable_tokens`` is cut off by the model.

        Raises:
            ModelError: a batch failed.
        """
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        if not len(texts):
            return vectors
        model = self._model()
        fixed = self._card.specials + self._prompt_tokens(self._card, kind)
        lengths = np.minimum(self._card.count(texts) + fixed, self.max_tokens)
        for rows in batches(lengths, self._config.batch_tokens):
            vectors[rows] = self._forward(model, [clean(texts[row]) for row in rows], self.prompts[kind])
        return unit(vectors, len(texts), self.name)

    def _forward(self, model: SentenceTransformer, texts: list[str], prompt: str) -> Floats:
        import torch

        try:
            with torch.autocast(kind_of(self._config.device), dtype=torch.bfloat16, enabled=self._config.bf16):
                vectors = model.encode(texts, prompt=prompt, batch_size=len(texts), show_progress_bar=False)
        except RuntimeError as error:
            reason = str(error).splitlines()[0]
            raise ModelError(f"embedder {self.name}: a batch of {len(texts)} texts failed ({reason})") from error
        return unit(vectors, len(texts), self.name)

    def _model(self) -> SentenceTransformer:
        if self._weights is None:
            model = read_weights(str(self._card.folder), self._config.device)
            if model.get_embedding_dimension() != self.dim:
                raise ModelError(f"model {self._card.folder}: states {self.dim} dimensions, its weights differ")
            model.max_seq_length = self.max_tokens
            self._weights = model
        return self._weights

    def _prompt_tokens(self, card: Card, kind: Kind) -> int:
        return int(card.count([self.prompts[kind]])[0])


def batches(lengths: Ints, budget: int) -> Iterator[Ints]:
    """Yield rows in batches of like length, longest first, each of at most ``budget`` tokens, padding counted.

    Args:
        lengths: tokens of each text, shape (texts,).
        budget: tokens of one batch; a longer text is a batch of its own.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        rows = max(1, budget // max(1, int(lengths[order[start]])))
        yield order[start : start + rows]
        start += rows
