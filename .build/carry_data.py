"""Put ``conf`` and ``corpora`` inside the wheel; an editable install reads them from the checkout instead."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CarryData(BuildHookInterface[Any]):
    """Adds the two data folders to a standard wheel as ``bench/_conf`` and ``bench/_corpora``."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Extend the file list unless the wheel is an editable one (``version`` is then "editable")."""
        if self.target_name == "wheel" and version == "standard":
            build_data["force_include"].update({"conf": "bench/_conf", "corpora": "bench/_corpora"})
