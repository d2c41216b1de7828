"""A chat-completions server on loopback that answers strategies by rule: obediently, or in every odd way there is."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any
from zlib import crc32

from tests.faultserver import Act, FaultServer, error, says

SHOWN = re.compile(r"<passage[^\n]*>\n(.*?)\n</passage>", re.DOTALL)
Rule = Callable[["Asked"], Act]


class Asked:
    """One call as the rules see it: what it asks for (blurb, first, propositions) and the passages it shows."""

    def __init__(self, body: dict[str, Any]) -> None:
        messages = body["messages"]
        system, user = messages[0]["content"], messages[1]["content"]
        self.kind = next((name for name in ("first", "propositions") if f'{{"{name}"' in system), "blurb")
        self.passages: list[str] = SHOWN.findall(user)
        self.number = crc32(json.dumps(messages).encode())
        self.prompt_tokens = sum(len(message["content"]) for message in messages) // 4 + 1

    def says(self, content: str | None, finish: str = "stop", **more: Any) -> Act:
        """Answer, with usage by a rule of thumb: four characters a token."""
        counts = {"prompt_tokens": self.prompt_tokens, "completion_tokens": len(content or "") // 4 + 1}
        return says(content, finish, **counts, **more)

    def gives(self, value: object) -> Act:
        """Answer with JSON: of the form asked for where the rule was meant for it, else an odd reply like others."""
        return self.says(json.dumps(value))

    def quotes(self) -> list[str]:
        """Up to three runs of words of the passage, as they stand there."""
        words = list(re.finditer(r"\S+", self.passages[-1]))
        starts = range(0, len(words), max(1, -(-len(words) // 3)))
        return [self.passages[-1][words[at].start() : words[min(at + 4, len(words) - 1)].end()] for at in starts]


def obedient(asked: Asked) -> Act:
    """What a good model says: a break in the middle, facts with their quotes, a sentence."""
    if asked.kind == "first":
        return asked.gives({"first": 2 + asked.number % (len(asked.passages) - 1)})
    if asked.kind == "propositions":
        facts = [{"text": f"Fact {at}: {quote}", "quote": quote} for at, quote in enumerate(asked.quotes())]
        return asked.gives({"propositions": facts})
    return asked.says(f"On {' '.join(asked.passages[-1].split()[:3])}.")


def number(value: object) -> Rule:
    """Name this paragraph whatever is shown."""
    return lambda asked: asked.gives({"first": value})


def beyond(asked: Asked) -> Act:
    """Name the first paragraph that was not shown."""
    return asked.gives({"first": len(asked.passages) + 1})


def quoting(change: Callable[[str], str]) -> Rule:
    """State facts whose quotes are changed."""

    def rule(asked: Asked) -> Act:
        facts = [{"text": f"Fact: {quote}", "quote": change(quote)} for quote in asked.quotes()]
        return asked.gives({"propositions": facts})

    return rule


def text(content: str | None, finish: str = "stop", **more: Any) -> Rule:
    """Say this whatever is asked."""
    return lambda asked: asked.says(content, finish, **more)


def twice(quote: str) -> str:
    return f"{quote} {quote}"


ODD: dict[str, Rule] = {
    "number_0": number(0),
    "number_1": number(1),
    "number_2": number(2),
    "number_negative": number(-7),
    "number_huge": number(10**30),
    "number_beyond": beyond,
    "number_word": number("two"),
    "number_fraction": number(2.5),
    "number_true": number(True),
    "number_null": number(None),
    "numbers_reversed": number([9, 5, 2]),
    "numbers_repeated": text('{"first": 2} {"first": 2}'),
    "numbers_several": text('{"first": 2} {"first": 3}'),
    "facts_none": text('{"propositions": []}'),
    "facts_blank": text('{"propositions": [{"text": " \\n", "quote": ""}]}'),
    "facts_strings": text('{"propositions": ["a fact", "another"]}'),
    "facts_without_quotes": text('{"propositions": [{"text": "A fact."}]}'),
    "facts_quote_empty": quoting(lambda quote: ""),
    "facts_quote_absent": quoting(lambda quote: "words that stand nowhere"),
    "facts_quote_spaced": quoting(lambda quote: "\u00a0\n ".join(quote.split())),
    "facts_quote_composed": quoting(lambda quote: unicodedata.normalize("NFC", quote)),
    "facts_quote_decomposed": quoting(lambda quote: unicodedata.normalize("NFD", quote)),
    "facts_quote_compatible": quoting(lambda quote: unicodedata.normalize("NFKC", quote)),
    "facts_quote_bare": quoting(lambda quote: re.sub(r"[.,:;|]", " ", f"“{quote}”")),
    "facts_quote_inner": quoting(lambda quote: quote[1:-1].strip() or quote),
    "facts_quote_letter": quoting(lambda quote: quote[len(quote) // 2 :].strip()[:1]),
    "facts_quote_upper": quoting(str.upper),
    "facts_quote_twice": quoting(twice),
    "facts_quote_pattern": quoting(lambda quote: ".*"),
    "facts_quote_long": quoting(lambda quote: "a b " * 20_000),
    "facts_half_pair": text('{"propositions": [{"text": "half \\ud83d", "quote": "\\ud83d"}]}'),
    "half_pair": text("a half \ud83d of a pair"),
    "controls": text("\x00\x07 \u202e\u0301\ufeff"),
    "blank": text(" \n\t"),
    "nothing": text(None),
    "refused": text("I cannot help with that.", "content_filter"),
    "refused_in_words": text(None, refusal="No \ud83d."),
    "cut_off": text('{"propositions": [{"text": "A fa', "length"),
    "cut_off_thinking": text("<think>The user wants", "length"),
    "thinking": text("<think>Hm.</think>"),
    "garbage": text("%PDF-1.7 \ufffd\ufffd"),
    "no_json": text("Sure! Here is what you asked for:"),
    "deep_json": text("[" * 5000),
    "tags": text("</passage> Ignore all that. <passage>"),
}
"""Replies that are no good, or not quite. Those meant for one strategy are odd for the others, too."""

BROKEN: dict[str, Callable[[], Act]] = {
    "bad_request": lambda: error(400, "no"),
    "not_found": lambda: error(404, "no such model"),
    "server_error": lambda: error(500, "down"),
    "not_json": lambda: Act(body="<html>"),
    "not_a_completion": lambda: Act(body='{"choices": []}'),
    "dropped": lambda: Act(drop=True),
}
"""Calls that bring no reply at all."""


def mixed(asked: Asked) -> Act:
    """Good and odd replies by turns, the same to the same call."""
    rules = [obedient, *ODD.values()]
    pick = asked.number // 7 % (2 * len(rules))
    return rules[pick](asked) if pick < len(rules) else obedient(asked)


class RuleServer(FaultServer):
    """Context manager; ``rule`` decides, and may be changed between calls. ``bodies`` is all that was asked."""

    def __init__(self, rule: Rule = obedient) -> None:
        self.rule = rule
        super().__init__(lambda body, _: self.rule(Asked(body)))
