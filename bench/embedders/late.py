"""Late chunking: a document goes through the model in long windows, a chunk's vector is the mean of its token states.

Günther et al. 2024 (arXiv 2409.04701). Every chunk then knows the text around it. One pass over the documents serves
every size and overlap: only ranges of the same token states are summed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.devices import kind_of
from bench.embedders.base import Kind, clean, unit
from bench.embedders.card import Card, read_card, resolve
from bench.embedders.fingerprint import fingerprint
from bench.embedders.transformer import LoadedTransformer, Transformer
from bench.errors import ConfigError, ModelError
from bench.tokenize import first_tokens
from bench.types import Floats, Ints

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

KEPT_BYTES = 1_000_000_000


@dataclass(frozen=True)
class Late:
    """A transformer that reads whole documents; its pooling must be the mean.

    Attributes:
        model: packaged name, folder or sentence-transformers name; see ``Transformer``.
        window_tokens: longest input, special tokens counted; None: the most that the model's positions allow.
        overlap_tokens: what neighbouring windows share; a token's state is taken from the window in which it stands
            farther from the edge.
        precision: see ``Transformer``.
        batch_tokens: tokens of one forward pass of texts on their own; windows go one by one.
        device: "cpu", "cuda" (or "cuda:1"), "mps".
    """

    model: str = "minilm"
    window_tokens: int | None = None
    overlap_tokens: int = 128
    precision: str = "fp32"
    batch_tokens: int = 4096
    device: str = "cpu"

    def __post_init__(self) -> None:
        self.plain()
        if self.window_tokens is not None and self.window_tokens < 16:
            raise ConfigError(f"embedder.window_tokens: got {self.window_tokens}; allowed: at least 16, or null")
        if self.overlap_tokens < 0:
            raise ConfigError(f"embedder.overlap_tokens: got {self.overlap_tokens}; allowed: a whole number from 0")

    def load(self) -> LoadedLate:
        """Find the model; its weights are read when the first document is embedded.

        Raises:
            ModelError: the model is not there.
            ConfigError: the window is longer than the model's positions, or not longer than the overlap.
        """
        card = read_card(resolve(self.model))
        window = self.window_tokens or card.limit_tokens
        if window > card.limit_tokens:
            raise ConfigError(f"embedder.window_tokens: got {window}; {self.model} allows at most {card.limit_tokens}")
        return LoadedLate(self, self.plain().load(), card, window)

    def plain(self) -> Transformer:
        """The same model for texts on their own."""
        return Transformer(self.model, precision=self.precision, batch_tokens=self.batch_tokens, device=self.device)


class LoadedLate:
    """A late-chunking model ready to embed. Texts without a place in a document are embedded as ever."""

    usable_tokens: int | None = None

    def __init__(self, config: Late, plain: LoadedTransformer, card: Card, window: int) -> None:
        self.name, self.dim = plain.name, plain.dim
        self._config, self._plain, self._card = config, plain, card
        self._before, self._after = _frame(card, plain.prompts["passage"])
        self._room = window - len(self._before) - len(self._after)
        if self._room <= config.overlap_tokens:
            raise ConfigError(
                f"embedder.overlap_tokens: got {config.overlap_tokens} with {self._room} tokens in a window; lower it"
            )
        settings: dict[str, object] = {"late": window, "overlap": config.overlap_tokens, "plain": plain.fingerprint}
        self.fingerprint = fingerprint([], settings, [])
        self._weights: SentenceTransformer | None = None
        self._states: OrderedDict[str, tuple[Ints, Floats]] = OrderedDict()

    def prepare(self) -> None:
        """Read the weights.

        Raises:
            ModelError: they cannot be read, or the model does not pool by the mean.
        """
        self._model()

    def count_tokens(self, texts: Sequence[str]) -> Ints:
        """Return the tokens of each text, shape (len(texts),)."""
        return self._plain.count_tokens(texts)

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        """Return unit vectors of texts on their own, as the plain model makes them; questions are embedded so."""
        return self._plain.encode(texts, kind)

    def window_tokens(self, text: str) -> int:
        """Return how many tokens the model reads of a document, those in two windows twice."""
        count = int(self._card.count([text])[0])
        return sum(high - low for low, high, _, _ in windows(count, self._room, self._config.overlap_tokens))

    def encode_spans(self, text: str, spans: Sequence[tuple[int, int]]) -> Floats:
        """Return unit vectors of ranges of one document, shape (len(spans), dim).

        Args:
            text: the document.
            spans: half-open code-point offsets. A range takes every token that it shares a character with; one that
                holds no token takes the one before it.

        Raises:
            ModelError: the document has no tokens, or a batch failed.
        """
        starts, states = self._document(text)
        if not len(starts):
            raise ModelError(f"embedder {self.name}: a document has no tokens, so its chunks have no vectors; drop it")
        lows, highs = np.array(spans, dtype=np.int64).reshape(-1, 2).T
        first = np.minimum(first_tokens(starts, lows), len(starts) - 1)
        last = np.maximum(np.searchsorted(starts, highs), first + 1)
        sums = np.stack([states[a:b].mean(axis=0, dtype=np.float64) for a, b in zip(first, last, strict=True)])
        return unit(sums, len(spans), self.name)

    def _document(self, text: str) -> tuple[Ints, Floats]:
        """Return the start of each token, shape (tokens,), and its state, shape (tokens, dim); kept for other sizes."""
        if text in self._states:
            self._states.move_to_end(text)
            return self._states[text]
        code = self._card.tokenizer.encode(clean(text), add_special_tokens=False)
        starts = np.maximum.accumulate(np.array([0, *(start for start, _ in code.offsets)], dtype=np.int64))[1:]
        found = self._states[text] = starts, self._forward(code.ids)
        while len(self._states) > 1 and sum(states.nbytes for _, states in self._states.values()) > KEPT_BYTES:
            self._states.popitem(last=False)
        return found

    def _forward(self, ids: Sequence[int]) -> Floats:
        """Return the states of the tokens of a document, shape (len(ids), dim)."""
        import torch

        config = self._config
        transformer: Any = self._model()[0]
        states = np.zeros((len(ids), self.dim), dtype=np.float32)
        bf16, before = config.plain().bf16, len(self._before)
        for low, high, keep, end in windows(len(ids), self._room, config.overlap_tokens):
            row = torch.tensor([[*self._before, *ids[low:high], *self._after]], device=config.device)
            features = {"input_ids": row, "attention_mask": torch.ones_like(row)}
            with torch.inference_mode(), torch.autocast(kind_of(config.device), dtype=torch.bfloat16, enabled=bf16):
                out = transformer(features)["token_embeddings"][0]
            states[keep:end] = out[before + keep - low : before + end - low].float().cpu().numpy()
        return states

    def _model(self) -> SentenceTransformer:
        if self._weights is None:
            model = self._plain._model()
            kinds = [type(module).__name__ for module in model]
            pooling: Any = model[1] if kinds[1:2] == ["Pooling"] else None
            way = getattr(pooling, "pooling_mode", None) or (pooling and pooling.get_pooling_mode_str())
            if way != "mean" or set(kinds[2:]) - {"Normalize"}:
                raise ModelError(
                    f"embedder late: {self._config.model} is made of {', '.join(kinds)} and pools by {way}; "
                    "late chunking needs a model that takes the mean of its token states"
                )
            self._weights = model
        return self._weights


def windows(count: int, room: int, overlap: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (first, end, first kept, end kept) of the windows over ``count`` tokens; the kept ones tile the document.

    Windows that share tokens are cut in the middle of what they share.
    """
    low, keep = 0, 0
    while low < count:
        high = min(low + room, count)
        end = count if high == count else high - overlap // 2
        yield low, high, keep, end
        if high == count:
            return
        low, keep = high - overlap, end


def _frame(card: Card, prompt: str) -> tuple[list[int], list[int]]:
    """Return the tokens that stand before and after the text of every input: special ones and the prompt's."""
    bare = card.tokenizer.encode("a", add_special_tokens=False).ids
    full = card.tokenizer.encode("a", add_special_tokens=True).ids
    at = next(i for i in range(len(full)) if full[i : i + len(bare)] == bare)
    extra = card.tokenizer.encode(prompt, add_special_tokens=False).ids if prompt else []
    return [*full[:at], *extra], full[at + len(bare) :]
