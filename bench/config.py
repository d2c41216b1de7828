"""From Hydra's configuration to typed dataclasses: below this module nobody sees a DictConfig."""

from __future__ import annotations

import dataclasses
import importlib
import re
from dataclasses import dataclass, field
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import (
    ConfigKeyError,
    ConfigTypeError,
    InterpolationKeyError,
    MissingMandatoryValue,
    OmegaConfBaseException,
    ValidationError,
)

from bench.context import ORDERS
from bench.errors import ConfigError, near


@dataclass(frozen=True)
class SweepSettings:
    """Where a sweep is kept. ``name`` defaults to the experiment's, else to a hash of the sweep."""

    name: str = ""
    results: str = "results"
    cache: str = ".cache/vectors.sqlite"
    description: str = ""


@dataclass(frozen=True)
class Scoring:
    """What the points of a sweep are scored on: cuts, rules, and the one measure that ranks them.

    ``relevance`` is the least gold that makes a chunk relevant for the rank measures: 0 for one character, up to 1
    a share of an evidence item, above 1 a number of characters.
    """

    ks: list[int] = field(default_factory=lambda: [1, 3, 5, 10, 20])
    budgets_tokens: list[int] = field(default_factory=lambda: [128, 256, 512, 1024, 2000, 4096])
    headline_tokens: int = 2000
    rules: str = "standard"
    relevance: float = 0.0

    def __post_init__(self) -> None:
        for name, values in (("ks", self.ks), ("budgets_tokens", self.budgets_tokens)):
            if not values or any(value < 1 for value in values) or len(set(values)) < len(values):
                raise ConfigError(f"scoring.{name}: got {list(values)}; allowed: distinct whole numbers of at least 1")
        if self.headline_tokens not in self.budgets_tokens:
            raise ConfigError(
                f"scoring.headline_tokens: {self.headline_tokens} is not one of scoring.budgets_tokens "
                f"{list(self.budgets_tokens)}; add it there"
            )
        if self.rules not in ("standard", "chroma"):
            raise ConfigError(f"scoring.rules: got {self.rules!r}; {near(self.rules, ['standard', 'chroma'])}")
        if not 0 <= self.relevance < float("inf"):
            raise ConfigError(f"scoring.relevance: got {self.relevance}; allowed: 0 or more")

    @property
    def headline(self) -> str:
        """Full name of the measure that ranks the points."""
        return f"span_recall@tokens={self.headline_tokens}"


@dataclass(frozen=True)
class AnswerSettings:
    """Which questions are answered, and whose vectors tell the likeness of sentences: the same for every point.

    ``questions`` is "all" or "stratified:N", a seeded sample with every category's share. ``order`` is that of the
    passages in the context, see ``bench.context.ORDERS``.
    """

    questions: str = "all"
    embedder: str = "static"
    order: str = "rank"

    def __post_init__(self) -> None:
        if not re.fullmatch(r"all|stratified:0*[1-9][0-9]*", self.questions):
            raise ConfigError(f"answers.questions: got {self.questions!r}; allowed: all, or stratified:N with N from 1")
        if self.order not in ORDERS:
            raise ConfigError(f"answers.order: got {self.order!r}; {near(self.order, ORDERS)}")


@dataclass(frozen=True)
class PointConfig:
    """One point of a sweep, typed. Each ``Any`` is a dataclass of a configured class.

    ``names`` maps each group to the ``name`` of the chosen file (the class's name where the file sets none).
    """

    sweep: SweepSettings
    scoring: Scoring
    tokenizer: str
    seed: int
    corpus: Any
    chunker: Any
    embedder: Any
    index: Any
    retriever: Any
    generator: Any
    judge: Any
    answers: AnswerSettings
    names: dict[str, str]


SETTINGS = tuple(one.name for one in dataclasses.fields(PointConfig) if one.name != "names")
GROUPS = ("corpus", "chunker", "embedder", "index", "retriever", "generator", "judge")


def as_plain(instance: Any) -> dict[str, Any]:
    """Return a configured dataclass as plain values, with the class it came from under ``_target_``."""
    kind = type(instance)
    return {"_target_": f"{kind.__module__}.{kind.__qualname__}", **dataclasses.asdict(instance)}


def locate(target: str, where: str) -> Any:
    """Import the object that a dotted name points at.

    Raises:
        ConfigError: there is no such module or attribute.
    """
    module, _, name = target.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"{where}: cannot import {target!r} ({error}); give a dotted name that Python can import"
        ) from error


def build(node: DictConfig, where: str) -> Any:
    """Make the dataclass named by ``_target_`` from the other keys of ``node``, types checked.

    Raises:
        ConfigError: unknown key (near names are suggested), wrong type, missing value, or values that the
            class itself refuses.
    """
    values = {key: _unescaped(value) if "separator" in key else value for key, value in _resolved(node, where).items()}
    target = values.pop("_target_", None)
    if not isinstance(target, str):
        raise ConfigError(f"{where}: has no _target_; name the class that it configures")
    kind = locate(target, f"{where}._target_")
    if not dataclasses.is_dataclass(kind):
        raise ConfigError(f"{where}._target_: {target} is not a dataclass; use {where}=custom for a class of your own")
    return typed(kind, values, where)  # type: ignore[arg-type]


def typed(kind: type[Any], values: dict[str, Any], where: str) -> Any:
    """Make ``kind`` (a dataclass) from plain values through OmegaConf's structured configs.

    Raises:
        ConfigError: as for ``build``.
    """
    fields = [f.name for f in dataclasses.fields(kind)]
    if "name" not in fields:
        values = {key: value for key, value in values.items() if key != "name"}
    unknown = [key for key in values if key not in fields]
    if unknown:
        raise ConfigError(f"{where}.{unknown[0]}: {kind.__name__} has no such parameter; {near(unknown[0], fields)}")
    try:
        schema = OmegaConf.structured(kind)
        OmegaConf.set_readonly(schema, False)
        return OmegaConf.to_object(OmegaConf.merge(schema, values))
    except MissingMandatoryValue as error:
        raise ConfigError(
            f"{where}.{error.full_key!s}: has no value; set it, for example {where}.{error.full_key!s}=…"
        ) from error
    except (ValidationError, ConfigTypeError, ConfigKeyError) as error:
        key = str(getattr(error, "full_key", "") or "")
        got = values.get(key.split("[")[0].split(".")[0])
        raise ConfigError(f"{where}.{key}: got {got!r}; {_first_line(error)}") from error


def point_config(config: DictConfig) -> PointConfig:
    """Type one composed configuration.

    Raises:
        ConfigError: naming the key, the value received and what is allowed.
    """
    for key in map(str, config):
        if key not in SETTINGS:
            raise ConfigError(f"{key}: no such setting; {near(key, SETTINGS)}")
    groups = {name: build(_group(config, name), name) for name in GROUPS}
    plain = {name: _scalar(config, name, kind) for name, kind in (("tokenizer", str), ("seed", int))}
    if plain["seed"] < 0:
        raise ConfigError(f"seed: got {plain['seed']}; allowed: 0 or more")
    return PointConfig(
        sweep=typed(SweepSettings, _resolved(config.sweep, "sweep"), "sweep"),
        scoring=typed(Scoring, _resolved(config.scoring, "scoring"), "scoring"),
        answers=typed(AnswerSettings, _resolved(config.answers, "answers"), "answers"),
        **plain,
        **groups,
        names={name: str(_group(config, name).get("name") or type(groups[name]).__name__.lower()) for name in GROUPS},
    )


def _group(config: DictConfig, name: str) -> DictConfig:
    node = config.get(name)
    if not isinstance(node, DictConfig):
        raise ConfigError(f"{name}: got {node!r}; choose one of the files of conf/{name}")
    return node


def _scalar(config: DictConfig, name: str, kind: type) -> Any:
    value = config.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ConfigError(f"{name}: got {value!r}; allowed: one {kind.__name__}")
    return value


def _resolved(node: Any, where: str) -> dict[str, Any]:
    if not OmegaConf.is_dict(node):
        raise ConfigError(f"{where}: got {node!r}; allowed: a mapping of settings, as {where}.key=value")
    try:
        plain = OmegaConf.to_container(node, resolve=True)
    except InterpolationKeyError as error:
        raise ConfigError(f"{where}: {_first_line(error)}") from error
    except OmegaConfBaseException as error:
        raise ConfigError(f"{where}: {_first_line(error)}") from error
    if not isinstance(plain, dict):
        raise ConfigError(f"{where}: got {plain!r}; allowed: a mapping of settings")
    return {str(key): value for key, value in plain.items()}


def _unescaped(value: Any) -> Any:
    """A command line can only spell a line feed as backslash and n: in separators these mean the character."""
    if isinstance(value, list):
        return [_unescaped(item) for item in value]
    if isinstance(value, str):
        for written, meant in (("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r"), ("\\f", "\f")):
            value = value.replace(written, meant)
    return value


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
