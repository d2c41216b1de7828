"""A cross-encoder as judge: an entailment model, or one with a single score, by name or folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bench.devices import check_device
from bench.errors import ConfigError, ModelError
from bench.judges.base import PARTS, Check, Found, Tools, check_parts, holders
from bench.judges.features import Embed
from bench.judges.offline import OfflineEngine
from bench.judges.parts import judge_all
from bench.replies import Case, Judgement, Verdict, VerdictName
from bench.sentences import sentences
from bench.types import Floats

WINDOW_SENTENCES = 3


@dataclass(frozen=True)
class CrossEncoder:
    """Verdicts by a sentence-transformers ``CrossEncoder`` over windows of each passage; the rest as the offline judge.

    A model with labels for entailment and contradiction gives all verdicts but "partial"; one with a single score calls
    supported what reaches ``supported``.
    """

    model: str = ""
    name: str = "cross_encoder"
    supported: float = 0.5
    batch_size: int = 32
    device: str = "cpu"
    parts: list[str] | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if not self.model:
            raise ConfigError("judge.model: has no value; give the name or folder of a cross-encoder")
        if not 0 < self.supported < 1:
            raise ConfigError(f"judge.supported: got {self.supported}; allowed: between 0 and 1")
        check_parts(self.parts or PARTS, "judge")
        check_device(self.device, "judge.device")

    def judge(self, cases: Sequence[Case], tools: Tools) -> list[Judgement]:
        """Return one judgement a case.

        Raises:
            ModelError: the model is not there.
        """
        return judge_all(CrossEngine(self, tools.embed), cases, self.parts or PARTS)


class CrossEngine(OfflineEngine):
    """The offline engine with verdicts of a cross-encoder."""

    def __init__(self, config: CrossEncoder, embed: Embed | None) -> None:
        super().__init__(embed)
        self._config = config
        self._model = load(config.model, config.device)
        self._labels = entailment_labels(self._model.model.config)

    def verify(self, checks: Sequence[Check]) -> list[Found[Verdict]]:
        """Best window decides; a contradiction counts where it is surer than any support."""
        pairs = [(window, check.claim) for check in checks for window in _windows(check)]
        scores = self._predict(pairs)
        found, at = [], 0
        for check in checks:
            windows = _windows(check)
            found.append(Found(self._verdict_of(check, windows, scores[at : at + len(windows)])))
            at += len(windows)
        return found

    def _predict(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return probabilities, shape (pairs, 2): of support and of contradiction."""
        if not pairs:
            return np.zeros((0, 2), dtype=np.float32)
        options = {"batch_size": self._config.batch_size, "show_progress_bar": False, "convert_to_numpy": True}
        if self._labels is None:
            support = np.asarray(self._model.predict(list(pairs), **options), dtype=np.float32).reshape(-1)
            return np.stack((support, np.zeros_like(support)), axis=1)
        every = np.asarray(self._model.predict(list(pairs), apply_softmax=True, **options), dtype=np.float32)
        return every[:, list(self._labels)]

    def _verdict_of(self, check: Check, windows: Sequence[str], scores: Floats) -> Verdict:
        if not windows:
            return Verdict(check.claim, "unsupported", score=0.0, reason="there is no passage")
        support, against = scores.max(axis=0)
        name: VerdictName = "unsupported"
        if against > support and against >= 0.5:
            name = "contradicted"
        elif support >= self._config.supported:
            name = "supported"
        quote = windows[int(scores[:, int(name == "contradicted")].argmax())] if name != "unsupported" else ""
        reason = f"support {support:.2f}, contradiction {against:.2f}"
        return Verdict(check.claim, name, quote, holders(quote, check.passages), round(float(support), 4), reason)


def _windows(check: Check) -> list[str]:
    """Return overlapping windows of sentences of each passage: long passages would be cut by the model."""
    windows = []
    for passage in check.passages:
        held = sentences(passage)
        last = max(1, len(held) - WINDOW_SENTENCES + 1)
        windows += [" ".join(held[start : start + WINDOW_SENTENCES]) for start in range(last)] if held else []
    return windows


def entailment_labels(config: Any) -> tuple[int, int] | None:
    """Return the columns of entailment and contradiction, or None for a model with a single score.

    Raises:
        ModelError: it has several labels and none is named so.
    """
    if config.num_labels == 1:
        return None
    names: Mapping[int, str] = {int(key): str(value).lower() for key, value in config.id2label.items()}
    columns = [next((k for k, name in names.items() if word in name), None) for word in ("entail", "contradict")]
    if columns[0] is None or columns[1] is None:
        raise ModelError(f"judge.model: has the labels {sorted(names.values())}; needed: entailment and contradiction")
    return columns[0], columns[1]


@lru_cache(maxsize=2)
def load(model: str, device: str) -> Any:
    """Return the loaded model; kept in the process.

    Raises:
        ModelError: it is not there or cannot be read.
    """
    from sentence_transformers import CrossEncoder as Loaded

    try:
        return Loaded(model, device=device)
    except (OSError, ValueError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelError(f"judge.model: cannot load {model!r} ({first}); give the folder of the model") from error
