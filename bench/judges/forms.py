"""One spelling for what is written in several: figures, dates, years; and words that differ in their endings only."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from bench.sentences import stems

ALIKE = 0.7
START_CHARS = 4
_MONTH_NAMES = "January February March April May June July August September October November December"
_MONTHS = tuple(_MONTH_NAMES.split())
_SHORT_MONTHS = {month[:3]: month for month in _MONTHS} | {"Sept": "September"}
_ONES = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}

_Match = re.Match[str]
_RULES: tuple[tuple[re.Pattern[str], Callable[[_Match], str]], ...] = (
    (  # 2017-03-01
        re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(\d\d)(?!\d)"),
        lambda m: f"{int(m[3])} {_MONTHS[int(m[2]) - 1]} {m[1]}",
    ),
    (  # 2018-19
        re.compile(r"\b((?:1[5-9]|20)(\d\d)[–/-])(\d\d)(?![\d–/-])"),
        lambda m: f"{m[1]}{m[1][:2]}{m[3]}" if m[3] > m[2] else m[0],
    ),
    (  # Sept. 4
        re.compile(rf"\b({'|'.join(sorted(_SHORT_MONTHS, key=len, reverse=True))})\b\.?"),
        lambda m: _SHORT_MONTHS[m[1]],
    ),
    (  # twenty-five
        re.compile(rf"\b({'|'.join(_TENS)})(?:-({'|'.join(_ONES)}))?\b", re.IGNORECASE | re.ASCII),
        lambda m: str(_TENS[m[1].lower()] + _ONES.get((m[2] or "").lower(), 0)),
    ),
    (  # 9,50 as many languages write 9.50; 1.000.000
        re.compile(r"(?<![\d.,])(?:\d+,\d\d?|\d{1,3}(?:\.\d{3}){2,})(?![.,]?\d)"),
        lambda m: m[0].replace(".", "").replace(",", "."),
    ),
    (  # 9.50, 71.00
        re.compile(r"(?<![\d.,])(\d[\d,]*)\.(\d)0(?![.,]?\d)"),
        lambda m: m[1] if m[2] == "0" else f"{m[1]}.{m[2]}",
    ),
    (  # 2,500,000
        re.compile(r"(?<![\d.,])\d{1,3}(?:,?\d{3}){2,3}(?![.,]?\d)"),
        lambda m: _scaled(m[0]),
    ),
)


@lru_cache(maxsize=65536)
def plain(text: str) -> str:
    """Return ``text`` with its figures in one spelling, so that equal ones have equal words.

    Dates have the month as a word, years all digits, decimals a point and no zero at their end, round millions are in
    millions: "2017-03-01" is "1 March 2017", "2018-19" is "2018-2019", "2,500,000" is "2.5 million".
    """
    for pattern, spelling in _RULES:
        text = pattern.sub(spelling, text)
    return text


@lru_cache(maxsize=65536)
def forms(text: str) -> frozenset[str]:
    """Return the stems of ``text`` with its figures in one spelling, stop words too."""
    return stems(plain(text))


@lru_cache(maxsize=65536)
def by_start(text: str) -> Mapping[str, tuple[str, ...]]:
    """Return the stems of ``text`` by their first ``START_CHARS`` characters; no figures, no shorter words."""
    found: dict[str, list[str]] = {}
    for form in forms(text):
        if len(form) >= START_CHARS and not form[0].isdigit():
            found.setdefault(form[:START_CHARS], []).append(form)
    return {start: tuple(words) for start, words in found.items()}


def alike(word: str, others: Sequence[str]) -> float:
    """Return how much of ``word`` the most similar of ``others`` shares from its start; 0 below ``ALIKE``."""
    found = max(_shared_start(word, other) for other in others) if others else 0.0
    return found if found >= ALIKE else 0.0


@lru_cache(maxsize=65536)
def _shared_start(word: str, other: str) -> float:
    """Return the shared share of the longer of the two: "organis" and "organiz" share 6 of 7."""
    pairs = zip(word, other, strict=False)
    same = next((count for count, (a, b) in enumerate(pairs) if a != b), min(len(word), len(other)))
    return same / max(len(word), len(other))


def _scaled(number: str) -> str:
    """Return 2,500,000 as 2.5 million where one decimal says it all."""
    value = int(number.replace(",", ""))
    scale, name = (10**9, "billion") if value >= 10**9 else (10**6, "million")
    return f"{value / scale:g} {name}" if value and value % (scale // 10) == 0 else number
