"""Pass or fail for one point of a sweep: thresholds, and regressions against a stored baseline."""

from __future__ import annotations
