"""A sentence-transformers model before its weights are read: where it is, its size, length limit, prompts, tokenizer.

Reading these from the folder's own files takes milliseconds; importing torch takes seconds. A sweep that finds all of
its vectors cached never pays them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bench.embedders import packages
from bench.embedders.base import Kind, clean
from bench.errors import ModelError, near
from bench.types import Ints

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

PACKAGED = ("minilm", "mpnet")
PROMPT_NAMES: dict[Kind, tuple[str, ...]] = {"query": ("query",), "passage": ("document", "passage", "corpus")}
PLAIN_MODULES = {"Transformer", "Pooling", "Normalize", "Dense"}


@dataclass(frozen=True, slots=True)
class Card:
    """What a model folder says. ``max_tokens`` counts special tokens; ``limit_tokens`` is the most it can be set to."""

    folder: Path
    dim: int
    max_tokens: int
    limit_tokens: int
    tokenizer: Tokenizer
    specials: int
    prompts: dict[str, str] = field(default_factory=dict)
    default_prompt: str | None = None

    def prompt(self, kind: Kind) -> str:
        """Return the model's own prompt for queries or passages; "" if it has none."""
        name = next((name for name in PROMPT_NAMES[kind] if name in self.prompts), self.default_prompt)
        return self.prompts.get(name, "") if name else ""

    def count(self, texts: Sequence[str]) -> Ints:
        """Return the tokens of each text, without special tokens or truncation."""
        codes = self.tokenizer.encode_batch_fast([clean(text) for text in texts], add_special_tokens=False)
        return np.fromiter((len(code.ids) for code in codes), dtype=np.int64, count=len(texts))


def resolve(model: str) -> Path:
    """Return the folder of a model: a packaged name, a local folder, or a hub name (what is stored here comes first).

    Raises:
        ModelError: it is none of them; the message holds the command that installs it.
    """
    if model in PACKAGED:
        return packages.require(model)
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
            raise ModelError(f"embedder.model: folder {model} holds no model (neither modules.json nor config.json)")
        return folder.resolve()
    return _hub(model)


def _hub(model: str) -> Path:
    from huggingface_hub import snapshot_download

    for name in (model, f"sentence-transformers/{model}"):
        try:
            return Path(snapshot_download(name, local_files_only=True))
        except (OSError, ValueError):
            continue
    problem = "the hub is switched off (HF_HUB_OFFLINE)"
    if os.environ.get("HF_HUB_OFFLINE", "0").lower() not in ("1", "true", "yes", "on"):
        try:
            read_weights(model, "cpu")
            return _hub_stored(model)
        except (ModelError, OSError, ValueError) as error:
            problem = str(error).splitlines()[0]
    raise ModelError(
        f"embedder.model: {model!r} is no folder and no stored model, and {problem}; "
        f"{near(model, PACKAGED)}, or a folder, or a hub name"
    )


def _hub_stored(model: str) -> Path:
    from huggingface_hub import snapshot_download

    name = model if "/" in model else f"sentence-transformers/{model}"
    return Path(snapshot_download(name, local_files_only=True))


def read_weights(model: str, device: str) -> SentenceTransformer:
    """Return the loaded model (imports torch).

    Raises:
        ModelError: its files do not make a model.
    """
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(model, device=device)
    except (OSError, ValueError, RuntimeError, KeyError, AttributeError, ImportError) as error:
        raise ModelError(f"model {model}: cannot be loaded ({str(error).splitlines()[0]})") from error


def read_card(folder: Path) -> Card:
    """Return the card of a model folder, from its files where their layout is a known one, else from the loaded model.

    Raises:
        ModelError: the folder's files do not make a model.
    """
    from tokenizers import Tokenizer

    dim, max_tokens = _dim(folder), _json(folder / "sentence_bert_config.json").get("max_seq_length")
    if not dim or not isinstance(max_tokens, int) or not (folder / "tokenizer.json").is_file():
        return _card_of_loaded(folder)
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the package raises nothing narrower
        raise ModelError(f"model file {folder / 'tokenizer.json'}: cannot be read ({error})") from error
    settings = _json(folder / "config_sentence_transformers.json")
    return Card(
        folder=folder,
        dim=dim,
        max_tokens=max_tokens,
        limit_tokens=max(max_tokens, _limit(folder)),
        tokenizer=_bare(tokenizer),
        specials=tokenizer.num_special_tokens_to_add(False),
        prompts=dict(settings.get("prompts") or {}),
        default_prompt=settings.get("default_prompt_name"),
    )


def _card_of_loaded(folder: Path) -> Card:
    from tokenizers import Tokenizer

    model = read_weights(str(folder), "cpu")
    backend = getattr(model.tokenizer, "backend_tokenizer", None)
    dim, length = model.get_embedding_dimension(), model.max_seq_length
    if backend is None or not dim or length is None or not np.isfinite(length):
        raise ModelError(f"model {folder}: states no tokenizer, dimension or length; save it anew")
    tokenizer = Tokenizer.from_str(backend.to_str())
    return Card(
        folder=folder,
        dim=dim,
        max_tokens=int(length),
        limit_tokens=max(int(length), _limit(folder)),
        tokenizer=_bare(tokenizer),
        specials=tokenizer.num_special_tokens_to_add(False),
        prompts={name: prompt or "" for name, prompt in model.prompts.items()},
        default_prompt=model.default_prompt_name,
    )


def _bare(tokenizer: Tokenizer) -> Tokenizer:
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _dim(folder: Path) -> int | None:
    """Length of the vectors, read from the modules' files; None where a module is of an unknown kind."""
    dim = None
    modules = _json(folder / "modules.json")
    for module in modules if isinstance(modules, list) else ():
        kind = str(module.get("type", "")).rpartition(".")[2]
        settings = _json(folder / str(module.get("path")) / "config.json")
        if kind not in PLAIN_MODULES:
            return None
        if kind == "Pooling" and "word_embedding_dimension" in settings:
            ways = sum(value is True for key, value in settings.items() if key.startswith("pooling_mode_"))
            dim = settings["word_embedding_dimension"] * ways
        elif kind == "Dense":
            dim = settings.get("out_features")
    return dim


def _limit(folder: Path) -> int:
    """Most tokens that positions allow, special ones counted; 0 if the folder does not say."""
    stated = _json(folder / "tokenizer_config.json").get("model_max_length")
    positions = _json(folder / "config.json").get("max_position_embeddings")
    return min((int(value) for value in (stated, positions) if isinstance(value, int | float)), default=0)


def _json(path: Path) -> Any:
    if not path.is_file():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"model file {path}: cannot be read ({str(error).splitlines()[0]})") from error
