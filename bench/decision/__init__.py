"""From the records of a sweep to one setting to ship. Reads records, runs nothing."""

from __future__ import annotations
