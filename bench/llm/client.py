"""Asks a model many things at once: bounded concurrency, patient retries, every reply kept."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import Any
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel
from tenacity import AsyncRetrying, RetryCallState, stop_after_attempt, wait_random_exponential

from bench.llm.cache import ReplyCache, key_of
from bench.llm.post import Fault, certificates, post
from bench.llm.wire import REPAIR, Habits, adapt, body, parse, read, schema_of
from bench.replies import Endpoint, LimitReached, Reply, Request, Usage

LOOPBACK = ("127.0.0.1", "localhost", "::1")
ADAPTATIONS = 4


Job = tuple[asyncio.AbstractEventLoop, "asyncio.Task[Any] | None"]


class Client:
    """One endpoint with its limits, its habits and its cache. Keep one for a whole sweep: it counts what is spent."""

    def __init__(self, endpoint: Endpoint, cache: ReplyCache | None = None) -> None:
        self.endpoint = endpoint
        self.cache = ReplyCache(None) if cache is None else cache
        self.calls = 0
        self.cost_usd = 0.0
        self._habits = Habits()
        self._form_works = False
        self._job: Job | None = None
        self._held_usd = 0.0
        self._backoff = wait_random_exponential(multiplier=0.5, max=endpoint.max_wait_s)
        self._lock = threading.Lock()

    def key(self, request: Request) -> str:
        """Key of a request in the cache: model, endpoint, messages, parameters and form of the reply."""
        end = self.endpoint
        return key_of(
            {
                "endpoint": end.identity or end.base_url.rstrip("/"),
                "model": end.model,
                "messages": request.messages,
                "temperature": end.temperature,
                "max_tokens": request.max_tokens or end.max_tokens,
                "form": schema_of(request.form) if request.form else None,
                "variant": request.variant,
            }
        )

    def cached(self, request: Request) -> Reply | None:
        """Return the stored reply of ``request``, or None."""
        stored = self.cache.get(self.key(request))
        return None if stored is None else _restore(stored, request)

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        """Return one reply a request, in order; equal requests are sent once. Faults are states, not exceptions.

        Raises:
            LimitReached: ``max_calls`` or ``max_cost_usd`` stopped it; the replies so far are in the cache.
            StoreError: a reply cannot be kept.
        """
        keys = [self.key(request) for request in requests]
        known: dict[str, Reply] = {}
        missing: dict[str, Request] = {}
        for key, request in zip(keys, requests, strict=True):
            stored = self.cache.get(key) if key not in known and key not in missing else None
            if stored is not None:
                known[key] = _restore(stored, request)
            elif key not in known:
                missing.setdefault(key, request)
        if missing:
            known |= self._run(missing)
            self._check_complete(len(missing), sum(key in known for key in missing))
        return _share(keys, known)

    def _run(self, missing: dict[str, Request]) -> dict[str, Reply]:
        """Send from a thread of its own, so that a caller's event loop is no obstacle; an interrupt cancels it."""
        with self._lock, ThreadPoolExecutor(1) as thread:
            future = thread.submit(asyncio.run, self._send_all(missing))
            try:
                return future.result()
            except BaseExceptionGroup as several:
                raise several.exceptions[0] from several  # a full disk is one fault, to however many tasks
            except BaseException:
                if self._job is not None and self._job[1] is not None:
                    with contextlib.suppress(RuntimeError):
                        self._job[0].call_soon_threadsafe(self._job[1].cancel)
                raise

    def _check_complete(self, wanted: int, done: int) -> None:
        if done < wanted:
            end = self.endpoint
            limit = "max_calls" if end.max_calls is not None and self.calls >= end.max_calls else "max_cost_usd"
            spent = f"{self.calls} calls" + (f", {self.cost_usd:.4f} USD" if end.priced else "")
            raise LimitReached(
                f"{limit}: reached after {spent}; {wanted - done} of {wanted} calls were not sent; "
                "run the same command to go on (each run has the limit anew), or raise the limit"
            )

    async def _send_all(self, missing: dict[str, Request]) -> dict[str, Reply]:
        end = self.endpoint
        timeout = httpx.Timeout(end.read_timeout_s, connect=end.connect_timeout_s, pool=None)
        limits = httpx.Limits(max_connections=end.max_concurrency, max_keepalive_connections=end.max_concurrency)
        outside = urlsplit(end.base_url).hostname not in LOOPBACK
        waiting = deque(missing.items())
        done: dict[str, Reply] = {}
        self._job = (asyncio.get_running_loop(), asyncio.current_task())
        async with httpx.AsyncClient(timeout=timeout, limits=limits, trust_env=outside, verify=certificates()) as http:

            async def work() -> None:
                while waiting:
                    if not self._affords(waiting[0][1]):
                        return
                    key, request = waiting.popleft()
                    done[key] = await self._settle(http, key, request)

            async with asyncio.TaskGroup() as tasks:
                for _ in range(min(end.max_concurrency, len(missing))):
                    tasks.create_task(work())
        return done

    def _affords(self, request: Request) -> bool:
        """Take one call, and the most it can cost, out of what is left; False where the limits forbid it."""
        end = self.endpoint
        worst = self._worst_usd(request)
        if end.max_calls is not None and self.calls >= end.max_calls:
            return False
        if end.max_cost_usd is not None and self.cost_usd + self._held_usd + worst > end.max_cost_usd:
            return False
        self.calls += 1
        self._held_usd += worst
        return True

    def _worst_usd(self, request: Request) -> float:
        characters = sum(len(content) for _, content in request.messages)
        return self.endpoint.price_usd(characters, request.max_tokens or self.endpoint.max_tokens) or 0.0

    async def _settle(self, http: httpx.AsyncClient, key: str, request: Request) -> Reply:
        """Send, repair once where the JSON is no good, and store. Failed calls are not stored: a rerun tries again."""
        reply = await self._send(http, request)
        self._release(request, reply)
        if request.form is not None and reply.state == "ok":
            reply = _checked(reply, request.form)
            if reply.state == "invalid_json":
                reply = await self._repair(http, request, request.form, reply)
        if reply.state != "failed":
            self.cache.put(key, self.endpoint.model, _plain(reply))
        return reply

    def _release(self, request: Request, reply: Reply) -> None:
        self._held_usd -= self._worst_usd(request)
        self.cost_usd += reply.usage.price_usd or 0.0

    async def _repair(self, http: httpx.AsyncClient, request: Request, form: type[BaseModel], first: Reply) -> Reply:
        again = replace(request, messages=(*request.messages, ("assistant", first.raw), ("user", REPAIR)))
        if not self._affords(again):
            return first
        second = await self._send(http, again)
        self._release(again, second)
        usage = replace(first.usage + second.usage, replies=1)
        second = _checked(second, form) if second.state == "ok" else second
        if second.state == "ok":
            return replace(second, usage=usage)
        return replace(first, usage=usage, raw=f"{first.raw}\n---\n{second.raw}")

    async def _send(self, http: httpx.AsyncClient, request: Request) -> Reply:
        """Return the reply to one call, retried while that may help, adapted to fields that the server refuses."""
        for _ in range(ADAPTATIONS):
            habits = self._habits
            sent = body(self.endpoint, request, habits)
            try:
                reply = read(await self._post(http, sent), request, sent, self.endpoint)
            except Fault as fault:
                status = 0 if fault.status >= 500 and self._form_works else fault.status
                better = adapt(habits, sent, status, fault.message) if status else None
                if better is None:
                    return Reply("failed", reason=str(fault))
                self._habits = better if self._habits == habits else self._habits
            else:
                self._form_works = self._form_works or "response_format" in sent
                return reply
        return Reply("failed", reason="the server refused every form of the call")

    async def _post(self, http: httpx.AsyncClient, sent: dict[str, Any]) -> Any:
        """Post with retries. A 5xx to a form of JSON that never worked is tried twice only: it may be that form."""

        def again(state: RetryCallState) -> bool:
            fault = state.outcome.exception() if state.outcome else None
            if not isinstance(fault, Fault) or not fault.may_pass:
                return False
            doubtful = fault.status >= 500 and "response_format" in sent and not self._form_works
            return not (doubtful and state.attempt_number >= 2)

        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.endpoint.retries + 1), wait=self._wait_s, retry=again, reraise=True
        )
        return await retrying(post, http, self.endpoint, sent)

    def _wait_s(self, state: RetryCallState) -> float:
        fault = state.outcome.exception() if state.outcome else None
        asked = fault.wait_s if isinstance(fault, Fault) else None
        return min(asked, self.endpoint.max_wait_s) if asked is not None else self._backoff(state)


def _checked(reply: Reply, form: type[BaseModel]) -> Reply:
    parsed = parse(reply.text, form)
    if isinstance(parsed, str):
        return replace(reply, state="invalid_json", text="", reason=parsed)
    return replace(reply, data=parsed)


def _plain(reply: Reply) -> dict[str, Any]:
    return {
        "state": reply.state,
        "text": reply.text,
        "reason": reply.reason,
        "usage": asdict(reply.usage),
        "sent": reply.sent,
        "raw": reply.raw,
    }


def _restore(stored: dict[str, Any], request: Request) -> Reply:
    usage = Usage(**{**stored["usage"], "sent": 0})
    reply = Reply(stored["state"], stored["text"], None, stored["reason"], usage, stored["sent"], stored["raw"])
    return _checked(reply, request.form) if request.form is not None and reply.state == "ok" else reply


def _share(keys: Sequence[str], known: dict[str, Reply]) -> list[Reply]:
    """Return the replies in order; a reply used twice was sent once."""
    seen: set[str] = set()
    replies = []
    for key in keys:
        reply = known[key]
        replies.append(replace(reply, usage=replace(reply.usage, sent=0)) if key in seen else reply)
        seen.add(key)
    return replies
