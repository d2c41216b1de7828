"""Programs that are written out with a decision. Each stands alone; its SETTINGS are replaced by the chosen ones."""

from __future__ import annotations
