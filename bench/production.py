"""The chosen chunking outside of a sweep: cuts documents of the user's own, as the configuration says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from bench.chunkers.base import Chunker, Tools
from bench.chunkers.run import chunk_corpus
from bench.config import build
from bench.corpus.load import load_documents
from bench.errors import ConfigError
from bench.replies import Endpoint
from bench.serve import open_chat
from bench.tokenize import get_tokenizer
from bench.types import Chunk, Document, Floats

REPLIES = Path(".cache/replies.sqlite")


@dataclass(frozen=True)
class Production:
    """A chunker with what it needs. ``html`` is how HTML is read: "source" or "markdown"."""

    chunker: Chunker
    tools: Tools
    html: str = "source"

    @classmethod
    def of(
        cls,
        chunker: Mapping[str, Any],
        embedder: Mapping[str, Any] | None = None,
        html: str = "source",
        replies: Path = REPLIES,
    ) -> Production:
        """Make it from plain settings; the embedder is loaded when a strategy first asks for vectors.

        A strategy that asks a language model asks it through the cache ``replies``.

        Raises:
            ConfigError: a setting is wrong.
        """
        built = build(DictConfig(dict(chunker)), "chunker")
        chat = open_chat(built.endpoint(), replies) if isinstance(built, Endpoint) else None
        return cls(built, Tools(get_tokenizer, _embed(embedder) if embedder else None, chat), html)

    @classmethod
    def read(cls, path: Path) -> Production:
        """Read a configuration file that ``bench decide`` wrote, or one of its shape.

        Raises:
            ConfigError: the file is missing, is not YAML, has no chunker, or a setting of it is wrong.
        """
        if not path.is_file():
            raise ConfigError(f"--config: {path} is not a file; bench decide results/<sweep> writes production.yaml")
        try:
            loaded = OmegaConf.load(path)
            config = OmegaConf.to_container(loaded, resolve=True)
        except (OmegaConfBaseException, OSError, ValueError) as error:
            raise ConfigError(f"{path}: {str(error).splitlines()[0]}") from error
        except Exception as error:
            if type(error).__module__.split(".")[0] != "yaml":
                raise
            raise ConfigError(f"{path}: is not YAML ({' '.join(str(error).split())})") from error
        if not isinstance(config, dict) or not isinstance(config.get("chunker"), dict):
            raise ConfigError(f"{path}: has no chunker; give a file that bench decide wrote")
        corpus = config.get("corpus") or {}
        return cls.of(config["chunker"], config.get("embedder"), str(corpus.get("html", "source")))

    def documents(self, folder: Path, include: Sequence[str] = ("**/*",)) -> tuple[Document, ...]:
        """Load the documents of a folder as a sweep loads them."""
        return load_documents(folder, include=include, html=self.html)

    def document(self, path: Path) -> Document:
        """Load one file; its id is its name."""
        return self.documents(path.parent, (path.name,))[0]

    def rows(self, document: Document) -> Iterator[dict[str, Any]]:
        """Cut one document: id, place, text of each chunk in order, and what is handed over where that differs."""
        return (_row(chunk, number) for number, chunk in enumerate(self._cut([document])))

    def _cut(self, documents: Iterable[Document]) -> Sequence[Chunk]:
        return chunk_corpus(self.chunker, documents, self.tools).chunks


def _row(chunk: Chunk, number: int) -> dict[str, Any]:
    place = chunk.span or chunk.delivered
    row: dict[str, Any] = {
        "chunk_id": f"{place.doc_id}:{place.start}-{place.end}#{number}" if place else f"#{number}",
        "doc_id": place.doc_id if place else None,
        "start": chunk.span.start if chunk.span else None,
        "end": chunk.span.end if chunk.span else None,
        "text": chunk.indexed_text,
    }
    if chunk.delivered is not None and chunk.delivered != chunk.span:
        row["context_start"], row["context_end"] = chunk.delivered.start, chunk.delivered.end
    if chunk.header:
        row["context_header"] = chunk.header
    return row


def _embed(settings: Mapping[str, Any]) -> Any:
    """Embed passages with a model that is loaded once, at the first call."""

    @lru_cache(maxsize=1)
    def load() -> Any:
        return build(DictConfig(dict(settings)), "embedder").load()

    def embed(texts: Sequence[str]) -> Floats:
        vectors: Floats = load().encode(texts, "passage")
        return vectors

    return embed
