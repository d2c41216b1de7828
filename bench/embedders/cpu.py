"""What the processor can do, read without torch."""

from __future__ import annotations

from pathlib import Path

BF16_FLAGS = ("amx_bf16", "avx512_bf16")


def bf16_support(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the instruction set that makes bfloat16 faster than float32 here; "" if there is none or none is known."""
    if not cpuinfo.is_file():
        return ""
    flags = set(cpuinfo.read_text(encoding="utf-8", errors="replace").split())
    return next((flag for flag in BF16_FLAGS if flag in flags), "")
