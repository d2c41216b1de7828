"""What a cached vector depends on, as one hash: the bytes of the model's files, settings, versions of packages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from bench.errors import ModelError
from bench.provenance import installed

MODEL_FILES = ("*.safetensors", "*.bin", "*.json", "*.txt", "*.model", "*.py")
OTHER_BACKENDS = {"onnx", "openvino"}


@lru_cache(maxsize=1024)
def _digest(path: Path, mtime_ns: int, size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def file_digest(path: Path) -> str:
    """Return the hash of a file's bytes, kept in memory until its time or size changes.

    Raises:
        ModelError: the file cannot be read.
    """
    try:
        status = path.stat()
        return _digest(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise ModelError(f"model file {path}: cannot be read ({error.strerror or error})") from error


def model_files(folder: Path) -> list[Path]:
    """Return the files of a model folder that its vectors depend on, sorted; other backends' copies left out."""
    found = {path for pattern in MODEL_FILES for path in folder.rglob(pattern) if path.is_file()}
    return sorted(path for path in found if not OTHER_BACKENDS & set(path.relative_to(folder).parts))


def fingerprint(files: Iterable[Path], settings: dict[str, object], packages: Iterable[str]) -> str:
    """Return 32 hex digits that change with any file's bytes, any setting, or the version of any package."""
    parts = [file_digest(path.resolve()) for path in files]
    parts += [f"{key}={value!r}" for key, value in sorted(settings.items())]
    parts += [f"{name}=={installed(name)}" for name in packages]
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
