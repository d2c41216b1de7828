"""The wire format of chat completions: what is sent, what servers refuse, what a reply means."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from bench.replies import Endpoint, Reply, Request, State, Usage

REPAIR = "Your reply was not the JSON object that was asked for. Reply again with that object alone, no prose"
LEAST_SHARE = 0.8
_THINK = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_WORDS = re.compile(r"[^\W_]+")
_TRUNCATED, _REFUSED = ("length",), ("content_filter",)


@dataclass(frozen=True, slots=True)
class Habits:
    """What an endpoint was found to accept: form of JSON (json_schema, json_object, none) and its other fields."""

    json_form: str = "json_schema"
    temperature: bool = True
    seed: bool = True
    length_field: str = "max_tokens"


def body(endpoint: Endpoint, request: Request, habits: Habits) -> dict[str, Any]:
    """Return the JSON body of one call."""
    sent: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [{"role": role, "content": content} for role, content in request.messages],
    }
    if habits.temperature:
        sent["temperature"] = endpoint.temperature
    if habits.seed:
        sent["seed"] = request.variant
    if habits.length_field:
        sent[habits.length_field] = request.max_tokens or endpoint.max_tokens
    if request.form is not None and habits.json_form == "json_schema":
        schema = {"name": request.form.__name__, "strict": True, "schema": schema_of(request.form)}
        sent["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.form is not None and habits.json_form == "json_object":
        sent["response_format"] = {"type": "json_object"}
    return sent


def schema_of(form: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of ``form``, closed and without titles, as strict servers want it."""
    schema = form.model_json_schema()
    schema["additionalProperties"] = False
    schema.pop("title", None)
    schema.pop("description", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)
    return schema


def adapt(habits: Habits, sent: Mapping[str, Any], status: int, message: str) -> Habits | None:
    """Return habits without the field that the server refused, or None if its error is about something else."""
    lower = message.lower()
    change: dict[str, Any] = {}
    if "max_completion_tokens" in lower and habits.length_field == "max_tokens":
        change["length_field"] = "max_completion_tokens"
    elif status < 500 and habits.length_field and habits.length_field in lower:
        change["length_field"] = ""
    elif status < 500 and "temperature" in lower and "temperature" in sent:
        change["temperature"] = False
    elif status < 500 and "seed" in lower and "seed" in sent:
        change["seed"] = False
    elif "response_format" in sent and (
        status >= 500 or any(w in lower for w in ("response_format", "schema", "json"))
    ):
        change["json_form"] = "json_object" if habits.json_form == "json_schema" else "none"
    if not change:
        return None
    return Habits(**{name: change.get(name, getattr(habits, name)) for name in Habits.__slots__})


def read(payload: Any, request: Request, sent: Mapping[str, Any], endpoint: Endpoint) -> Reply:
    """Return the reply that a response body holds. A body of another form is a failed reply, never an exception."""
    try:
        choice = payload["choices"][0]
        message = choice["message"]
        content, finish = message.get("content"), choice.get("finish_reason")
        refusal = message.get("refusal")
        usage = _usage(payload.get("usage"), endpoint)
    except (KeyError, IndexError, TypeError, AttributeError):
        return Reply("failed", reason="the reply is not a chat completion", raw=str(payload)[:2000])
    text = _whole(content) if isinstance(content, str) else ""
    answer = _THINK.sub("", text).strip()
    state, reason = _state(answer, content, finish, refusal, usage, request)
    fields = {name: value for name, value in sent.items() if name != "messages"}
    return Reply(state, answer if state == "ok" else "", None, reason, usage, fields, text)


def _state(answer: str, content: Any, finish: Any, refusal: Any, usage: Usage, request: Request) -> tuple[State, str]:
    if finish in _REFUSED or refusal:
        return "refused", _whole(str(refusal or "content filter"))[:500]
    if finish in _TRUNCATED:
        return "truncated", "the reply reached its length limit"
    counted = sum(len(_WORDS.findall(text)) for _, text in request.messages)
    if 0 < usage.prompt_tokens < LEAST_SHARE * counted:
        return "prompt_cut", f"the server read {usage.prompt_tokens} tokens of a prompt of {counted} words"
    if not answer:
        return "empty", "no content" if content is None else "empty content"
    return "ok", ""


def _usage(given: Any, endpoint: Endpoint) -> Usage:
    counts = given if isinstance(given, Mapping) else {}
    prompt, completion = (_count(counts.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    known = bool(counts)
    return Usage(1, 1, prompt, completion, endpoint.price_usd(prompt, completion) if known else None)


def _whole(text: str) -> str:
    """Return ``text`` as UTF-8 can hold it: half a surrogate pair, which models do write, becomes ``?``."""
    return text.encode("utf-8", "replace").decode()


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def parse(text: str, form: type[BaseModel]) -> BaseModel | str:
    """Return the one object of ``text`` that has the form asked for, or what is wrong.

    Objects in code fences and in prose are found. Two different ones are no answer: one of them may be quoted from a
    document.
    """
    found: dict[str, BaseModel] = {}
    problem = "no JSON object"
    decoder = json.JSONDecoder()
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
            value = json.loads(_whole(json.dumps(value, ensure_ascii=False)))
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        try:
            checked = form.model_validate(value, strict=True)
            found[checked.model_dump_json()] = checked
        except ValidationError as error:
            problem = f"not of the form asked for: {error.errors()[0]['msg']}"
        at = text.find("{", end)
    if len(found) == 1:
        return next(iter(found.values()))
    return f"{len(found)} different objects" if found else problem
