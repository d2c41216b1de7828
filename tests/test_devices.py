"""A device that is not there is refused where it is set, by every model that has one; what is there is taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from bench.__main__ import main
from bench.devices import check_device, kind_of
from bench.embedders.late import Late
from bench.embedders.transformer import Transformer
from bench.errors import ConfigError
from bench.judges.cross_encoder import CrossEncoder
from bench.retrievers.rerank import Rerank
from tests.small import write_corpus

MADE: list[tuple[str, Callable[..., Any]]] = [
    ("embedder", Transformer),
    ("embedder", Late),
    ("retriever", lambda device: Rerank(model="m", device=device)),
    ("judge", lambda device: CrossEncoder(model="m", device=device)),
]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with nothing but its processor."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("device", ["cuda", "cuda:7", "mps", "nonsense", "", "cpu:0", "CPU"])
@pytest.mark.parametrize(("group", "make"), MADE)
def test_a_device_that_is_not_here_is_refused(group: str, make: Callable[..., Any], device: str) -> None:
    with pytest.raises(ConfigError, match=rf"^{group}\.device: got '{device}'.*; allowed: cpu") as caught:
        make(device=device)
    assert "\n" not in str(caught.value)
    make(device="cpu")


def test_numbers_count_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for device in ("cuda", "cuda:0", "cuda:1"):
        check_device(device, "embedder.device")
        assert kind_of(device) == "cuda"
    with pytest.raises(ConfigError, match=r"'cuda:2': this machine has no such device; allowed: .*cuda:1"):
        check_device("cuda:2", "embedder.device")


@pytest.mark.usefixtures("bare")
def test_nothing_runs_where_one_point_has_no_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    documents, golden = write_corpus(tmp_path)
    arguments = ["corpus=folder", f"corpus.documents={documents}", f"corpus.golden={golden}"]
    arguments += [f"sweep.results={tmp_path / 'results'}", f"sweep.cache={tmp_path / 'cache' / 'v.sqlite'}"]
    assert main(["sweep", *arguments, "embedder.device=cpu,cuda", "generator=none"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "embedder.device: got 'cuda'" in told
    assert not (tmp_path / "results").exists()
