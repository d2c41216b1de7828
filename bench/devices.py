"""Where a model runs: refused before any work where this machine has no such device."""

from __future__ import annotations

import re

from bench.errors import ConfigError, near


def check_device(device: str, where: str) -> None:
    """Refuse a device that is not here; torch is imported only where it is not the processor.

    Raises:
        ConfigError: naming ``where``, the device received, and those that this machine has.
    """
    if device == "cpu":
        return
    have = _devices()
    if device not in have:
        known = re.fullmatch(r"cuda(:\d+)?|mps", device)
        why = "this machine has no such device" if known else "is no device"
        raise ConfigError(f"{where}: got {device!r}: {why}; {near(device, have)}")


def kind_of(device: str) -> str:
    """The device without its number, as ``torch.autocast`` takes it."""
    return device.partition(":")[0]


def _devices() -> list[str]:
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    cuda = ["cuda", *(f"cuda:{number}" for number in range(count))] if count else []
    return ["cpu", *cuda, *(["mps"] if torch.backends.mps.is_available() else [])]
