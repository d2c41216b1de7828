"""A decision in plain words, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.decision.numbers import SHOWN, alpha, cost_words, find_row, more, points_of, score, value


def words(decision: Mapping[str, Any]) -> list[str]:
    """Lines to print: what was chosen and why, what is like it, what was given up, how sure, what would help."""
    lines = [_heading(decision), ""]
    lines += _refused(decision) if decision["refused"] else _chosen(decision)
    lines += (
        _alike(decision) + _told_apart(decision) + _baseline(decision) + _categories(decision) + _mattered(decision)
    )
    lines += _trade_offs(decision) + _judge(decision)
    return [*lines, *_caveats(decision), "", _surer(decision)]


def opening_words(decision: Mapping[str, Any]) -> list[str]:
    """The first lines alone: what was chosen, or why nothing was, and what would make it surer."""
    return ["", *(_refused(decision) if decision["refused"] else _chosen(decision)), _surer(decision)]


def _heading(decision: Mapping[str, Any]) -> str:
    asked, objective = decision["questions"], decision["objective"]
    unit = "" if asked["unit"] == "document" else "; questions taken as independent: holds for these documents only"
    return (
        f"{decision['sweep']['name']}: {len(decision['points'])} settings on {objective['measure']}, {asked['scored']} "
        f"questions on {asked['documents']} documents ({objective['better']} is better{unit})"
    )


def _refused(decision: Mapping[str, Any]) -> list[str]:
    best = find_row(decision, decision["best"]["label"])
    lines = [f"No winner is named: {decision['refused']}."]
    if decision["questions"]["unit"] == "document" and "documents" in decision["refused"]:
        lines.append("For a statement about these documents alone, take questions as the unit: --cluster question.")
    return [*lines, f"Highest score: {best['label']}, {score(decision, best)}."]


def _chosen(decision: Mapping[str, Any]) -> list[str]:
    row, best = find_row(decision, decision["chosen"]["label"]), decision["best"]
    lines = [f"Chosen: {row['label']}", f"  {decision['objective']['measure']} {score(decision, row)}"]
    lines += [f"  {_confirmed(decision)}", f"  costs: {cost_words(row['cost'])}"]
    limit = decision["options"]["rules"]["give_up"]
    near = "" if limit is None or limit >= 1 else f", of those at most {points_of(limit, decision)} below it"
    count = len(decision["alike"])
    if decision["verdict"] == "winner":
        lines.append(f"Why: better than every other setting (adjusted over all pairs, p ≤ {alpha(decision):g}).")
    elif row["label"] == best["label"]:
        lines.append(
            f"Why: the highest score at selection; of the {count} that cannot be told apart, the cheapest{near}."
        )
    else:
        lines.append(
            f"Why: of {count} settings that cannot be told from the best, {best['label']}, the cheapest{near}."
        )
    return lines + _given_up(decision, row)


def _given_up(decision: Mapping[str, Any], row: Mapping[str, Any]) -> list[str]:
    lost = decision["given_up"]
    if lost["to"] == row["label"]:
        return [f"Given up: nothing on these questions; it is the best in {row['wins']:.0%} of the resamples."]
    best = find_row(decision, lost["to"])
    lines = [
        f"Given up: {points_of(lost['difference'], decision)} [{points_of(lost['low'], decision)}, "
        f"{points_of(lost['high'], decision)}] against {lost['to']}, the highest on all questions "
        f"(adjusted p = {lost['p_adjusted']:.2g}). It is the best in {row['wins']:.0%} of the resamples, "
        f"that one in {best['wins']:.0%}."
    ]
    found = decision["detectable"]
    if lost["p_adjusted"] <= alpha(decision):
        lines.append(f"WARNING: once all questions are counted, {lost['to']} is better beyond chance.")
    elif found and lost["high"] > found["difference"]:
        lines.append(f"WARNING: too few questions to rule out a loss of {points_of(lost['high'], decision)}.")
    return lines


def _confirmed(decision: Mapping[str, Any]) -> str:
    part = decision["selection"]
    if part["method"] == "split":
        low, high = part["confirmed_interval"]
        clean = "" if len(part["openings"]) < 2 else f"; opened {len(part['openings'])} times, so no longer untouched"
        return (
            f"confirmed on {part['confirmation_questions']} questions that did not choose it: "
            f"{value(part['confirmed_score'])} [{value(low)}, {value(high)}]; {value(part['selected_score'])} "
            f"where it was chosen, so {points_of(part['optimism'], decision)} of optimism "
            f"({points_of(part['optimism_relative'], decision)} beside the average setting on the same parts){clean}"
        )
    nested = part["nested"]
    return (
        f"too few documents for a part set aside: over {nested['rounds']} random halves the best scores "
        f"{value(nested['selected'])} where chosen, {value(nested['confirmed'])} on the other half: "
        f"{points_of(part['optimism'], decision)} of optimism"
    )


def _alike(decision: Mapping[str, Any]) -> list[str]:
    chosen = (decision["chosen"] or {}).get("label")
    others = [one for one in decision["alike"] if one["label"] != chosen and one["p_adjusted"] > alpha(decision)]
    apart = [one["label"] for one in decision["alike"] if one["p_adjusted"] <= alpha(decision)]
    told = [f"Told from it only once all questions are counted: {', '.join(apart)}"] if apart else []
    if not others:
        return told
    base = find_row(decision, chosen or decision["best"]["label"])["cost"]
    lines = ["", f"Cannot be told from {'it' if decision['chosen'] else 'the highest'}:"]
    for one in others[:SHOWN]:
        row = find_row(decision, one["label"])
        p = f"adjusted p = {one['p_adjusted']:.2g}"
        lines.append(f"  {one['label']}: {value(row['mean'])} ({p}); {_other_costs(row['cost'], base)}")
    return lines + more(others) + told


def _told_apart(decision: Mapping[str, Any]) -> list[str]:
    """The differences that are real over the whole family, largest first."""
    pairs = decision["pairs"]
    sign = -1 if decision["objective"]["better"] == "lower" else 1
    real = sorted((p for p in pairs if p["p_adjusted"] <= alpha(decision)), key=lambda p: -abs(p["difference"]))
    if not pairs:
        return []
    heading = f"Real differences: {len(real)} of {decision['family']['pairs']} pairs"
    lines = ["", f"{heading} (level {alpha(decision):g} over all of them); the rest is noise."]
    for pair in real[:SHOWN]:
        ordered = (pair["first"], pair["second"])[:: 1 if sign * pair["difference"] > 0 else -1]
        gap = points_of(abs(pair["difference"]), decision)
        lines.append(f"  {ordered[0]} beats {ordered[1]} by {gap} (adjusted p = {pair['p_adjusted']:.2g})")
    return lines + more(real)


def _other_costs(cost: Mapping[str, float | None], base: Mapping[str, float | None]) -> str:
    """Only the costs that differ by more than measuring noise."""
    differing = {
        n: c for n, c in cost.items() if c is not None and (base.get(n) is None or f"{c:.2g}" != f"{base[n]:.2g}")
    }
    return cost_words(differing) if differing else "same costs"


def _trade_offs(decision: Mapping[str, Any]) -> list[str]:
    part = decision["trade_offs"]
    rows = sorted(part["points"], key=lambda row: -row["probability"])
    if len(rows) < 2:
        return []
    on = [f"{row['label']} ({row['probability']:.0%} sure)" for row in rows if row["on_front"]]
    off = [f"{row['label']} (by {row['dominated_by']})" for row in rows if not row["on_front"]]
    lines = ["", f"Trade-off of {', '.join([*part['measures'], *part['costs']])}:"]
    lines.append(
        f"  not dominated: {', '.join(on[:SHOWN])}" + (f" and {len(on) - SHOWN} more" if len(on) > SHOWN else "")
    )
    if off:
        rest = f" and {len(off) - SHOWN} more" if len(off) > SHOWN else ""
        lines.append(f"  dominated: {', '.join(off[:SHOWN])}{rest}")
    return lines


def _baseline(decision: Mapping[str, Any]) -> list[str]:
    base = decision["baseline"]
    if base is None:
        return []
    lines = ["", f"Against the baseline {base['label']}:"]
    for name, part in base["compared"].items():
        verdict = "beyond chance" if part["p"] <= alpha(decision) else "cannot be told apart"
        lines.append(
            f"  {name} questions ({part['questions']}): {part['difference'] * 100:+.1f} points "
            f"[{part['low'] * 100:+.1f}, {part['high'] * 100:+.1f}], p = {part['p']:.2g}: {verdict}"
        )
    return lines


def _categories(decision: Mapping[str, Any]) -> list[str]:
    rows = decision["categories"]
    if len(rows) < 2:
        return []
    lines = ["", "By category:"]
    for row in rows:
        small = " (too few questions to tell)" if row["too_small"] else ""
        chosen = "" if row["chosen_mean"] is None else f", chosen {value(row['chosen_mean'])}"
        lines.append(
            f"  {row['category']} (n = {row['questions']}): best {row['best']} {value(row['best_mean'])}{chosen}{small}"
        )
        if row.get("chosen_is_worse"):
            lines.append(
                f"  WARNING: on {row['category']} questions the chosen setting is worse than {row['best']} by "
                f"{points_of(abs(row['difference']), decision)} (adjusted p = {row['p_adjusted']:.2g})"
            )
    return lines


def _mattered(decision: Mapping[str, Any]) -> list[str]:
    rows = decision["effects"]
    if not rows:
        return []
    lines = ["", "What mattered (share of the variance between settings):"]
    for row in [r for r in rows if "×" not in r["name"]] + [r for r in rows if "×" in r["name"]][:3]:
        p = "cannot be tested" if row["p_adjusted"] is None else f"adjusted p = {row['p_adjusted']:.2g}"
        note = f"; {row['note']}" if row["note"] else ""
        lines.append(f"  {row['name']}: {points_of(row['spread'], decision)} apart, {row['share']:.0%}, {p}{note}")
    return lines


def _judge(decision: Mapping[str, Any]) -> list[str]:
    judge = decision["judge"]
    if judge is None:
        return []
    if judge["refused"]:
        return ["", f"The judge's errors cannot be corrected: {judge['refused']}"]
    kind = "corrected for the judge's measured errors" if "quality" in judge else "with the spread of the judge's votes"
    rows = [
        f"  {r['label']}: {value(r['mean'])} [{value(r['low'])}, {value(r['high'])}]" for r in judge["points"][:SHOWN]
    ]
    return ["", f"Scores {kind}:", *rows]


def _caveats(decision: Mapping[str, Any]) -> list[str]:
    lost = [row for row in decision["points"] if row["failed"]]
    lines = [f"{row['label']}: {row['failed']} questions failed; {_bounds(row)}" for row in lost[:SHOWN]]
    lines += [f"Left out: {row['label']} ({row['reason']})" for row in decision["excluded"][:SHOWN]] + more(
        decision["excluded"]
    )
    lines += [f"Failed: {row['label']} ({row['reason']})" for row in decision["failed"][:SHOWN]]
    flips = [row for row in decision["robustness"] if row["kendall_tau"] < 0.5]
    lines += [
        f"The ranking is another at {row['measure']} (Kendall's tau {row['kendall_tau']:.2f}; best {row['best']})"
        for row in flips[:3]
    ]
    return ["", *lines] if lines else []


def _bounds(row: Mapping[str, Any]) -> str:
    low, high = row["bounds_if_failed"]
    if low is None or high is None:
        return "they could move its mean without bound"
    return f"they could move its mean to between {value(low)} and {value(high)}"


def _surer(decision: Mapping[str, Any]) -> str:
    found = decision["detectable"]
    if found is None:
        return "No spread between the settings: nothing can be told about the difference that would be found."
    unit = "documents" if decision["questions"]["unit"] == "document" else "questions"
    more = f" (on {found['more_clusters']} more documents)" if unit == "documents" else ""
    return (
        f"What would make it surer: these questions show a difference of {points_of(found['difference'], decision)} "
        f"(power {found['power']:.0%}, one pair); {found['more_questions']} more questions{more} would show "
        f"a {points_of(found['goal'], decision).removesuffix('s')} difference."
    )
