"""One group of the configuration without a sweep: ``generator=openai generator.model=...`` as typed dataclass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from bench.config import build
from bench.errors import ConfigError, near
from bench.paths import conf_dir


def check_groups(settings: Sequence[str], groups: Sequence[str]) -> None:
    """Raise ConfigError for a setting that is not ``group=name`` or ``group.key=value`` of one of ``groups``."""
    for setting in settings:
        key, equals, _ = setting.partition("=")
        group = key.partition(".")[0]
        if not equals or group not in groups:
            raise ConfigError(f"{setting!r}: is no setting of this command; {near(group, groups)}, as {groups[0]}=NAME")


def choose(group: str, settings: Sequence[str], default: str) -> Any:
    """Return the configured dataclass of ``group``.

    Args:
        group: a folder of ``conf``.
        settings: ``group=name`` and ``group.key=value``; those of other groups are passed over.
        default: name of the file where none is given.

    Raises:
        ConfigError: unknown file or key, or a value that the class refuses.
    """
    name, values = default, []
    for setting in settings:
        key, _, value = setting.partition("=")
        if key == group:
            name = value
        elif key.startswith(f"{group}."):
            values.append(f"{key.removeprefix(f'{group}.')}={value}")
    folder = conf_dir() / group
    names = sorted(path.stem for path in folder.glob("*.yaml"))
    if name not in names:
        raise ConfigError(f"{group}={name}: there is no such file in conf/{group}; {near(name, names)}")
    try:
        node = OmegaConf.merge(OmegaConf.load(folder / f"{name}.yaml"), OmegaConf.from_dotlist(values))
    except OmegaConfBaseException as error:
        raise ConfigError(f"{group}: {str(error).splitlines()[0]}") from error
    if not isinstance(node, DictConfig):
        raise ConfigError(f"conf/{group}/{name}.yaml: is no mapping")
    return build(node, group)
