"""What the points of one process share: the corpus, loaded models, caches."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from bench.answer import sampled
from bench.answer_forecast import forecast_answers, placeholder
from bench.answering import Answering
from bench.chunkers.asking import CountedChat
from bench.config import PointConfig, as_plain
from bench.corpus.config import Corpus
from bench.corpus.row import as_row
from bench.embedders.cache import CachedEmbedder, VectorCache
from bench.embedders.passages import cached
from bench.layout import Layout
from bench.paths import corpora_dir
from bench.points import point_id
from bench.replies import Endpoint, Forecast
from bench.serve import open_chat
from bench.settings import choose
from bench.store import to_json
from bench.tokenize import get_tokenizer

MEASURES_VERSION = "2"
"""Raised whenever a measure's definition changes: records of another version are not taken for this one's."""


@dataclass
class Session:
    """What the points of one process share: the corpus, its layout, loaded models, the vector cache.

    ``done`` maps what a result depends on (chunks, vectors, retrieval, scoring) to the point that has it; ``seen`` are
    the complete points whose records were read for that.
    """

    corpus: Corpus
    layout: Layout
    cache: VectorCache
    embedders: dict[str, CachedEmbedder] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    answerings: dict[str, Answering] = field(default_factory=dict)

    @classmethod
    def of(cls, point: PointConfig) -> Session:
        """Load what all points of the sweep of ``point`` share."""
        corpus = point.corpus.load(corpora_dir())
        layout = Layout.of(corpus.documents, get_tokenizer(point.tokenizer))
        return cls(corpus, layout, VectorCache(Path(point.sweep.cache)))

    @cached_property
    def texts(self) -> dict[str, str]:
        """Text of each document."""
        return {document.doc_id: document.text for document in self.corpus.documents}

    def embedder(self, point: PointConfig) -> CachedEmbedder:
        """The point's embedder behind the cache; its weights are read when a vector is missing.

        Raises:
            ModelError: the model is not there.
        """
        return self._loaded(point.embedder)

    def check(self, point: PointConfig) -> None:
        """Find the models and tokenizers that the point names.

        Raises:
            ModelError: one is not there.
            ConfigError: one has a name that nothing has.
        """
        self.embedder(point)
        get_tokenizer(getattr(point.chunker, "tokenizer", point.tokenizer))
        if point.names["generator"] != "none":
            self.named_embedder(point.answers.embedder)

    def _loaded(self, config: Any) -> CachedEmbedder:
        key = to_json(as_plain(config))
        if key not in self.embedders:
            self.embedders[key] = cached(config.load(), self.cache)
        return self.embedders[key]

    def answering(self, point: PointConfig) -> Answering:
        """The point's generator and judge, with what they have already said."""
        key = to_json([as_plain(point.generator), as_plain(point.judge)])
        if key not in self.answerings:
            likeness = self.named_embedder(point.answers.embedder)
            self.answerings[key] = Answering(
                point.generator,
                point.judge,
                {document.doc_id: document for document in self.corpus.documents},
                self.layout.supersedes,
                lambda texts: likeness.encode(texts, "passage"),
                replies_file(point),
            )
        return self.answerings[key]

    def chat(self, point: PointConfig) -> CountedChat | None:
        """The language model of a strategy that asks one, its replies kept beside the vectors."""
        if not isinstance(point.chunker, Endpoint):
            return None
        return CountedChat(open_chat(point.chunker.endpoint(), replies_file(point)))

    def forecast(self, point: PointConfig) -> dict[str, Forecast]:
        """What generator and judge of a point would send at most, its contexts taken as full."""
        questions = sampled(self.corpus.questions, point.answers.questions, point.seed)
        contexts = [placeholder(point.scoring.headline_tokens)] * len(questions)
        count = get_tokenizer(point.tokenizer).count
        return forecast_answers(questions, contexts, point.generator, point.judge, count)

    def named_embedder(self, name: str) -> CachedEmbedder:
        """The embedder of ``conf/embedder/<name>.yaml``, behind the cache."""
        return self._loaded(choose("embedder", (), name))

    def point_id(self, point: PointConfig) -> str:
        """Identity of a point: its configuration and the bytes that it runs on."""
        inputs = {"retriever": point.retriever.fingerprint} if point.retriever.fingerprint else {}
        inputs |= {
            "documents": self.corpus.sha256,
            "golden": self.corpus.golden_sha256,
            "embedder": self.embedder(point).fingerprint,
            "tokenizer": get_tokenizer(point.tokenizer).fingerprint,
            "measures": MEASURES_VERSION,
        }
        for part in (point.chunker, point.generator, point.judge):
            names = ("prompt_version", "prompt_versions", "weights_version")
            versions = {name: found for name in names if (found := getattr(part, name, ""))}
            inputs |= {f"versions of {type(part).__module__}": to_json(versions)} if versions else {}
        return point_id(point, inputs)

    def corpus_summary(self) -> dict[str, Any]:
        """What the sweep's header says of the corpus."""
        return {
            "name": self.corpus.name,
            "sha256": self.corpus.sha256,
            "golden_sha256": self.corpus.golden_sha256,
            "documents": len(self.corpus.documents),
            "characters": sum(len(text) for text in self.texts.values()),
            "questions": len(self.corpus.questions),
        }

    def golden_rows(self) -> list[dict[str, Any]]:
        """The golden questions as rows of our own format."""
        return [as_row(question, self.texts) for question in self.corpus.questions]


class Stopwatch:
    """Seconds of each named step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[step] = round(time.perf_counter() - start, 4)


def replies_file(point: PointConfig) -> Path:
    """The cache of language models' replies: beside the vectors."""
    return Path(point.sweep.cache).with_name("replies.sqlite")
