"""What a gate asks for, read from ``conf/gate/<name>.yaml`` or a file of the user's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.errors import ConfigError, near
from bench.paths import conf_dir


@dataclass(frozen=True, slots=True)
class Bound:
    """Bounds of one measure: ``least`` or ``most`` fail the gate; ``good`` and ``acceptable`` only name a band."""

    least: float | None = None
    most: float | None = None
    good: float | None = None
    acceptable: float | None = None

    def band(self, mean: float) -> str:
        """The band of a mean: good, acceptable or needs work; empty where none is set."""
        if self.good is None or self.acceptable is None:
            return ""
        sign = 1 if self.good >= self.acceptable else -1
        if sign * mean >= sign * self.good:
            return "good"
        return "acceptable" if sign * mean >= sign * self.acceptable else "needs work"

    def met(self, mean: float) -> bool:
        """True if the mean is within the bounds that fail the gate."""
        return (self.least is None or mean >= self.least) and (self.most is None or mean <= self.most)

    def words(self) -> str:
        """The bounds in words."""
        parts = [f"at least {self.least:g}"] if self.least is not None else []
        return " and ".join(parts + ([f"at most {self.most:g}"] if self.most is not None else []))


@dataclass(frozen=True)
class Thresholds:
    """A gate.

    ``measures`` and, for a category, ``categories`` map a full measure name, or a family (its variant at the
    sweep's headline cut), to bounds. A drop fails when it is significant at ``alpha`` over the whole family of
    measures and larger than ``minimum_effect``. ``max_failed_share`` is the most questions whose score may be lost.
    ``cluster`` is the unit of resampling. ``per_category`` looks for regressions in every category too.
    """

    name: str
    measures: Mapping[str, Bound]
    categories: Mapping[str, Mapping[str, Bound]] = field(default_factory=dict)
    alpha: float = 0.05
    minimum_effect: float = 0.02
    max_failed_share: float = 0.02
    per_category: bool = True
    cluster: str = "document"
    resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ConfigError(f"{self.name}: alpha: got {self.alpha}; allowed: above 0 and below 1")
        if self.minimum_effect < 0:
            raise ConfigError(f"{self.name}: minimum_effect: got {self.minimum_effect}; allowed: 0 or more")
        if not 0 <= self.max_failed_share <= 1:
            raise ConfigError(
                f"{self.name}: max_failed_share: got {self.max_failed_share}; allowed: a share from 0 to 1"
            )
        if self.cluster not in ("document", "question"):
            raise ConfigError(
                f"{self.name}: cluster: got {self.cluster!r}; {near(self.cluster, ['document', 'question'])}"
            )


def read_thresholds(name: str) -> Thresholds:
    """Read a gate by name (``default``, ``regulated``) or path.

    Raises:
        ConfigError: no such file, or a key or value of it is wrong.
    """
    import yaml

    path = Path(name)
    if not path.suffix:
        path = conf_dir() / "gate" / f"{name}.yaml"
    if not path.is_file():
        names = [found.stem for found in (conf_dir() / "gate").glob("*.yaml")]
        raise ConfigError(f"--thresholds: {name!r} is neither a file nor a gate of conf/gate; {near(name, names)}")
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, RecursionError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: is not YAML ({str(error).splitlines()[0]})") from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: got {type(raw).__name__}; allowed: a mapping with measures and settings")
    return _thresholds(str(path), raw)


def _thresholds(where: str, raw: dict[str, Any]) -> Thresholds:
    allowed = [f.name for f in dataclasses.fields(Thresholds) if f.name != "name"]
    for key in raw:
        if key not in allowed:
            raise ConfigError(f"{where}: {key}: no such setting; {near(str(key), allowed)}")
    settings = {key: value for key, value in raw.items() if key not in ("measures", "categories")}
    for key, value in settings.items():
        wanted = type(next(f.default for f in dataclasses.fields(Thresholds) if f.name == key))
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise ConfigError(f"{where}: {key}: got {value!r}; allowed: one {wanted.__name__}")
    categories = {
        str(category): _bounds(f"{where}: categories.{category}", rows)
        for category, rows in _mapping(f"{where}: categories", raw.get("categories")).items()
    }
    return Thresholds(where, _bounds(f"{where}: measures", raw.get("measures")), categories, **settings)


def _bounds(where: str, raw: Any) -> dict[str, Bound]:
    return {str(measure): _bound(f"{where}.{measure}", value) for measure, value in _mapping(where, raw).items()}


def _bound(where: str, raw: Any) -> Bound:
    """A bare number is the least mean."""
    values = _mapping(where, {"least": raw} if isinstance(raw, int | float) else raw)
    allowed = [f.name for f in dataclasses.fields(Bound)]
    for key, value in values.items():
        if key not in allowed:
            raise ConfigError(f"{where}.{key}: no such bound; {near(str(key), allowed)}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"{where}.{key}: got {value!r}; allowed: a number")
    return Bound(**{key: float(value) for key, value in values.items()})


def _mapping(where: str, raw: Any) -> dict[Any, Any]:
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise ConfigError(f"{where}: got {raw!r}; allowed: a mapping, for example span_recall: {{least: .75}}")
    return raw
