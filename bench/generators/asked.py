"""What kind of thing an English question asks for, and whether a sentence holds one: a date, count, measure, price.

Questions of any other form, or in another language, ask for nothing in particular: every sentence may answer them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from bench.sentences import STOP_WORDS, stem, tokens

Kind = Literal["date", "count", "number", "measure", "price"]

_VERB = r"(?:is|are|was|were|did|do|does|has|have|had|will|would|can|could|must|may|should)"
_PAY = r"\b(?:costs?|pay|paid|charged?|fees?|money|spent)\b"
_FORMS: dict[Kind, str] = {
    "date": rf"\bwhen (?:{_VERB}\b|$)|\b(?:what|which) (?:year|date|day|month|century|decade)\b",
    "count": r"\bhow many\b",
    "measure": r"\bhow (?:long|far|old|high|fast|deep|wide|tall|heavy)\b",
    "price": rf"\bhow much\b.*{_PAY}|\bwhat\b.*\bcosts?\b"
    r"|\b(?:what|which) (?:is|are|was|were) the (?:\w+ )?(?:price|fee|cost)\b",
    "number": rf"\bhow much\b(?!.*{_PAY})|\bhow (?:often|large|big)\b"
    r"|\b(?:what|which) (?:percentage|percent|share|proportion|population)\b",
}
_PATTERNS = {kind: re.compile(form, re.IGNORECASE) for kind, form in _FORMS.items()}
_COUNTED = re.compile(r"\bhow many ((?:\S+\s?){1,4})", re.IGNORECASE)
_WORDS = "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty"
_NUMBER = re.compile(
    rf"^(?:\d|(?:{'|'.join(_WORDS.split())}|hundred|thousand|million|billion|dozen|half|twice|once|several)$)", re.I
)
_MONEY = re.compile(
    r"[$€£¥]\s?\d|\bfree of charge\b|\bno (?:fee|charge)|\d\s(?:m|b)illion\b|\b(?:eur|usd|gbp|chf|nok|sek)\s?\d"
    r"|\d[\d.,]*\s?(?:million |billion |thousand )?(?:eur|usd|gbp|chf|euros?|dollars?|pounds?|cents?|yen|francs?)\b",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"\d[\d.,]*\s?-?(?:ms|s|sec|seconds?|min|minutes?|h|hours?|days?|weeks?|months?|years?|decades?|centur\w+|m|met\w+"
    r"|km|kilomet\w+|miles?|feet|foot|ft|inch\w*|cm|mm|kg|tonnes?|tons?|t|g|acres?|hectares?|degrees?|percent|[kmg]i?b"
    r"|bytes?|lit\w+|mph|kw|mw|v|volts?)\b|\d\s?[%°]|\ban? (?:second|minute|hour|day|week|month|year)\b|\b(?:"
    + "|".join(_WORDS.split())
    + r")\s\w",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?:1\d{3}|20\d\d)s?\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|midnight|noon|\w+ century|daily|weekly|monthly|yearly)\b"
    r"|\b\d\d?:\d\d\b|\b\d+(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
_AFTER = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for.

    Attributes:
        kinds: none where the form of the question does not tell; several where it asks for several things.
        counted: stems of the words after "how many".
        said: stems of all words of the question: what it names itself is no answer to it.
    """

    kinds: frozenset[Kind]
    counted: frozenset[str]
    said: frozenset[str]

    def held_by(self, sentence: str) -> bool:
        """True if the sentence holds something of a kind that is asked for, and that the question does not name."""
        return not self.kinds or any(self._holds(kind, sentence) for kind in self.kinds)

    def _holds(self, kind: Kind, sentence: str) -> bool:
        if kind == "date" and any(stem(match.group()) not in self.said for match in _DATE.finditer(sentence)):
            return True
        words = tokens(sentence)
        numbers = [i for i, word in enumerate(words) if _NUMBER.match(word) and stem(word) not in self.said]
        if kind == "number" or not numbers or "|" in sentence:  # a table's heading has the unit
            return bool(numbers) or (kind == "price" and bool(_MONEY.search(sentence)))
        if kind == "count":
            near = ({stem(word) for word in words[i + 1 : i + 1 + _AFTER]} for i in numbers)
            return any(self.counted & some for some in near)
        return bool((_MONEY if kind == "price" else _MEASURE).search(sentence))


@lru_cache(maxsize=8192)
def asked(question: str) -> Asked:
    """Return what the form of a question asks for."""
    text = question.strip().rstrip("?？ ")
    kinds: frozenset[Kind] = frozenset(kind for kind, form in _PATTERNS.items() if form.search(text))
    found = _COUNTED.search(text)
    counted = [word for word in tokens(found[1]) if word.lower() not in STOP_WORDS] if found else []
    return Asked(kinds, frozenset(map(stem, counted)), frozenset(stem(word) for word in tokens(question)))
