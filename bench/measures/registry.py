"""What a measure is, and the table of all of them. A measure without its parameters is a family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bench.errors import ConfigError, near
from bench.types import Cuts

Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True)
class Measure:
    """Definition of a family of measures.

    Attributes:
        name: the family, such as ``span_recall``.
        unit: ``share``, ``tokens``, ...
        low: smallest possible value (None: no bound). With ``high`` it bounds what failed questions could do to a mean.
        high: largest possible value (None: no bound).
        better: direction.
        undefined: when a question has no value (empty: never).
        source: paper, package or rule that it follows.
        cuts: parameters it takes: ``k`` (first k chunks), ``tokens`` (filled to exactly so many), ``whole`` (chunks
            that fit whole in so many tokens). Empty: the family is the full name.
        fixed: the only value of the parameter, where it has just one.
    """

    name: str
    unit: str = "share"
    low: float | None = 0.0
    high: float | None = 1.0
    better: Better = "higher"
    undefined: str = ""
    source: str = ""
    cuts: tuple[str, ...] = ()
    fixed: int | None = None

    def names(self, cuts: Cuts) -> list[str]:
        """Return its full names at the given cuts."""
        if not self.cuts:
            return [self.name]
        sizes = {"k": cuts.ks, "tokens": cuts.tokens, "whole": cuts.tokens}
        return [
            full_name(self.name, cut, size)
            for cut in self.cuts
            for size in ((self.fixed,) if self.fixed is not None else sizes[cut])
        ]


MEASURES: dict[str, Measure] = {}


def register(*measures: Measure) -> None:
    """Add families to the table.

    Raises:
        ConfigError: a family of that name is there with another definition.
    """
    for measure in measures:
        if MEASURES.setdefault(measure.name, measure) != measure:
            raise ConfigError(f"measure {measure.name!r} is defined twice; give one of them another name")


def full_name(family: str, cut: str, size: int) -> str:
    """Return the identity of a measure, such as ``span_recall@tokens=2000``."""
    return f"{family}@{cut}={size}"


def find(name: str) -> Measure:
    """Return the family of a full name.

    Raises:
        ConfigError: there is no such family, or its parameter is missing, unknown or not a whole number.
    """
    family, _, parameter = name.partition("@")
    if family not in MEASURES:
        raise ConfigError(f"measure {name!r} is unknown; {near(family, MEASURES)}")
    measure = MEASURES[family]
    cut, _, size = parameter.partition("=")
    takes = bool(measure.cuts)
    right = (cut in measure.cuts and size.isdecimal() and int(size) > 0) if takes else not parameter and "@" not in name
    if not right:
        wanted = " or ".join(f"{family}@{cut}={measure.fixed or 'N'}" for cut in measure.cuts) or family
        raise ConfigError(f"measure {name!r} is not a full name; write {wanted}")
    return measure


def names(cuts: Cuts) -> list[str]:
    """Return the full names of every registered measure at the given cuts."""
    return [name for measure in MEASURES.values() for name in measure.names(cuts)]
