"""From a command line to the points of a sweep: every one composed and checked before any of them runs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from hydra import compose, initialize_config_dir
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from bench.config import GROUPS, SETTINGS, PointConfig, point_config
from bench.errors import ConfigError, near
from bench.paths import conf_dir
from bench.points import shorten

ONE_PER_SWEEP = ("corpus", "tokenizer", "seed", "scoring", "sweep", "experiment")


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked sweep: ``overrides`` is what Hydra is given, ``points`` what it will run, in its order."""

    overrides: list[str]
    points: list[PointConfig]
    name: str


def plan_sweep(overrides: Sequence[str]) -> Plan:
    """Expand and check a sweep.

    Raises:
        ConfigError: an override does not parse, a name or value is wrong, or points contradict themselves
            (an overlap as large as its size, say): nothing has run yet.
    """
    with _hydra():
        merged = _with_experiment(list(overrides))
        batches = _batches(merged)
        points = _checked(batches)
    first = points[0]
    digest = hashlib.sha256("\n".join(sorted(merged)).encode()).hexdigest()[:8]
    name = first.sweep.name or f"sweep-{digest}"
    if not re.fullmatch(r"[\w-][\w.-]{0,99}", name):
        raise ConfigError(
            f"sweep.name: got {shorten(name)!r}; allowed: up to 100 letters, digits, '.', '_' and '-', no '.' first"
        )
    named = [replace(point, sweep=replace(point.sweep, name=name)) for point in points]
    return Plan([*_launchable(merged), f"sweep.name={name}"], named, name)


def _launchable(overrides: list[str]) -> list[str]:
    """Return the overrides as Hydra's launcher takes them.

    It composes all that is not swept before it splits the sweep, and so refuses a setting that the swept files have
    and the default one has not: as a sweep over one value it is left to the points.
    """
    parsed = _parse(overrides)
    swept = {_key(one) for one in parsed if one.is_sweep_override()}
    found = []
    for text, one in zip(overrides, parsed, strict=True):
        key, _, value = text.partition("=")
        late = not one.is_sweep_override() and _key(one).partition(".")[0] in swept and value
        found.append(f"{key}=choice({value})" if late else text)
    return found


@contextmanager
def _hydra() -> Iterator[None]:
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        yield


def _with_experiment(overrides: list[str]) -> list[str]:
    """Put the experiment's sweep before the user's overrides; a key that the user gives wins."""
    parsed = _parse(overrides)
    chosen = [
        text for text, one in zip(overrides, parsed, strict=True) if _key(one) in ("experiment", "hydra.searchpath")
    ]
    params = _compose(chosen, hydra=True).hydra.sweeper.params or {}
    given = {_key(one) for one in parsed}
    return [f"{key}={value}" for key, value in params.items() if key not in given] + overrides


def _batches(overrides: list[str]) -> list[list[str]]:
    if any(_key(one) in ("hydra.job.chdir", "hydra.mode") for one in _parse(overrides)):
        raise ConfigError("hydra.job.chdir and hydra.mode: are set by bench sweep; leave them out")
    for one in _parse(overrides):
        if one.is_sweep_override() and _key(one).split(".")[0] in ONE_PER_SWEEP:
            raise ConfigError(
                f"{_key(one)}: got several values; a sweep has one {_key(one).split('.')[0]}, "
                "so that its points can be compared: run one sweep for each"
            )
    own = [one for one in _parse(overrides) if not _key(one).startswith("hydra.")]
    hydra = [text for text in overrides if text.lstrip("+~").startswith("hydra.")]
    try:
        batches = BasicSweeper.split_arguments(own, max_batch_size=None)[0]
    except HydraException as error:
        raise ConfigError(f"command line: {_short(error)}; name the values: key=a,b or key=range(1,4)") from error
    unique = list(dict.fromkeys(tuple(batch) for batch in batches))
    return [[*batch, *hydra] for batch in unique]


def _checked(batches: list[list[str]]) -> list[PointConfig]:
    points, problems = [], []
    for batch in batches:
        try:
            points.append(point_config(_compose(batch)))
        except ConfigError as error:
            problems.append(str(error))
    if problems:
        several = f" (and {len(problems) - 1} more of the {len(batches)} points)" if len(problems) > 1 else ""
        raise ConfigError(problems[0] + several)
    return points


def _parse(overrides: list[str]) -> list[Any]:
    try:
        return list(OverridesParser.create().parse_overrides(overrides=overrides))
    except HydraException as error:
        raise ConfigError(f"command line: {_short(error)}; write settings as key=value, lists as key=[a,b]") from error


def _compose(overrides: list[str], *, hydra: bool = False) -> Any:
    try:
        return compose("config", overrides=overrides, return_hydra_config=hydra)
    except (HydraException, OmegaConfBaseException, ValueError) as error:  # ValueError: a group that is set to null
        raise ConfigError(_explain(str(error), overrides)) from error


def _explain(message: str, overrides: list[str]) -> str:
    """Name what Hydra could not find, with the names that exist."""
    option = re.search(r"Could not find '([\w-]+)/([^']+)'", message)
    if option:
        group, name = option.groups()
        if group == "hydra":
            return f"hydra/{name}: is not installed; install the package that brings it (pip install hydra-…-launcher)"
        if group not in (*GROUPS, "experiment"):
            return f"{group}: no such setting; {_near_keys(group, overrides)}"
        return f"{group}: got {name!r}; {near(name, [p.stem for p in (conf_dir() / group).glob('*.yaml')])}"
    key = re.search(r"Could not override '([^']+)'", message)
    if key:
        return f"{key[1]}: no such setting; {_near_keys(key[1], overrides)}"
    if "Config group override must be" in message:
        text = next((text for text in overrides if "." not in text.partition("=")[0] and text.endswith("=null")), "")
        return f"{text or 'command line'}: names no file of its group; leave it out, or name one"
    return _short(message)


def _near_keys(key: str, overrides: list[str]) -> str:
    group = key.split(".")[0]
    choice = [text for text in overrides if text.startswith(f"{group}=")]
    try:
        node = compose("config", overrides=choice).get(group)
    except (HydraException, OmegaConfBaseException):
        node = None
    if OmegaConf.is_dict(node):
        allowed = [f"{group}.{name!s}" for name in node if name != "_target_"]
        return near(key, allowed)
    return near(group, [*SETTINGS, "experiment"])


def _key(override: Any) -> str:
    return str(override.key_or_group)


def _short(error: object) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def config_overrides(path: Path, folder: Path) -> list[str]:
    """Make a configuration file (as ``bench decide`` writes it) usable as an experiment.

    Args:
        path: a YAML file of the shape of ``conf/config.yaml``.
        folder: scratch folder that lives as long as the sweep.
    """
    if not path.is_file():
        raise ConfigError(f"--config: {path} is not a file")
    target = folder / "experiment"
    target.mkdir(parents=True, exist_ok=True)
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"--config: {path} is not YAML ({' '.join(str(error).split())})") from error
    if not isinstance(content, dict):
        raise ConfigError(f"--config: {path} holds no settings; give a file as bench decide writes it")
    (target / "from_file.yaml").write_text(f"# @package _global_\n{text}", encoding="utf-8")
    return [f"hydra.searchpath=[file://{folder}]", "experiment=from_file"]
