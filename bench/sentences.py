"""Sentences and words of a text: what generators and judges reason about. Deterministic, no model."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal["number", "name", "word"]

_WRAPPED = re.compile(r"(?<=[^\s.!?:;|])\n(?=[ \t]*[a-z])")
_MARKS = re.compile(r"^(?:(?:[#>*+\-|]|\d+[.)])\s+|\|)+|[\s|]+$")
_WORD = re.compile(
    r"\d+(?:[.,]\d+)*"
    r"|[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]+"
    r"|[^\W\d_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]+(?:['’][^\W\d_]+)*"
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_SUFFIXES = ("ingly", "edly", "ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ment", "ness", "ed", "es")
_SUFFIXES_LAST = ("ly", "s", "e")
_NUMBER_WORDS = """zero - two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty"""
_NUMBERS = {word: str(value) for value, word in enumerate(_NUMBER_WORDS.split()) if word != "-"}
_STOP_WORDS = """
    a an the and or but if then than that this these those of in on at by for with from to into as is are was
    were be been being it its he she they them his her their i you we our my me us do does did done has have had having
    not no nor so such also there here which who whom whose what when where while will would can could may might shall
    should must about over under after before during between through up down out off again more most other some any each
    both all own same only very just one first how why"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
NEGATIONS = frozenset({"not", "no", "never", "without", "neither", "nor", "none", "cannot"})


@dataclass(frozen=True, slots=True)
class Word:
    """A content word: its stem, and whether it is a number, a name (capitalised inside a sentence) or a word."""

    stem: str
    kind: Kind


@lru_cache(maxsize=65536)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of ``text`` in order, without white space, list marks or heading marks at their ends.

    Lines end sentences, except where a line goes on in lower case: that is a wrapped paragraph. Boundaries inside a
    line are those of the ``sentencex`` package.
    """
    import sentencex

    lines = _WRAPPED.sub(" ", text).replace("\n", "\n\n")
    pieces = (_MARKS.sub("", piece).strip() for piece in sentencex.segment("en", lines))
    return tuple(piece for piece in pieces if any(c.isalnum() for c in piece))


@lru_cache(maxsize=262144)
def stem(word: str) -> str:
    """Return a light stem: lower case, no possessive, no common English ending, digits without grouping commas."""
    word = word.lower().replace("’", "'").removesuffix("'s")
    if word[:1].isdigit():
        return word.replace(",", "")
    if word in _NUMBERS:
        return _NUMBERS[word]
    for suffix in (*_SUFFIXES, *_SUFFIXES_LAST):
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)]
    return word


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[str, ...]:
    """Return the words and numbers of ``text`` as written (NFKC), in order.

    Scripts without spaces between words give overlapping pairs of characters.
    """
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text)):
        if len(word) > 2 and _UNSPACED.match(word):
            found += [word[i : i + 2] for i in range(len(word) - 1)]
        else:
            found.append(word)
    return tuple(found)


@lru_cache(maxsize=131072)
def stems(text: str) -> frozenset[str]:
    """Return the stems of all words and numbers of ``text``, stop words too."""
    return frozenset(stem(word) for word in tokens(text))


@lru_cache(maxsize=65536)
def content_words(text: str) -> tuple[Word, ...]:
    """Return the distinct content words of ``text`` in order of first use."""
    found: dict[str, Word] = {}
    for position, word in enumerate(tokens(text)):
        root = stem(word)
        if word.lower().removesuffix("'s") in STOP_WORDS and not root[:1].isdigit():
            continue
        inner_capital = word[0].isupper() and (position > 0 or not (len(word) == 1 or word[1:].islower()))
        kind: Kind = "number" if root[:1].isdigit() else "name" if inner_capital else "word"
        found.setdefault(root, Word(root, kind))
    return tuple(found.values())


def negated(text: str) -> bool:
    """True if ``text`` holds a negation: not, no, never, n't ..."""
    return any(
        word in NEGATIONS or word.endswith("n't") for word in (t.lower().replace("’", "'") for t in tokens(text))
    )
