"""What cutting and answering would send: calls, tokens and price, before anything is sent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bench.chunkers.asking import Asking
from bench.chunkers.base import Tools as CuttingTools
from bench.judges.base import Tools
from bench.llm import forecast
from bench.llm.forecast import Count
from bench.replies import Answer, Case, Endpoint, Forecast, Reply, Request, Usage
from bench.tokenize import get_tokenizer
from bench.types import Context, Document, GoldenQuestion

CLAIMS_EACH = 3
ANSWER_WORDS = 60


class _Notebook:
    """Takes requests down and answers each with what it was asked for, so that all is asked that would be.

    ``silent``: answers with nothing, after which a strategy asks least.
    """

    def __init__(self, silent: bool = False) -> None:
        self.requests: list[Request] = []
        self._silent = silent

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        self.requests += requests
        return [Reply("ok", "", None if self._silent else _filled(request), usage=Usage()) for request in requests]


def _filled(request: Request) -> Any:
    """Return the data of a reply; of breaks the nearest one, after which most is asked."""
    if request.form is None:
        return None
    blank = {"claims": ["claim"] * CLAIMS_EACH, "questions": ["question"] * CLAIMS_EACH, "quote": "", "reason": ""}
    more = {"verdict": "supported", "grade": 0, "useful": False, "rating": 1, "first": 2, "propositions": []}
    return request.form.model_validate({k: v for k, v in {**blank, **more}.items() if k in request.form.model_fields})


class Cutting:
    """What the strategies of a sweep would send; equal calls of several points once.

    Attributes:
        total: of all strategies added: exact, or the most where ``bound``.
        bound: the number of calls of some strategy depends on the replies.
    """

    def __init__(self, documents: Sequence[Document], count: Count) -> None:
        self.total, self.bound = Forecast(), False
        self._documents, self._count = documents, count
        self._known: set[tuple[Endpoint, Request]] = set()

    def add(self, chunker: Any) -> str:
        """Cut the documents without a model; return what this takes in words, "" where it asks none."""
        if not isinstance(chunker, Asking):
            return ""
        endpoint, asked = chunker.endpoint(), self._asked(chunker)
        fresh = [request for request in asked if (endpoint, request) not in self._known]
        self._known.update((endpoint, request) for request in fresh)
        self.total += forecast(endpoint, fresh, self._count)
        self.bound |= chunker.follows
        least = f"{len(self._asked(chunker, silent=True))} to " if chunker.follows else ""
        return f"{least}{len(asked)} calls to cut"

    def _asked(self, chunker: Any, silent: bool = False) -> list[Request]:
        notebook = _Notebook(silent)
        for document in self._documents:
            chunker.cut(document, CuttingTools(get_tokenizer, chat=notebook))
        return list(dict.fromkeys(notebook.requests))


def forecast_answers(
    questions: Sequence[GoldenQuestion], contexts: Sequence[Context], generator: Any, judge: Any, count: Count
) -> dict[str, Forecast]:
    """Return what generator and judge would send, apart; equal calls once, completions at their greatest length.

    Where a judge finds claims by a model, three an answer are taken for granted.

    Args:
        questions: one a context; repeated for every point.
        contexts: real ones, or placeholders of the budget's size.
        generator: a configured generator.
        judge: a configured judge.
        count: tokens of texts.
    """
    found = {"generator": Forecast(), "judge": Forecast()}
    if isinstance(generator, Endpoint):
        asked = generator.requests([q.text for q in questions], contexts)  # type: ignore[attr-defined]
        found["generator"] = forecast(generator, list(dict.fromkeys(asked)), count)
    if isinstance(judge, Endpoint):
        words = " ".join(["word"] * ANSWER_WORDS)
        cases = [
            Case(q.text, c.passages, Answer(f"{words} [1]."), q.answer)
            for q, c in zip(questions, contexts, strict=True)
        ]
        notebook = _Notebook()
        judge.judge(list(dict.fromkeys(cases)), Tools(None, notebook))  # type: ignore[attr-defined]
        found["judge"] = forecast(judge, list(dict.fromkeys(notebook.requests)), count)
    return found


def placeholder(tokens: int, passages: int = 5) -> Context:
    """Return a context of about so many tokens, for a forecast before anything is retrieved."""
    each = " ".join(["word"] * max(1, tokens // passages))
    return Context((each,) * passages, (None,) * passages, tokens)


def shown(found: Mapping[str, Forecast], bounds: Collection[str] = ()) -> str:
    """Return the forecast as lines of text.

    Args:
        found: what each part would send.
        bounds: parts whose calls are a bound: their number depends on the replies.
    """
    lines = []
    for name, one in {**found, "together": sum(found.values(), Forecast())}.items():
        price = (
            "price unknown (set the prices of the endpoint)" if one.price_usd is None else f"{one.price_usd:.4f} USD"
        )
        most = "at most " if name in bounds or (bounds and name == "together") else ""
        lines.append(
            f"{name}: {most}{one.calls} calls, {one.prompt_tokens} prompt tokens, "
            f"at most {one.completion_tokens} completion tokens, {price}"
        )
    return "\n".join([*lines, "nothing was sent; a reply that is not the JSON asked for is asked for once more"])
