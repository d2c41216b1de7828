"""What the files of a sweep must hold, checked when they are read: what was edited or cut short is named at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.errors import StoreError

Shape = Mapping[str, type | tuple[type, ...]]

HEADER: Shape = {
    "corpus": dict, "created": str, "cuts": dict, "headline": str, "headline_tokens": int, "name": str,
    "points": list, "seed": int, "tokenizer": str,
}  # fmt: skip
RECORD: Shape = {
    "point_id": str, "label": str, "status": str, "axes": dict, "config": dict, "provenance": dict, "realised": dict,
    "timings_s": dict, "cost": dict, "estimates": dict,
}  # fmt: skip
ROW: Shape = {"question_id": str, "cluster": str, "hits": list, "scores": dict}
DOCUMENT: Shape = {"doc_id": str, "format": str, "text": str, "meta": dict}
GOLDEN: Shape = {"question_id": str}
DECISION: Shape = {
    "alike": list, "best": (dict, type(None)), "chosen": (dict, type(None)), "excluded": list, "options": dict,
    "points": list, "questions": dict, "records": list, "selection": dict, "verdict": (str, type(None)),
}  # fmt: skip


def check(found: Mapping[str, Any], shape: Shape, where: object, remedy: str) -> None:
    """Refuse what lacks a key of ``shape`` or has another kind of value there.

    Raises:
        StoreError: naming ``where``, the key, and what to do.
    """
    for name, kind in shape.items():
        if name not in found:
            raise StoreError(f"{where}: lacks {name!r}; {remedy}")
        if not isinstance(found[name], kind):
            kinds = kind if isinstance(kind, tuple) else (kind,)
            wanted = " or ".join(one.__name__ for one in kinds)
            raise StoreError(f"{where}: {name!r} is of type {type(found[name]).__name__}, not {wanted}; {remedy}")


def check_estimates(estimates: Mapping[str, Any], where: object, remedy: str) -> None:
    """Refuse estimates without a mean.

    Raises:
        StoreError: naming the measure.
    """
    for measure, found in estimates.items():
        mean = found.get("mean", "") if isinstance(found, dict) else ""
        if mean is not None and not isinstance(mean, int | float):
            raise StoreError(f"{where}: estimates of {measure!r} have no mean; {remedy}")
