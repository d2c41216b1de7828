"""What answering would send: calls, tokens and price, before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.judges.base import Tools
from bench.llm import forecast
from bench.llm.forecast import Count
from bench.replies import Answer, Case, Endpoint, Forecast, Reply, Request, Usage
from bench.types import Context, GoldenQuestion

CLAIMS_EACH = 3
ANSWER_WORDS = 60


class _Notebook:
    """Takes requests down and answers each with what it was asked for, so that a judge asks all that it would ask."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        self.requests += requests
        return [Reply("ok", "", _filled(request), usage=Usage()) for request in requests]


def _filled(request: Request) -> Any:
    if request.form is None:
        return None
    blank = {"claims": ["claim"] * CLAIMS_EACH, "questions": ["question"] * CLAIMS_EACH, "quote": "", "reason": ""}
    more = {"verdict": "supported", "grade": 0, "useful": False, "rating": 1}
    return request.form.model_validate({k: v for k, v in {**blank, **more}.items() if k in request.form.model_fields})


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


def shown(found: dict[str, Forecast]) -> str:
    """Return the forecast as lines of text."""
    lines = []
    for name, one in {**found, "together": found["generator"] + found["judge"]}.items():
        price = (
            "price unknown (set the prices of the endpoint)" if one.price_usd is None else f"{one.price_usd:.4f} USD"
        )
        lines.append(
            f"{name}: {one.calls} calls, {one.prompt_tokens} prompt tokens, "
            f"at most {one.completion_tokens} completion tokens, {price}"
        )
    return "\n".join([*lines, "nothing was sent"])
