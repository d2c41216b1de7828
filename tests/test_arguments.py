"""A command line in any order is understood; a wrong one is one line: what, received, allowed, what to do."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from bench.arguments import Parser
from bench.errors import ConfigError


def parser() -> Parser:
    made = Parser(prog="bench verb")
    made.add_argument("folder", type=Path)
    made.add_argument("settings", nargs="*")
    made.add_argument("--points", default="top:5")
    made.add_argument("--alpha", type=float)
    made.add_argument("--cluster", choices=("document", "question"))
    made.add_argument("--dry-run", action="store_true")
    made.add_argument("-o", "--output")
    return made


PARTS = (["--points", "top:2"], ["generator=a", "judge=b"], ["--dry-run"], ["generator.x=1"], ["-o", "out"])


@pytest.mark.parametrize("order", list(itertools.permutations(PARTS)))
def test_settings_may_stand_anywhere_behind_the_folder(order: tuple[list[str], ...]) -> None:
    found = parser().parse_args(["folder", *itertools.chain(*order)])
    assert (found.folder, found.points, found.dry_run, found.output) == (Path("folder"), "top:2", True, "out")
    assert found.settings == [text for part in order for text in part if "=" in text]


def test_folders_keep_their_type_and_order() -> None:
    made = Parser(prog="bench verb")
    made.add_argument("folders", nargs="+", type=Path)
    made.add_argument("-o")
    assert made.parse_args(["a", "b", "-o", "x", "c"]).folders == [Path("a"), Path("b"), Path("c")]


def test_nothing_given_is_nothing_set() -> None:
    found = parser().parse_args(["folder"])
    assert (found.settings, found.alpha, found.points) == ([], None, "top:5")


def test_values_below_zero_and_beginnings_of_names_are_taken() -> None:
    found = parser().parse_args(["folder", "--alpha", "-1.5", "--dry", "--out=x", "--", "a=b"])
    assert (found.alpha, found.dry_run, found.output, found.settings) == (-1.5, True, "x", ["a=b"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ([], r"folder: missing; bench verb --help"),
        (
            ["--piont", "x"],
            r"--piont: no such option; allowed: --alpha, .*did you mean '--points'\?; bench verb --help",
        ),
        (["f", "-x"], r"-x: no such option; allowed: .*-o"),
        (["f", "--alpha", "x"], r"--alpha: got 'x'; allowed: a number; "),
        (["f", "--alpha"], r"--alpha: expected one argument; "),
        (
            ["f", "--cluster", "dokument"],
            r"--cluster: got 'dokument'; allowed: document, question; did you mean 'document'",
        ),
        (["f", "--dry-run=yes"], r"--dry-run: ignored explicit argument 'yes'; "),
    ],
)
def test_a_wrong_line_is_one_line(line: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{message}") as caught:
        parser().parse_args(line)
    assert "\n" not in str(caught.value)


def test_actions_are_parsed_by_parsers_of_the_same_kind() -> None:
    made = Parser(prog="bench verb")
    made.add_argument("--debug", action="store_true")
    action = made.add_subparsers(dest="action", metavar="ACTION", required=True).add_parser("check")
    action.add_argument("file")
    action.add_argument("--fit", action="store_true")
    found = made.parse_args(["--debug", "check", "--fit", "x"])
    assert (found.debug, found.fit, found.file) == (True, True, "x")
    for line, message in (
        (["chek"], "ACTION: got 'chek'; allowed: check; did you mean 'check'?; bench verb --help"),
        (["check", "--fitt", "x"], "--fitt: no such option; allowed: --fit, --help, -h; did you mean '--fit'?"),
        (["check", "x", "y"], "'y': is one argument too many; bench verb check --help"),
        (["--fit", "check", "x"], "--fit: no such option; allowed: --debug"),
        ([], "ACTION: missing; bench verb --help"),
    ):
        with pytest.raises(ConfigError) as caught:
            made.parse_args(line)
        assert str(caught.value).startswith(message)
