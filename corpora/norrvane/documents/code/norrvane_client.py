"""Client for the Siding API, version 3.

The module is what our own integration team uses. It is published for customers as it is, under no warranty,
and has one dependency (``requests``). It covers bookings, wagons and tracking; invoices and claims are left out.

Typical use::

    client = SidingClient.from_environment()
    booking = client.create_booking(lane="L05", departure=when, wagons=[Wagons("K52", 4, 58.0, "NHM 9902")])
    client.wait_until(booking["id"], {"confirmed", "refused"})
"""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import requests

BASE_URL = "https://api.norrvane.example/v3"
RETRYABLE_STATUS = frozenset({429, 502, 503, 504})
TOKEN_MARGIN_S = 90
"""A token is renewed this long before it ends, so that no request is sent with a token about to die."""

MAX_PAGE = 200


class SidingError(Exception):
    """An error answer of the API.

    Attributes:
        code: The ``SID-`` code, or ``"SID-0000"`` if the answer had no readable body.
        status: HTTP status.
        request_id: Value of ``X-Request-Id``; quote it when you write to the API desk.
    """

    def __init__(self, code: str, status: int, message: str, request_id: str | None) -> None:
        super().__init__(f"{code} ({status}): {message} [request {request_id or 'unknown'}]")
        self.code = code
        self.status = status
        self.request_id = request_id


class CreditLimitReached(SidingError):
    """Raised for SID-2501 and SID-2502. Never retried: somebody has to pay first."""


class FeeTooHigh(SidingError):
    """Raised for SID-2207, when a cancellation would cost more than ``max_fee``."""


@dataclass(frozen=True)
class Wagons:
    """One entry of a booking.

    Attributes:
        type: Wagon type of the catalogue, for example ``"C20"``.
        count: 1 to 40.
        gross_t: Gross weight of one wagon in tonnes, tare included.
        commodity: NHM code.
        un: UN number with letters, only for dangerous goods.
    """

    type: str
    count: int
    gross_t: float
    commodity: str
    un: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the entry as the API expects it; weights are rounded to one decimal, half up."""
        body: dict[str, Any] = {
            "type": self.type,
            "count": self.count,
            "gross_t": int(self.gross_t * 10 + 0.5) / 10,
            "commodity": self.commodity,
        }
        if self.un:
            body["un"] = self.un
        return body


class SidingClient:
    """A synchronous client. It is not safe to share one between threads; make one for each."""

    def __init__(
        self,
        client_id: str,
        client_secret: str,
        base_url: str = BASE_URL,
        timeout_s: float = 20.0,
        max_attempts: int = 4,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client_id = client_id
        self._client_secret = client_secret
        self._base_url = base_url.rstrip("/")
        self._timeout_s = timeout_s
        self._max_attempts = max_attempts
        self._sleep = sleep
        self._session = requests.Session()
        self._token: str | None = None
        self._token_ends = 0.0

    @classmethod
    def from_environment(cls) -> SidingClient:
        """Make a client from ``SIDING_ID``, ``SIDING_SECRET`` and, if set, ``SIDING_URL``.

        Raises:
            KeyError: If one of the first two is missing.
        """
        return cls(os.environ["SIDING_ID"], os.environ["SIDING_SECRET"], os.environ.get("SIDING_URL", BASE_URL))

    def _bearer(self) -> str:
        if self._token is None or time.monotonic() > self._token_ends - TOKEN_MARGIN_S:
            answer = self._session.post(
                self._base_url.removesuffix("/v3") + "/oauth/token",
                data={"grant_type": "client_credentials"},
                auth=(self._client_id, self._client_secret),
                timeout=self._timeout_s,
            )
            answer.raise_for_status()
            body = answer.json()
            self._token = str(body["access_token"])
            self._token_ends = time.monotonic() + float(body["expires_in"])
        return self._token

    def request(self, method: str, path: str, **kwargs: Any) -> Any:
        """Send one request, with retries, and return the decoded body.

        Pauses grow as 0.75 s times two to the attempt, with jitter of up to 20 %, and never exceed 30 s. A
        ``Retry-After`` header wins over the computed pause, even when it is longer than 30 s.

        Raises:
            SidingError: When the API refuses, or when all attempts are used up.
        """
        headers = dict(kwargs.pop("headers", {}))
        if method == "POST":
            headers.setdefault("Idempotency-Key", uuid.uuid4().hex)
        for attempt in range(self._max_attempts):
            headers["Authorization"] = f"Bearer {self._bearer()}"
            answer = self._session.request(
                method, self._base_url + path, headers=headers, timeout=self._timeout_s, **kwargs
            )
            if answer.status_code == 401 and attempt == 0:
                self._token = None
                continue
            if answer.status_code in RETRYABLE_STATUS and attempt + 1 < self._max_attempts:
                self._sleep(self._pause_s(attempt, answer.headers.get("Retry-After")))
                continue
            return self._decode(answer)
        raise SidingError("SID-0000", 0, "no attempt was made", None)

    @staticmethod
    def _pause_s(attempt: int, retry_after: str | None) -> float:
        if retry_after is not None:
            return float(retry_after)
        return min(30.0, 0.75 * 2**attempt * random.uniform(1.0, 1.2))

    @staticmethod
    def _decode(answer: requests.Response) -> Any:
        if answer.ok:
            return answer.json() if answer.content else None
        try:
            body = answer.json()
        except ValueError:
            body = {}
        code = str(body.get("code", "SID-0000"))
        kinds: dict[str, type[SidingError]] = {
            "SID-2501": CreditLimitReached,
            "SID-2502": CreditLimitReached,
            "SID-2207": FeeTooHigh,
        }
        kind = kinds.get(code, SidingError)
        raise kind(code, answer.status_code, str(body.get("message", "")), answer.headers.get("X-Request-Id"))

    def create_booking(self, lane: str, departure: datetime, wagons: list[Wagons], **fields: Any) -> dict[str, Any]:
        """Create a booking and return it.

        Raises:
            ValueError: If ``departure`` has no time zone. The API would answer SID-1009, but we want the traceback
                to point at the caller.
        """
        if departure.tzinfo is None:
            raise ValueError("departure needs a time zone")
        body = {"lane": lane.upper(), "departure": departure.isoformat(), "wagons": [w.as_json() for w in wagons]}
        return dict(self.request("POST", "/bookings", json=body | fields))

    def cancel(self, booking_id: str, max_fee: float | None = None) -> None:
        """Cancel a booking; with ``max_fee`` only if the fee is not above it."""
        params = {} if max_fee is None else {"max_fee": f"{max_fee:.2f}"}
        self.request("DELETE", f"/bookings/{booking_id}", params=params)

    def bookings(self, **filters: str) -> Iterator[dict[str, Any]]:
        """Yield bookings, newest first, page by page.

        A page is asked for only when the one before has been used up. If this takes longer than ten minutes the
        cursor has expired, and the generator raises SidingError with code SID-1021.
        """
        cursor: str | None = None
        while True:
            params = filters | {"limit": str(MAX_PAGE)} | ({"cursor": cursor} if cursor else {})
            page = self.request("GET", "/bookings", params=params)
            yield from page["items"]
            cursor = page.get("next")
            if not cursor:
                return

    def release(self, wagon_id: str) -> None:
        """Release a wagon. A wagon that was released before (SID-2302) is not an error here."""
        try:
            self.request("POST", f"/wagons/{wagon_id}/release")
        except SidingError as error:
            if error.code != "SID-2302":
                raise

    def wait_until(self, booking_id: str, states: set[str], limit_s: float = 900.0) -> dict[str, Any]:
        """Poll a booking until it is in one of ``states``.

        Polls every 2 s for the first minute and every 15 s afterwards. Prefer webhooks for anything that runs
        unattended.

        Raises:
            TimeoutError: After ``limit_s`` seconds.
        """
        began = time.monotonic()
        while (waited := time.monotonic() - began) < limit_s:
            booking = dict(self.request("GET", f"/bookings/{booking_id}"))
            if booking["state"] in states:
                return booking
            self._sleep(2.0 if waited < 60 else 15.0)
        raise TimeoutError(f"{booking_id} not in {sorted(states)} after {limit_s:.0f} s")
