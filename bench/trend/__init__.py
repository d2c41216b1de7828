"""Measures over time: what each run was made with, and which changes are more than noise."""

from __future__ import annotations
