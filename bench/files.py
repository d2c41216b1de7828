"""Files written whole or not at all, and what a writer that was killed left of them."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import tempfile
import time
from pathlib import Path

from bench.errors import StoreError

STALE_S = 86_400.0
"""Age at which a part is nobody's any more, whoever wrote it: a write takes seconds."""
PART = re.compile(r"\..+\.(?P<host>[\w-]+)-(?P<pid>\d+)\.\w{8}\.part", re.DOTALL)


def write_bytes(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` atomically: a crash leaves the old file or the new one, never a part under its name.

    Raises:
        StoreError: the folder is not writable or the disk is full.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        prefix = f".{path.name[:30]}.{_host()}-{os.getpid()}."
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise _refused(path, "written", error) from error


def remove(path: Path) -> None:
    """Remove a file that is there.

    Raises:
        StoreError: the folder is not writable.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _refused(path, "removed", error) from error


def _refused(path: Path, what: str, error: OSError) -> StoreError:
    reason = error.strerror or error
    return StoreError(f"{path}: cannot be {what} ({reason}); free space or choose another place (sweep.results)")


def remove_stale(folder: Path) -> list[Path]:
    """Remove the parts below ``folder`` whose writer is dead (here), or which are a day old; return them.

    A part carries the machine and the process of its writer in its name: those of a live process are left alone.
    """
    removed = []
    for parent, _, names in os.walk(folder):
        for path in (Path(parent) / name for name in names if name.startswith(".")):
            if _stale(path):
                with contextlib.suppress(OSError):
                    path.unlink()
                    removed.append(path)
    return removed


def _stale(path: Path) -> bool:
    found = PART.fullmatch(path.name)
    if found is None:
        return False
    if found["host"] == _host() and not _alive(int(found["pid"])):
        return True
    try:
        return time.time() - path.stat().st_mtime > STALE_S
    except OSError:
        return False


def _alive(pid: int) -> bool:
    if os.name != "posix":  # elsewhere signal 0 is no mere question
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9_]", "-", platform.node())[:40] or "host"
