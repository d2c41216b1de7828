"""One HTTP call to a chat endpoint: what went wrong, whether it may pass, and how long the server asks to wait."""

from __future__ import annotations

import json
import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any

import httpx

from bench.replies import Endpoint

MAY_PASS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class Fault(Exception):
    """A call that brought no reply.

    Attributes:
        status: HTTP status, 0 for a fault of the connection.
        message: what the server said.
        wait_s: seconds that the server asks to wait, None where it does not.
        may_pass: whether another try can help.
    """

    def __init__(self, reason: str, status: int = 0, message: str = "", wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.status, self.message, self.wait_s = status, message, wait_s

    @property
    def may_pass(self) -> bool:
        return self.status == 0 or self.status in MAY_PASS


@lru_cache(maxsize=1)
def certificates() -> ssl.SSLContext:
    """Return what servers are checked against; read once, for that takes longer than many a call."""
    return httpx.create_ssl_context()


async def post(http: httpx.AsyncClient, endpoint: Endpoint, sent: dict[str, Any]) -> Any:
    """Return the body of the reply, parsed. The key is sent to the endpoint alone: redirects are not followed.

    Raises:
        Fault: no connection, a time-out, an error status, or a body that is not JSON.
    """
    key = endpoint.key() or ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        response = await http.post(f"{endpoint.base_url.rstrip('/')}/chat/completions", json=sent, headers=headers)
    except (httpx.TransportError, UnicodeEncodeError) as error:
        raise Fault(_without(key, f"{type(error).__name__}: {error}")) from None
    text = _without(key, response.text)
    if response.status_code != 200:
        message = text[:2000]
        reason = f"HTTP {response.status_code}: {_first(message)}"
        raise Fault(reason, response.status_code, message, retry_after_s(response.headers.get("retry-after")))
    try:
        return json.loads(text)
    except ValueError:
        raise Fault(f"HTTP 200, but the body is not JSON: {_first(text)}") from None


def retry_after_s(value: str | None) -> float | None:
    """Return the seconds of a Retry-After header, given as seconds or as a date; None where there is none."""
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def _without(key: str, text: str) -> str:
    return text.replace(key, "***") if key else text


def _first(text: str) -> str:
    return " ".join(text.split())[:300]
