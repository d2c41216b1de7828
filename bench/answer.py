"""Verb ``answer``: adds answers and verdicts to points that were only retrieved, from their stored hits."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bench.answering import Answering, AnswerOutcome, stratified
from bench.context import build_context, cut_tokens
from bench.corpus.golden import load_golden
from bench.embedders.cache import CachedEmbedder, VectorCache
from bench.errors import BenchError, ConfigError
from bench.generators.none import NoGenerator
from bench.layout import Layout
from bench.measures.estimate import estimates
from bench.replies import LimitReached
from bench.rows import score_value
from bench.settings import check_groups, choose
from bench.store import PointRecord, Sweep
from bench.tokenize import get_tokenizer
from bench.types import Context, GoldenQuestion, Hit, Score, Span

NOT_SAMPLED = Score(None, "undefined", "not in the sample that was answered")
STOPPED = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``bench answer``."""
    parser.add_argument("sweep", type=Path, help="folder that bench sweep wrote")
    parser.add_argument("settings", nargs="*", metavar="KEY=VALUE", help="of generator and judge, as for bench sweep")
    parser.add_argument("--points", default="top:5", help="front, top:N, all, or ids with commas between")
    parser.add_argument("--questions", default="all", help="all, or stratified:N: the same sample at every point")
    parser.add_argument("--embedder", default="minilm", help="embedder for similarity, or none")
    parser.add_argument("--cache", type=Path, default=Path(".cache"), help="folder of vectors and replies")
    parser.add_argument("--dry-run", action="store_true", help="print calls, tokens and price, and send nothing")


def run(arguments: argparse.Namespace) -> int:
    """Answer the chosen points; 0 when all are done, 3 when a limit stopped it."""
    check_groups(arguments.settings, ("generator", "judge"))
    sweep = Sweep.open(arguments.sweep)
    generator = choose("generator", arguments.settings, "extractive")
    if isinstance(generator, NoGenerator):
        raise ConfigError("generator=none: answers nothing; name another generator")
    work = _Work(sweep, generator, choose("judge", arguments.settings, "offline"), arguments)
    records = chosen_points(sweep, arguments.points)
    if arguments.dry_run:
        return work.forecast(records)
    for number, record in enumerate(records, 1):
        print(f"[{number}/{len(records)}] {record.point_id}  {record.label}", file=sys.stderr)
        try:
            work.answer(record)
        except LimitReached as limit:
            print(f"bench answer: {limit}", file=sys.stderr)
            return STOPPED
    return 0


class _Work:
    """The stored sweep, its questions and what answers them."""

    def __init__(self, sweep: Sweep, generator: Any, judge: Any, arguments: argparse.Namespace) -> None:
        self.sweep, self.header = sweep, sweep.header()
        documents = sweep.documents()
        self.questions = load_golden(sweep.folder / "golden.jsonl", documents)
        self.sample = sampled(self.questions, arguments.questions, int(self.header["seed"]))
        self.texts = {document.doc_id: document.text for document in documents}
        self.layout = Layout.of(documents, get_tokenizer(self.header["tokenizer"]))
        self.answering = Answering(
            generator,
            judge,
            {document.doc_id: document for document in documents},
            self.layout.supersedes,
            _embed(arguments.embedder, arguments.cache),
            arguments.cache / "replies.sqlite",
        )

    def contexts(self, rows: Sequence[Mapping[str, Any]]) -> list[Context]:
        """Return what each sampled question was given at the headline budget."""
        hits = {row["question_id"]: _hits(row["hits"]) for row in rows}
        budget = int(self.header["headline_tokens"])
        cuts = [cut_tokens(hits[question.question_id], budget, self.layout) for question in self.sample]
        return [build_context(cut, self.texts, self.layout) for cut in cuts]

    def answer(self, record: PointRecord) -> None:
        """Answer one point and write it again with what was added."""
        from bench.pipeline import selection_ids  # which calls this module for its points

        rows = self.sweep.questions(record)
        selection = selection_ids(self.sample, int(self.header["seed"]))
        outcome = self.answering.run(self.sample, self.contexts(rows), selection)
        run = self.sweep.run_text(record)
        self.sweep.write_point(merged_record(record, outcome), merged_rows(rows, outcome), run)

    def forecast(self, records: Sequence[PointRecord]) -> int:
        """Print what would be sent, at most."""
        from bench.answer_forecast import forecast_answers, shown

        count = get_tokenizer(self.header["tokenizer"]).count
        contexts = [context for record in records for context in self.contexts(self.sweep.questions(record))]
        questions = list(self.sample) * len(records)
        print(shown(forecast_answers(questions, contexts, self.answering.generator, self.answering.judge, count)))
        return 0


def merged_rows(rows: Sequence[Mapping[str, Any]], outcome: AnswerOutcome) -> list[dict[str, Any]]:
    """Return the rows of ``questions.jsonl`` with scores and answers added; ``undefined`` where not sampled."""
    names = next(iter(outcome.scores.values()), {})
    merged = []
    for row in rows:
        scores = outcome.scores.get(row["question_id"], dict.fromkeys(names, NOT_SAMPLED))
        values = {name: score_value(score) for name, score in scores.items()}
        name = row["question_id"]
        more = {"generation": outcome.rows[name]} if name in outcome.rows else {}
        voted = {"votes": outcome.votes[name]} if name in outcome.votes else {}
        kept = {key: value for key, value in row.items() if key != "votes"}
        merged.append({**kept, "scores": {**row["scores"], **values}, **voted, **more})
    return merged


def merged_record(record: PointRecord, outcome: AnswerOutcome) -> PointRecord:
    """Return the record with means, costs and origin of the answers added. It stands on its own from then on."""
    means = {name: asdict(estimate) for name, estimate in estimates(outcome.scores).items()}
    return replace(
        record,
        duplicate_of=None,
        estimates={**record.estimates, **means},
        cost={**record.cost, **answer_cost(outcome)},
        provenance={**record.provenance, "answers": outcome.record},
    )


def answer_cost(outcome: AnswerOutcome) -> dict[str, Any]:
    """Return tokens, calls and price of answers and verdicts, as if none had been in a cache."""
    usage = outcome.usage
    return {
        "llm_replies": usage.replies,
        "llm_sent": usage.sent,
        "llm_prompt_tokens": usage.prompt_tokens,
        "llm_completion_tokens": usage.completion_tokens,
        "price_usd": usage.price_usd if usage.replies else 0.0,
    }


def chosen_points(sweep: Sweep, choice: str) -> list[PointRecord]:
    """Return the complete points that ``choice`` names: ``front`` (recall against context tokens), ``top:N``, ids.

    Raises:
        BenchError: no such point, or none is complete.
    """
    headline = sweep.header()["headline"]
    complete = [record for record in sweep.records() if record.status == "complete"]
    ranked = sorted(complete, key=lambda r: (-(r.mean(headline) or 0.0), r.point_id))
    if choice.startswith("top:") and choice[4:].isdecimal():
        found = ranked[: int(choice[4:])]
    elif choice in ("all", "front"):
        found = complete if choice == "all" else _front(ranked, headline)
    else:
        known = {record.point_id: record for record in complete}
        wanted = [name.strip() for name in choice.split(",") if name.strip()]
        missing = [name for name in wanted if name not in known]
        if missing or not wanted:
            raise ConfigError(
                f"--points: got {choice!r}; allowed: front, top:N, all, or ids of complete points "
                f"({', '.join(list(known)[:5])}, ...)"
            )
        found = [known[name] for name in wanted]
    if not found:
        raise BenchError(f"{sweep.folder}: no complete point; run the sweep first")
    return found


def sampled(questions: Sequence[GoldenQuestion], choice: str, seed: int) -> list[GoldenQuestion]:
    """Return all questions, or a stratified sample of N.

    Raises:
        ConfigError: neither ``all`` nor ``stratified:N``.
    """
    kind, _, count = choice.partition(":")
    if kind == "stratified" and count.isdecimal() and int(count) > 0:
        return stratified(questions, int(count), seed)
    if choice != "all":
        raise ConfigError(f"--questions: got {choice!r}; allowed: all, stratified:N")
    return list(questions)


def _front(ranked: Sequence[PointRecord], headline: str) -> list[PointRecord]:
    """Return the points that no other beats in recall and in precision at the headline budget."""
    precision = headline.replace("span_recall", "span_precision")
    values = [(r.mean(headline) or 0.0, r.mean(precision) or 0.0) for r in ranked]
    beaten = [any(a >= c and b >= d and (a, b) != (c, d) for a, b in values) for c, d in values]
    return [record for record, worse in zip(ranked, beaten, strict=True) if not worse]


def _hits(rows: Sequence[Sequence[Any]]) -> list[Hit]:
    return [
        Hit(index, float(score), None if doc_id is None or low is None else Span(doc_id, low, high), *header)
        for index, (doc_id, _, _, score, low, high, *header) in enumerate(rows)
    ]


def _embed(name: str, cache: Path) -> Any:
    if name == "none":
        return None
    embedder = CachedEmbedder(choose("embedder", (), name).load(), VectorCache(cache / "vectors.sqlite"))
    return lambda texts: embedder.encode(texts, "passage")
