"""Answers and verdicts of one sweep point: the sweep and ``bench answer`` both call ``Answering.run``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.generators.base import Generator
from bench.generators.base import Tools as GeneratorTools
from bench.judges.base import Judge
from bench.judges.base import Tools as JudgeTools
from bench.measures.answer_scores import answer_row, score_answers, vote_scores
from bench.measures.answered import Answered
from bench.replies import Answer, Case, Chat, Endpoint, Judgement, Usage
from bench.serve import open_chat
from bench.types import Context, Document, Floats, GoldenQuestion, Score
from bench.vectors import VectorMemo

Embed = Callable[[Sequence[str]], Floats]
ROUND = 4000


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """What answering brought for one point.

    Attributes:
        scores: question id to measure name to score.
        rows: question id to what ``questions.jsonl`` keeps of it.
        votes: question id to measure name to what each of the judge's votes alone gives, where they differ.
        usage: of generator and judge, as if nothing had been in a cache; ``sent`` is what really was sent.
        record: generator, judge, prompts, decline threshold, notes, whether both are one model.
    """

    scores: dict[str, dict[str, Score]]
    rows: dict[str, dict[str, Any]]
    usage: Usage
    record: dict[str, Any]
    votes: dict[str, dict[str, list[float]]] = field(default_factory=dict)


@dataclass
class Answering:
    """A generator and a judge, kept for all points of a sweep in one process: equal pairs are answered and judged once.

    Attributes:
        generator: a configured generator.
        judge: a configured judge.
        embed: vectors of passages for similarity, of one embedder for all points of the sweep (None: there is none).
        documents: the corpus, for revisions, planted instructions and gold contexts.
        supersedes: document id to the documents it replaces.
        replies: cache of replies (None: in memory).
    """

    generator: Generator
    judge: Judge
    documents: Mapping[str, Document]
    supersedes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    embed: Embed | None = None
    replies: Path | None = None
    _answers: dict[Any, Answer] = field(default_factory=dict, repr=False)
    _judgements: dict[Any, Judgement] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._memo = VectorMemo(self.embed) if self.embed is not None else None

    def run(
        self, questions: Sequence[GoldenQuestion], contexts: Sequence[Context], selection: Collection[str] = ()
    ) -> AnswerOutcome:
        """Answer and judge.

        Args:
            questions: golden questions.
            contexts: what was retrieved for each.
            selection: ids of the questions on which a decline threshold may be calibrated; empty: all of them.

        Raises:
            LimitReached: a limit of an endpoint stopped it; what was asked so far is in the cache of replies.
            ConfigError: a model or vectors are needed and missing.
        """
        if self.generator.golden_context:
            contexts = [gold_context(question, self.documents) for question in questions]
        generator, threshold = self._calibrated(questions, contexts, selection)
        answers = self._answer(generator, questions, contexts)
        judgements = self._judge(questions, contexts, answers)
        items = [self._item(*parts) for parts in zip(questions, contexts, answers, judgements, strict=True)]
        usage = sum((a.usage for a in answers), Usage()) + sum((j.usage for j in judgements), Usage())
        rows = {item.question.question_id: answer_row(item) for item in items}
        votes = {item.question.question_id: found for item in items if (found := vote_scores(item))}
        return AnswerOutcome(score_answers(items), rows, usage, self._record(threshold), votes)

    def _calibrated(
        self, questions: Sequence[GoldenQuestion], contexts: Sequence[Context], selection: Collection[str]
    ) -> tuple[Generator, dict[str, Any]]:
        """Return the generator with its decline threshold, and what that rests on."""
        calibrate = getattr(self.generator, "calibrate", None)
        if calibrate is None or getattr(self.generator, "threshold", 0.0) is not None:
            return self.generator, {}
        rows = [i for i, q in enumerate(questions) if not selection or q.question_id in selection]
        signals = self.generator.signals(  # type: ignore[attr-defined]
            [questions[i].text for i in rows], [contexts[i] for i in rows], GeneratorTools(self._memo)
        )
        generator, threshold = calibrate(signals, [questions[i].answerable for i in rows])
        on = {"calibrated_on": "selection split" if selection else "all questions"}
        return generator, {"threshold": asdict(threshold) | on}

    def _answer(
        self, generator: Generator, questions: Sequence[GoldenQuestion], contexts: Sequence[Context]
    ) -> list[Answer]:
        keys = [(repr(generator), q.text, c.passages) for q, c in zip(questions, contexts, strict=True)]
        missing = {key: i for i, key in enumerate(keys) if key not in self._answers}
        tools = GeneratorTools(self._memo, self._chat(generator))
        rows = list(missing.values())
        for start in range(0, len(rows), ROUND):
            some = rows[start : start + ROUND]
            made = generator.answer([questions[i].text for i in some], [contexts[i] for i in some], tools)
            self._answers.update(zip((keys[i] for i in some), made, strict=True))
        return _reused(keys, self._answers, set(missing))

    def _judge(
        self, questions: Sequence[GoldenQuestion], contexts: Sequence[Context], answers: Sequence[Answer]
    ) -> list[Judgement]:
        cases = [
            Case(question.text, context.passages, replace(answer, usage=Usage()), question.answer)
            for question, context, answer in zip(questions, contexts, answers, strict=True)
        ]
        missing = dict.fromkeys(case for case in cases if case not in self._judgements)
        if missing:
            if self._memo is not None:
                self._memo.prime(text for case in missing for text in (case.answer.text, case.reference) if text)
            found = self.judge.judge(list(missing), JudgeTools(self._memo, self._chat(self.judge)))
            self._judgements.update(
                (case, self._with_similarity(case, one)) for case, one in zip(missing, found, strict=True)
            )
        return _reused(cases, self._judgements, set(missing))

    def _with_similarity(self, case: Case, judgement: Judgement) -> Judgement:
        if self._memo is None or not case.reference or case.answer.status != "answered":
            return judgement
        vectors = self._memo([case.answer.text, case.reference])
        return replace(judgement, similarity=float(np.clip(vectors[0] @ vectors[1], 0.0, 1.0)))

    def _chat(self, configured: object) -> Chat | None:
        return open_chat(configured.endpoint(), self.replies) if isinstance(configured, Endpoint) else None

    def _item(self, question: GoldenQuestion, context: Context, answer: Answer, judgement: Judgement) -> Answered:
        gold = {span.doc_id for item in question.evidence for span in item.alternatives}
        older = frozenset().union(*(self.supersedes.get(doc_id, frozenset()) for doc_id in gold)) - gold
        return Answered(question, context, answer, judgement, older, self._canaries(question, context))

    def _canaries(self, question: GoldenQuestion, context: Context) -> frozenset[str]:
        """Return the canaries that the context really holds."""
        shown = {span.doc_id for span in context.spans if span is not None}
        known = [self.documents[doc_id].meta.get("canary") for doc_id in shown if doc_id in self.documents]
        words = {str(word) for word in (*known, question.meta.get("canary")) if word}
        return frozenset(w for w in words if any(w.casefold() in p.casefold() for p in context.passages))

    def _record(self, threshold: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "generator": describe(self.generator) | dict(threshold),
            "judge": describe(self.judge),
            "judge_is_generator": same_model(self.generator, self.judge),
        }


def describe(configured: Any) -> dict[str, Any]:
    """Return name, note, model and prompt versions of a generator or judge, as the record keeps them."""
    versions = ["prompt_version", "prompt_versions", "weights_version"]
    names = ["name", "note", "model", "golden_context", "votes", "phrasings", *versions]
    return {name: getattr(configured, name) for name in names if getattr(configured, name, None) not in (None, "")}


def same_model(generator: Any, judge: Any) -> bool:
    """True where one model judges its own answers: its scores then run high (Panickssery et al. 2024)."""
    if not isinstance(generator, Endpoint) or not isinstance(judge, Endpoint):
        return False
    ends = [(end.model, end.identity or end.base_url.rstrip("/")) for end in (generator, judge)]
    return ends[0] == ends[1]


def gold_context(question: GoldenQuestion, documents: Mapping[str, Document]) -> Context:
    """Return the gold evidence itself as context: the first alternative of each item, in order; no tokens counted."""
    spans = tuple(item.alternatives[0] for item in question.evidence)
    return Context(tuple(documents[s.doc_id].text[s.start : s.end] for s in spans), spans, 0)


def stratified(questions: Sequence[GoldenQuestion], count: int, seed: int = 0) -> list[GoldenQuestion]:
    """Return ``count`` questions, each category with its share (largest remainders), drawn by a seed; all if fewer."""
    if count >= len(questions):
        return list(questions)
    rng = np.random.default_rng(seed)
    groups: dict[str, list[int]] = {}
    for index, question in enumerate(questions):
        groups.setdefault(question.category, []).append(index)
    exact = {name: count * len(rows) / len(questions) for name, rows in groups.items()}
    take = {name: int(share) for name, share in exact.items()}
    rest = sorted(exact, key=lambda name: (take[name] - exact[name], name))[: count - sum(take.values())]
    chosen = [int(row) for name, rows in groups.items() for row in rng.permutation(rows)[: take[name] + (name in rest)]]
    return [questions[row] for row in sorted(chosen)]


def _reused(keys: Sequence[Any], known: Mapping[Any, Any], new: set[Any]) -> list[Any]:
    """Return what is known under the keys; what another point or question already had was not sent again."""
    found = []
    for key in keys:
        one = known[key]
        found.append(one if key in new else replace(one, usage=replace(one.usage, sent=0)))
        new.discard(key)
    return found
