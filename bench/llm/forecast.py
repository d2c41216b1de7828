"""What a run would send, without sending it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import SupportsInt

from bench.replies import Endpoint, Forecast, Request

Count = Callable[[Sequence[str]], Iterable[SupportsInt]]
MESSAGE_TOKENS = 4


def forecast(endpoint: Endpoint, requests: Sequence[Request], count: Count) -> Forecast:
    """Return calls, tokens and price of ``requests``, each sent once.

    Args:
        endpoint: its prices and the limit of a reply.
        requests: what would be asked.
        count: tokens of each text, in any tokenizer; a few are added for the marks between messages.
    """
    texts = [content for request in requests for _, content in request.messages]
    prompt = sum(int(n) for n in count(texts)) + MESSAGE_TOKENS * len(texts) if texts else 0
    completion = sum(request.max_tokens or endpoint.max_tokens for request in requests)
    return Forecast(len(requests), prompt, completion, endpoint.price_usd(prompt, completion))
