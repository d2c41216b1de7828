"""From the command line to typed values: names, types and values are checked before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from omegaconf import DictConfig, OmegaConf

from bench.chunkers.recursive import Recursive
from bench.config import SETTINGS, Scoring, as_plain, build
from bench.errors import ConfigError
from bench.paths import conf_dir
from bench.plan import plan_sweep
from bench.points import label

EXPERIMENTS = sorted(path.stem for path in (conf_dir() / "experiment").glob("*.yaml"))


def test_line_feeds_on_the_command_line_are_line_feeds(shared: Path) -> None:
    """A shell can only spell a line feed as backslash and n; the splitter must get the character."""
    given = json.loads((shared / "cases" / "33-hydra-newline" / "input.json").read_text(encoding="utf-8"))
    value = given["argv"][0].removeprefix("+seps=")
    points = plan_sweep([f"chunker.separators={value}"]).points
    assert points[0].chunker.separators == ["\n\n", "\n"]
    assert [len(separator) for separator in points[0].chunker.separators] == [2, 1]
    assert points[1].chunker.separators == [" "]


@pytest.mark.parametrize(("written", "meant"), [(r'"\t"', "\t"), (r'"\r\n"', "\r\n"), (r'"\f"', "\f"), ('"。"', "。")])
def test_every_escape_of_a_separator_is_its_character(written: str, meant: str) -> None:
    assert plan_sweep([f"chunker.separators=[{written}]"]).points[0].chunker.separators == [meant]


def test_a_regex_keeps_its_backslashes() -> None:
    point = plan_sweep([r'chunker.separators=["\s*;\s*"]', "chunker.regex=true"]).points[0]
    assert point.chunker.separators == [r"\s*;\s*"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_composes(name: str) -> None:
    plan = plan_sweep([f"experiment={name}"])
    assert plan.name == name
    labels = [label(point) for point in plan.points]
    assert len(set(labels)) == len(labels) > 1


def test_the_first_experiment_has_at_least_twelve_points() -> None:
    assert len(plan_sweep(["experiment=quickstart"]).points) >= 12


def test_what_the_user_gives_wins_over_the_experiment() -> None:
    points = plan_sweep(["experiment=quickstart", "chunker=recursive", "chunker.size=100"]).points
    assert {(point.names["chunker"], point.chunker.size) for point in points} == {("recursive", 100)}
    assert len(points) == 2


def test_equal_points_are_planned_once() -> None:
    assert len(plan_sweep(["chunker.size=64,64,128"]).points) == 2


def test_a_sweep_without_a_name_is_named_by_what_it_is() -> None:
    one, same, other = (plan_sweep([f"chunker.size={size}"]).name for size in (64, 64, 65))
    assert one == same != other


def test_every_configured_class_survives_the_way_there_and_back() -> None:
    for path in sorted(conf_dir().glob("chunker/*.yaml")):
        node = OmegaConf.merge(OmegaConf.load(path), {"tokenizer": "minilm"})
        if OmegaConf.is_missing(node, "target"):
            continue
        made = build(OmegaConf.create(OmegaConf.to_container(node, resolve=True, throw_on_missing=False)), "chunker")
        assert build(OmegaConf.create(as_plain(made)), "chunker") == made


BAD_NODES = [
    (
        {"_target_": "bench.chunkers.recursive.Recursive", "sizes": 3},
        "chunker.sizes: Recursive has no such parameter; .*'size'",
    ),
    ({"_target_": "bench.chunkers.recursive.Recursive", "size": "large"}, "chunker.size: got 'large'"),
    ({"_target_": "bench.chunkers.recursiv.Recursive"}, "chunker._target_: cannot import"),
    ({"_target_": "pathlib.Path"}, "is not a dataclass"),
    ({"size": 3}, "chunker: has no _target_"),
]


@pytest.mark.parametrize(("node", "message"), BAD_NODES)
def test_a_wrong_node_names_the_key(node: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(OmegaConf.create(node), "chunker")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"ks": []}, "scoring.ks"),
        ({"ks": [0]}, "scoring.ks"),
        ({"budgets_tokens": [128, 128]}, "scoring.budgets_tokens"),
        ({"headline_tokens": 5}, "scoring.headline_tokens"),
        ({"rules": "chrom"}, "did you mean 'chroma'"),
        ({"relevance": -1.0}, "scoring.relevance"),
        ({"relevance": float("nan")}, "scoring.relevance"),
        ({"relevance": float("inf")}, "scoring.relevance"),
    ],
)
def test_wrong_scoring_names_the_key(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Scoring(**values)  # type: ignore[arg-type]


def test_overlap_as_large_as_the_size_is_refused_before_any_point_runs(shared: Path) -> None:
    """Of whatever grid: both values are named."""
    assert (shared / "cases" / "41-overlap-equals-size").is_dir()
    for name in ("recursive", "tokens", "characters", "sentence"):
        with pytest.raises(ConfigError, match=r"overlap.*5.*5"):
            plan_sweep([f"chunker={name}", "chunker.size=5", "chunker.overlap=5"])
    with pytest.raises(ConfigError, match=r"overlap.*8.*4.*1 more of the 4 points|overlap.*8.*4"):
        plan_sweep(["chunker.size=4,16", "chunker.overlap=0,8"])
    assert Recursive(size=5, overlap=4).overlap == 4


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("chunker=null", "chunker=null: names no file"),
        ("experiment=null", "experiment=null: names no file"),
        ("=1", "command line"),
        ("scoring=null", "scoring: got None"),
        ("answers=3", "answers: got 3"),
        ("sweep=null", "sweep: got None"),
        ("chunker.size=glob(*)", "command line"),
        ("chunker.size=interval(1,3)", "command line: .*name the values"),
        ("answers.questions=stratified:0", "answers.questions: got 'stratified:0'"),
        ("answers.questions=some", "answers.questions: got 'some'"),
        ("seed=-1", "seed: got -1"),
        ("sweep.name=..", "sweep.name: got '..'"),
        ("sweep.name=.hidden", "sweep.name"),
        (f"sweep.name={'x' * 300}", "sweep.name"),
    ],
)
def test_what_no_sweep_can_run_on_is_one_line(setting: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        plan_sweep([setting])
    assert "\n" not in str(caught.value)


def test_what_is_listed_as_allowed_is_what_a_sweep_takes() -> None:
    written = OmegaConf.load(conf_dir() / "config.yaml")
    groups = [str(key) for one in written.defaults if isinstance(one, dict | DictConfig) for key in one]
    own = [str(key) for key in written if key not in ("defaults", "hydra")]
    chosen = [group for group in groups if group != "experiment" and not group.startswith("override")]
    assert sorted(SETTINGS) == sorted([*chosen, *own])


@pytest.mark.parametrize("setting", ["+names=x", "+gate=default", "+answrs=3"])
def test_a_setting_that_no_sweep_takes_is_refused_with_those_that_it_does(setting: str) -> None:
    key = setting[1:].partition("=")[0]
    with pytest.raises(ConfigError, match=rf"^{key}: no such setting; allowed: answers, chunker, .*tokenizer"):
        plan_sweep([setting])
