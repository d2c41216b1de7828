"""Words of any language, as an index of words sees them. No stop words and no stemming: those are one language's."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import pairwise

import regex

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
_TERM = regex.compile(
    rf"(?V1)(?P<unspaced>[{_UNSPACED}][{_UNSPACED}\p{{M}}]*)"
    rf"|\p{{Nd}}+(?:[.,]\p{{Nd}}+)+"
    rf"|[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]+"
)
_CHARACTER = regex.compile(r"\X")


@lru_cache(maxsize=65536)
def terms(text: str) -> tuple[str, ...]:
    """Return the terms of ``text`` in order: NFKC, case folded.

    A term is a run of letters, marks and digits; a number keeps its points and commas ("4.20"). Scripts without spaces
    between words, and Korean, give overlapping pairs of characters (as Lucene's CJKAnalyzer); Thai, Lao, Khmer and
    Burmese pairs are of grapheme clusters.
    """
    found: list[str] = []
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    for match in _TERM.finditer(folded):
        if match["unspaced"] is None:
            found.append(match[0])
        else:
            characters = _CHARACTER.findall(match[0])
            found += [a + b for a, b in pairwise(characters)] or characters
    return tuple(found)
