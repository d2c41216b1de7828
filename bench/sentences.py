"""Sentences, clauses and words of a text: what generators and judges reason about."""

from __future__ import annotations

import re
from functools import lru_cache

_WRAPPED = re.compile(r"(?<=[^\s.!?:;|])\n(?=[ \t]*[a-z])")
_MARKS = re.compile(r"^(?:[#>*+\-\s|]|\d+[.)]\s)+|[\s|]+$")


@lru_cache(maxsize=65536)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of ``text`` in order, without white space, list marks or heading marks at their ends.

    Lines end sentences, except where a line goes on in lower case: that is a wrapped paragraph. Boundaries are
    those of the ``sentencex`` package.
    """
    import sentencex

    joined = _WRAPPED.sub(" ", text).replace("\n", "\n\n")
    pieces = (_MARKS.sub("", piece) for piece in sentencex.segment("en", joined))
    return tuple(piece for piece in pieces if any(c.isalnum() for c in piece))
