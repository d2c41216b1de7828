// The table of settings: sorted, filtered, with columns of the reader's choice, copied as CSV.

const SHARES = /^(span_|evidence|nDCG|P@|R@|RR|AP|Success|recall|precision|faithful|fully|answer_|citation|decline|false_|stale|injection|ragas|context_recall|context_precision|context_relevance|duplication|reachable|required|synthesis|unsupported_share|noise|context_util)/;

function columnsOf(core) {
  const cut = core.headline.split("@")[1];
  const found = [
    { key: "label", title: "setting", get: (p) => p.label, on: true },
    { key: "mark", title: "mark", get: (p) => p.mark, on: true },
  ];
  const axes = new Set(core.points.flatMap((p) => Object.keys(p.axes)));
  for (const key of axes) {
    found.push({ key: "axis:" + key, title: key, get: (p) => p.axes[key] ?? null, on: ["size", "overlap"].includes(key) });
  }
  const shown = [core.headline, "span_precision@k=5", "nDCG@k=10", "faithfulness", "answer_correctness"];
  const names = new Set(core.points.flatMap((p) => Object.keys(p.means)));
  for (const key of [core.headline, ...[...names].filter((n) => n !== core.headline)]) {
    found.push({ key, title: key.replace("@" + cut, " at budget"), measure: key, share: SHARES.test(key), on: shown.includes(key),
      get: (p, view) => view.means(p, key) });
  }
  found.push({ key: "low", title: "95 % low", share: true, on: true, get: (p) => (p.interval ? p.interval[0] : null) });
  found.push({ key: "high", title: "95 % high", share: true, on: true, get: (p) => (p.interval ? p.interval[1] : null) });
  const groups = [["realised", ["chunks", "tokens_per_chunk_median"]], ["cost", ["index_bytes"]], ["timings", []], ["patterns", []]];
  for (const [group, on] of groups) {
    const keys = new Set(core.points.flatMap((p) => Object.keys(p[group])));
    for (const key of keys) {
      const title = { timings: key + " s", patterns: key.replaceAll("_", " ") }[group] || key.replaceAll("_", " ");
      found.push({ key: group + ":" + key, title, get: (p) => p[group][key] ?? null, on: on.includes(key) });
    }
  }
  return found;
}

// Means over the questions of one category (all questions: the recorded means).
class View {
  constructor(core) {
    this.core = core;
    this.category = "";
    core.points.forEach((point, i) => { point.index = i; });
  }
  means(point, measure) {
    const row = this.core.measures.indexOf(measure);
    if (!this.category || row < 0) return this.category ? null : point.means[measure] ?? null;
    let sum = 0, n = 0;
    this.core.matrix[row][point.index].forEach((value, q) => {
      if (value >= 0 && this.core.categories[q] === this.category) { sum += value; n += 1; }
    });
    return n ? sum / n / 1000 : null;
  }
}

function pointsTable(core, open) {
  const columns = columnsOf(core), view = new View(core);
  const state = { sort: core.headline, down: true, filters: {}, words: "" };
  const holder = document.getElementById("points-table"), status = document.getElementById("points-status");

  function rows() {
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = core.points.filter((p) =>
      words.every((w) => p.label.toLowerCase().includes(w)) &&
      Object.entries(state.filters).every(([key, value]) => value === "" || String(p.axes[key]) === value));
    const column = columns.find((c) => c.key === state.sort);
    const value = (p) => column.get(p, view);
    return kept.sort((a, b) => {
      const x = value(a), y = value(b);
      if (x === null || y === null) return (x === null) - (y === null);
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
      return state.down ? -order : order;
    });
  }

  const cell = (column, value) => (column.share && typeof value === "number" ? percent(value) : plain(value));

  function draw() {
    const shown = columns.filter((c) => c.on), found = rows();
    const head = shown.map((column) => {
      const sorted = state.sort === column.key;
      const button = el("button", { type: "button", onclick: () => sortBy(column.key) },
        column.title + (column.share ? ", %" : "") + (sorted ? (state.down ? " ▼" : " ▲") : ""));
      return el("th", { scope: "col", "aria-sort": sorted ? (state.down ? "descending" : "ascending") : "none" }, button);
    });
    const body = found.map((point) => el("tr", { class: point.mark.startsWith("chosen") ? "chosen" : "" },
      shown.map((column) => {
        if (column.key === "label") {
          const link = el("a", { href: "#question=&point=" + point.id, onclick: (e) => { e.preventDefault(); open(point); } }, point.label);
          return el("th", { scope: "row", dir: "auto" }, link);
        }
        const value = column.get(point, view);
        return el("td", { class: typeof value === "number" ? "n" : "" }, cell(column, value));
      })));
    holder.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)));
    const asked = view.category ? core.categories.filter((c) => c === view.category).length : core.questions.length;
    status.textContent = `${found.length} of ${core.points.length} settings; ` +
      (view.category ? `means over the ${asked} questions of “${view.category}”; intervals are of all questions` : `${asked} questions`);
  }

  function sortBy(key) {
    state.down = state.sort === key ? !state.down : true;
    state.sort = key;
    draw();
    holder.querySelectorAll("th button")[columns.filter((c) => c.on).findIndex((c) => c.key === key)].focus();
  }

  function csv() {
    const shown = columns.filter((c) => c.on);
    const quote = (value) => (/[",\n\r]/.test(value) ? '"' + value.replaceAll('"', '""') + '"' : value);
    const line = (cells) => cells.map((v) => quote(v === null || v === undefined ? "" : String(v))).join(",");
    return [line(shown.map((c) => c.title)), ...rows().map((p) => line(shown.map((c) => c.get(p, view))))].join("\n") + "\n";
  }

  async function copy() {
    const text = csv();
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = "Copied as CSV.";
    } catch {
      const area = el("textarea", { value: text, "aria-label": "Table as CSV", rows: 8, style: "width:100%" });
      status.replaceChildren("Press Ctrl+C to copy.", area);
      area.select();
    }
  }

  const tools = [labelled("Find", el("input", { type: "search", oninput: (e) => { state.words = e.target.value; draw(); } }))];
  for (const key of ["strategy", "size", "overlap", "embedder", "retriever"]) {
    const values = [...new Set(core.points.map((p) => p.axes[key]).filter((v) => v !== undefined).map(String))];
    values.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    if (values.length > 1) {
      tools.push(labelled(key, select([["", "all"], ...values.map((v) => [v, v])], "", (v) => { state.filters[key] = v; draw(); })));
    }
  }
  const categories = [...new Set(core.categories)].sort();
  if (categories.length > 1) {
    tools.push(labelled("category", select([["", "all"], ...categories.map((c) => [c, c])], "", (v) => { view.category = v; draw(); })));
  }
  tools.push(el("button", { type: "button", class: "act", id: "copy-csv", onclick: copy }, "Copy as CSV"));
  const boxes = columns.slice(1).map((column) => el("label", {},
    el("input", { type: "checkbox", checked: column.on, onchange: (e) => { column.on = e.target.checked; draw(); } }), " " + column.title));
  const chooser = el("details", { id: "columns" }, el("summary", {}, "Columns"), el("div", { class: "columns", tabIndex: 0, role: "group", "aria-label": "Columns" }, boxes));
  document.getElementById("points-tools").replaceChildren(...tools, chooser);
  draw();
  return { csv };
}
