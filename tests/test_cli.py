"""The command as a user meets it: help is quick, errors are one line, a closed pipe is no crash."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import VERBS, main

CHECKOUT = Path(__file__).parent.parent
HEAVY = ("torch", "sentence_transformers", "faiss", "matplotlib", "hydra", "numpy")


def python(*arguments: str, cwd: Path = CHECKOUT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=cwd, check=False)


def test_help_names_every_verb_and_loads_nothing_heavy() -> None:
    code = f"""
import sys
from bench.__main__ import main
try:
    main(["--help"])
except SystemExit:
    pass
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = python("-c", code)
    assert done.stdout.splitlines()[-1] == "[]"
    for verb in VERBS:
        assert f"    {verb} " in done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([verb, "--help"])
    assert stopped.value.code == 0
    assert f"usage: bench {verb}" in capsys.readouterr().out


def test_an_unknown_verb_is_refused_with_the_verbs_there_are() -> None:
    done = python("-m", "bench", "swep")
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
    assert done.stderr.startswith("bench: VERB: got 'swep'; allowed: answer, cut, ")
    assert "did you mean 'sweep'?; bench --help" in done.stderr


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("wrong", [["--nope"], ["a", "b", "c", "--nope=1", "d"]])
def test_every_verb_refuses_what_it_does_not_take_in_one_line(
    verb: str, wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    action = {"golden": ["verify"], "judge": ["calibrate"]}.get(verb, [])
    assert main([verb, *action, *wrong]) == 2
    told = capsys.readouterr()
    assert (told.err.count("\n"), told.out) == (1, "")
    assert told.err.startswith(f"bench {verb}: ")
    assert " --help shows what it takes" in told.err


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in ("sweep", "doctor", "serve", "report")])
def test_every_verb_says_what_is_missing(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f": missing; bench {verb} --help shows" in told


def test_an_error_is_one_line_unless_debugging_is_asked_for(tmp_path: Path) -> None:
    plain = python("-m", "bench", "report", str(tmp_path))
    assert (plain.returncode, plain.stderr.count("\n"), plain.stdout) == (2, 1, "")
    assert "holds no sweep" in plain.stderr
    assert "Traceback" in python("-m", "bench", "report", "--debug", str(tmp_path)).stderr


def test_a_closed_pipe_is_no_crash() -> None:
    command = f"{sys.executable} -m bench sweep --dry-run experiment=size | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=CHECKOUT, check=False)
    assert "Traceback" not in done.stderr
    assert "recursive 32/0 minilm" in done.stdout


def test_an_interrupt_that_a_library_swallowed_is_still_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object) -> int:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise ValueError("an error of the library's own")  # noqa: B904 (as libraries do)

    monkeypatch.setattr("bench.doctor.run", run)
    assert main(["doctor"]) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("fails", [True, False])
def test_a_signal_that_a_library_hides_is_still_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: signal.Signals, code: int, fails: bool
) -> None:
    def run(_: object) -> int:
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            if fails:
                raise ValueError("an error of the library's own") from None
        return 0

    monkeypatch.setattr("bench.doctor.run", run)
    before = signal.getsignal(number)
    assert main(["doctor"]) == code
    assert capsys.readouterr().err.count("interrupted") == 1
    assert signal.getsignal(number) == before


def test_an_error_that_nobody_foresaw_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object) -> int:
        raise ValueError("one\ntwo \ud800")

    monkeypatch.setattr("bench.doctor.run", run)
    assert main(["doctor"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "ValueError: one two" in told
    assert "--debug" in told
    with pytest.raises(ValueError, match="one"):
        main(["doctor", "--debug"])


@pytest.mark.parametrize(
    "data", [b"caf\xe9\n", b"", b"x" * 100_000, None], ids=["latin-1", "empty", "long line", "folder"]
)
@pytest.mark.parametrize(
    "line",
    [
        ["judge", "calibrate", "FILE"],
        ["sweep", "--dry-run", "--config", "FILE"],
        ["cut", "docs", "--config", "FILE"],
        ["serve", "--model", "FILE"],
        ["history", "FILE"],
        ["decide", "FILE"],
        ["gate", "FILE"],
        ["report", "FILE"],
        ["diagnose", "FILE"],
        ["answer", "FILE"],
        ["figure", "FILE", "--kind", "budget"],
        ["inspect", "d", "--sweep", "FILE"],
    ],
    ids=lambda line: line[0],
)
def test_a_wrong_file_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: list[str], data: bytes | None
) -> None:
    path = tmp_path / "given"
    if data is None:
        path.mkdir()
    else:
        path.write_bytes(data)
    assert main([str(path) if part == "FILE" else part for part in line]) == 2
    told = capsys.readouterr()
    assert (told.err.count("\n"), told.out) == (1, "")
    assert "not foreseen" not in told.err
    assert path.is_dir() if data is None else path.read_bytes() == data
