"""Language models behind OpenAI-compatible endpoints: one client, one cache of replies, one forecast."""

from bench.llm.cache import ReplyCache
from bench.llm.client import Client
from bench.llm.forecast import forecast

__all__ = ["Client", "ReplyCache", "forecast"]
