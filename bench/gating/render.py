"""A gate's outcome as terminal lines, Markdown for a pull request, and JUnit XML for a build server."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bench.gating.check import Check, Outcome
from bench.store import write_bytes

MARKS = {"pass": "pass", "fail": "FAIL", "skip": "skip"}


def lines(outcome: Outcome) -> list[str]:
    """One line a check, and the verdict."""
    rows = [heading(outcome)]
    shown = [check for check in outcome.checks if not _quiet(check)]
    for check in shown:
        rows.append(f"  {MARKS[check.status]}  {_name(check)}: {check.text}{_band(check)}")
        rows += [f"        worst questions: {', '.join(check.cases)}"] if check.cases else []
    hidden = len(outcome.checks) - len(shown)
    rows += [f"  pass  regression in categories: none in {hidden} checks"] if hidden else []
    return [*rows, verdict(outcome)]


def _quiet(check: Check) -> bool:
    """Categories without a regression: counted, not listed."""
    return check.kind == "regression" and bool(check.category) and check.status != "fail"


def heading(outcome: Outcome) -> str:
    """What was judged."""
    against = f", against {outcome.baseline}" if outcome.baseline else ""
    return f"{outcome.sweep}: {outcome.label}, {outcome.questions} questions{against}"


def verdict(outcome: Outcome) -> str:
    """The result in one sentence."""
    if outcome.passed:
        return f"Gate passed: {sum(check.status == 'pass' for check in outcome.checks)} checks."
    if not outcome.failures:
        return "Gate failed: nothing that it asks for was measured."
    return f"Gate failed: {len(outcome.failures)} of {len(outcome.checks)} checks."


def markdown(outcome: Outcome) -> str:
    """A table for a pull request, failures first."""
    ranked = sorted(outcome.checks, key=lambda check: ("fail", "pass", "skip").index(check.status))
    rows = [f"### {verdict(outcome)}", "", heading(outcome), "", "| | check | result |", "|---|---|---|"]
    rows += [_row(check) for check in ranked if not _quiet(check)]
    for check in outcome.failures:
        if check.cases:
            cases = ", ".join(f"`{case}`" for case in check.cases)
            rows += ["", f"Questions behind {_cell(_name(check))}: {cases}"]
    quiet = [_row(check) for check in ranked if _quiet(check)]
    if quiet:
        rows += ["", f"<details><summary>Categories without a regression: {len(quiet)} checks</summary>", ""]
        rows += ["| | check | result |", "|---|---|---|", *quiet, "", "</details>"]
    return "\n".join(rows) + "\n"


def _row(check: Check) -> str:
    return f"| {MARKS[check.status]} | {_cell(_name(check))} | {_cell(check.text + _band(check))} |"


def as_json(outcome: Outcome) -> dict[str, Any]:
    """Everything, for a program: checks with values and questions, configuration hash, versions, verdict."""
    return {**asdict(outcome), "passed": outcome.passed, "failed_cases": _failed_cases(outcome)}


def _failed_cases(outcome: Outcome) -> list[str]:
    return list(dict.fromkeys(case for check in outcome.failures for case in check.cases))


def write_junit(outcome: Outcome, path: Path) -> None:
    """Write the outcome as JUnit XML: one test case a check."""
    counts = {status: sum(check.status == status for check in outcome.checks) for status in MARKS}
    suite = ElementTree.Element("testsuite", name=f"bench gate {outcome.sweep}", tests=str(len(outcome.checks)))
    suite.set("failures", str(counts["fail"] or int(not outcome.passed)))
    suite.set("errors", "0")
    suite.set("skipped", str(counts["skip"]))
    for check in outcome.checks:
        case = ElementTree.SubElement(suite, "testcase", classname=f"{outcome.label}.{check.kind}", name=_name(check))
        if check.status == "fail":
            failure = ElementTree.SubElement(case, "failure", message=check.text)
            failure.text = "\n".join(check.cases)
        elif check.status == "skip":
            ElementTree.SubElement(case, "skipped", message=check.text)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    write_bytes(path, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def _name(check: Check) -> str:
    where = f" [{check.category}]" if check.category else ""
    return f"{check.kind} {check.measure}{where}"


def _band(check: Check) -> str:
    return f" ({check.band})" if check.band else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
