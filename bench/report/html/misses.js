// The list of misses: every question that failed at some setting, by cause.

const MISSES_SHOWN = 100;

function missesTable(core, open) {
  const best = core.points.findIndex((p) => p.mark.startsWith("chosen"));
  const state = { cause: "", point: String(best >= 0 ? best : core.first), category: "", shown: MISSES_SHOWN };
  const holder = document.getElementById("misses-table"), status = document.getElementById("misses-status");

  function rows() {
    const found = [];
    core.misses.forEach((causes, p) => {
      if (state.point !== "" && state.point !== String(p)) return;
      causes.forEach((cause, q) => {
        if (cause && (state.cause === "" || core.causes[cause - 1][0] === state.cause) &&
            (state.category === "" || core.categories[q] === state.category)) found.push([p, q, cause - 1]);
      });
    });
    return found;
  }

  function draw() {
    const found = rows();
    const head = ["question", "category", "setting", "cause", "change"].map((t) => el("th", { scope: "col" }, t));
    const body = found.slice(0, state.shown).map(([p, q, cause]) => {
      const point = core.points[p], question = core.questions[q];
      const link = el("a", { href: `#question=${encodeURIComponent(question.id)}&point=${point.id}`, dir: "auto" }, question.text || question.id);
      const cells = [core.categories[q], point.label, core.causes[cause][1], core.causes[cause][2]];
      return el("tr", {}, el("th", { scope: "row" }, link), cells.map((text) => el("td", { dir: "auto" }, text)));
    });
    holder.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)));
    const parts = [`${found.length} misses`];
    if (found.length > state.shown) parts.push(`the first ${state.shown} are shown `);
    status.replaceChildren(parts.join("; "));
    if (found.length > state.shown) {
      status.append(el("button", { type: "button", class: "act", onclick: () => { state.shown += MISSES_SHOWN; draw(); } }, "Show more"));
    }
  }

  const change = (key) => (value) => { state[key] = value; state.shown = MISSES_SHOWN; draw(); };
  const present = core.causes.filter((cause, i) => core.misses.some((row) => row.includes(i + 1)));
  const points = core.order.map((i) => [String(i), core.points[i].label]);
  const categories = [...new Set(core.categories)].sort().map((c) => [c, c]);
  document.getElementById("misses-tools").replaceChildren(
    labelled("setting", select([["", "all"], ...points], state.point, change("point"))),
    labelled("cause", select([["", "all"], ...present.map((c) => [c[0], c[1]])], "", change("cause"))),
    labelled("category", select([["", "all"], ...categories], "", change("category"))));
  draw();
}
