// One question at one setting, or at two side by side.

const HITS_SHOWN = 12;

function hash() {
  return new URLSearchParams(location.hash.slice(1));
}

function rangesOf(block, flat, chunks) {
  const hits = [];
  for (let i = 2; i < flat.length; i += 2) {
    const place = flat[i];
    const [doc, start, end, low, high, header] = place >= 0 ? chunks[place] : block.extra[-1 - place];
    hits.push({ rank: i / 2, chunk: place, doc, start, end, low: low ?? start, high: high ?? end, header, score: flat[i + 1] / 1000 });
  }
  const count = flat[0];
  for (const hit of hits) hit.used = hit.rank <= count;
  const last = hits[count - 1];
  if (last && flat[1] < last.high) { last.cutAt = flat[1]; }
  return hits;
}

function markRepeats(hits, texts) {
  const seen = [], bodies = new Map();
  for (const hit of hits) {
    const length = hit.high - hit.low;
    const ranges = seen.filter((s) => s[0] === hit.doc).map(([, a, b]) => [a, b]);
    hit.repeated = length ? covered(hit.low, hit.high, ranges) / length : 0;
    seen.push([hit.doc, hit.low, hit.high]);
    const body = texts[hit.doc] ? texts[hit.doc].slice(hit.low, hit.high).split(/\s+/).join(" ") : "";
    if (body && bodies.has(body) && hit.repeated < 1) hit.sameAs = bodies.get(body);
    else if (body) bodies.set(body, hit.rank);
  }
}

async function hitList(core, question, block, hits) {
  const texts = [];
  for (const hit of hits) if (hit.doc >= 0) texts[hit.doc] = await textOf(hit.doc);
  markRepeats(hits, texts);
  const items = hits.map((hit) => hitItem(core, question, block, hit, texts[hit.doc]));
  const rest = items.splice(HITS_SHOWN);
  const more = rest.length ? el("details", {}, el("summary", {}, `Ranks ${HITS_SHOWN + 1} to ${hits.length}`), el("ol", { class: "hits" }, rest)) : null;
  return el("div", {}, el("ol", { class: "hits" }, items), more);
}

function hitItem(core, question, block, hit, text) {
  const gold = goldOf(question, hit.doc), held = gold.reduce((sum, [a, b]) => sum + covered(a, b, [[hit.low, hit.high]]), 0);
  const tags = [];
  if (held) tags.push(["good", "holds gold"]);
  if (!hit.used) tags.push(["dim", "after the budget"]);
  if (hit.cutAt !== undefined) tags.push(["warn", "cut by the budget"]);
  if (hit.repeated > 0.005) tags.push(["warn", `${Math.round(100 * hit.repeated)} % repeats earlier ranks`]);
  if (hit.sameAs) tags.push(["warn", `same text as rank ${hit.sameAs}`]);
  const stop = block.truncated[String(hit.chunk)];
  if (stop !== undefined) tags.push(["bad", `embedder stops after ${stop - hit.start} of ${hit.end - hit.start} characters`]);
  const name = hit.doc >= 0 ? core.docs[hit.doc] : "source not shown";
  const summary = el("summary", {}, `${hit.rank}. `, el("bdi", {}, name), ` [${hit.low}, ${hit.high}) score ${hit.score.toFixed(3)} `,
    tags.map(([kind, words]) => el("span", { class: "tag " + kind }, words)));
  const given = hit.used ? [[hit.low, hit.cutAt ?? hit.high]] : [];
  const borders = stop === undefined ? [] : [[stop, "embedder stops", true]];
  const body = text ? el("div", { class: "text", dir: "auto" }, drawText(text, hit.low, hit.high, gold, given, borders)) : el("p", { class: "small" }, "Its text is not in this page.");
  const header = hit.header ? el("p", { class: "small", dir: "auto" }, `Handed over under “${hit.header}”`) : null;
  return el("li", { class: hit.used ? "" : "out" }, el("details", { open: hit.rank === 1 }, summary, header, body));
}

function answerView(answer) {
  const kinds = { supported: "good", partial: "warn", unsupported: "bad", contradicted: "bad" };
  const claims = answer.claims.map(([claim, verdict, quote, reason]) => el("li", { dir: "auto" },
    el("span", { class: "tag " + (kinds[verdict] || "dim") }, verdict), claim,
    quote ? el("blockquote", { class: "small", dir: "auto" }, "“" + quote + "”") : null, reason ? el("p", { class: "small" }, reason) : null));
  const cited = answer.citations.map(([passage, verdict, reason, claim]) => el("li", { dir: "auto" },
    `[${passage}] `, el("span", { class: "tag " + (kinds[verdict] || "dim") }, verdict || "not judged"), [reason, claim].filter(Boolean).join(": ")));
  return [el("p", {}, el("span", { class: "tag dim" }, answer.status)), el("p", { dir: "auto", class: "text" }, answer.text || "(empty)"),
    claims.length ? el("h4", {}, "Claims") : null, claims.length ? el("ul", {}, claims) : null,
    cited.length ? el("h4", {}, "Citations") : null, cited.length ? el("ul", {}, cited) : null,
    answer.faults.map((fault) => el("p", { class: "note" }, fault))].flat();
}

function scoresView(core, q, point) {
  const parts = core.measures.map((name, m) => [name, core.matrix[m][point.index][q]]);
  return el("p", { class: "small" }, parts.map(([name, value]) => `${name} ${value < 0 ? "–" : (value / 1000).toFixed(3)}`).join(" · "));
}

async function sideView(core, q, point) {
  const question = core.questions[q], cause = core.misses[point.index][q];
  const side = el("div", { class: "side" }, el("h3", { dir: "auto" }, point.label), scoresView(core, q, point));
  const details = await block("point-" + point.index);
  const why = details && details.why[q];
  if (cause) {
    const [, title, change, remedy] = core.causes[cause - 1];
    side.append(el("div", { class: "cause" }, el("strong", {}, title), el("p", { dir: "auto" }, why || ""), el("p", {}, `Change the ${change}: ${remedy}`)));
  } else side.append(el("div", { class: "cause fine" }, el("strong", {}, "No fault found"), el("p", {}, "All that can be checked is as it should be.")));
  if (!details) {
    side.append(el("p", { class: "note" }, "The details of this setting are not in this page, to keep it small: see its questions.jsonl."));
    return side;
  }
  const { chunks } = await chunksOf(point.chunks);
  const hits = rangesOf(details, details.hits[q], chunks);
  const given = hits.filter((h) => h.used && h.doc >= 0).map((h) => [h.doc, h.low, h.cutAt ?? h.high]);
  side.append(el("h4", {}, "Source: gold over chunk borders"), ...(await sourceView(core, question, point, given)));
  const used = details.hits[q][0], short = hits.length < used ? `; the first ${hits.length} are in this page` : "";
  side.append(el("h4", {}, `Retrieved: ${used} chunks for ${core.budget.toLocaleString("en-US")} tokens${short}`), await hitList(core, question, details, hits));
  const answer = details.answers && details.answers[q];
  if (answer) side.append(el("h4", {}, "Answer"), ...answerView(answer));
  return side;
}

function drillDown(core) {
  const miss = core.misses[core.first].findIndex((cause) => cause > 0);
  const state = { q: Math.max(0, miss), a: core.first, b: -1, words: "", missesOnly: false };
  const holder = document.getElementById("drill");
  let turn = 0;

  function listed() {
    const words = state.words.toLowerCase();
    return core.questions.map((question, q) => [question, q]).filter(([question, q]) =>
      (!words || (question.text + " " + question.id + " " + core.categories[q]).toLowerCase().includes(words)) &&
      (!state.missesOnly || core.misses[state.a][q]));
  }

  const chooser = el("select", { onchange: () => { state.q = Number(chooser.value); go(); } });
  const first = select(core.order.map((i) => [String(i), core.points[i].label]), String(state.a), (v) => { state.a = Number(v); fill(); go(); });
  const second = select([["-1", "none"], ...core.order.map((i) => [String(i), core.points[i].label])], "-1", (v) => { state.b = Number(v); go(); });
  const words = el("input", { type: "search", oninput: () => { state.words = words.value; fill(); } });
  const only = el("input", { type: "checkbox", onchange: () => { state.missesOnly = only.checked; fill(); } });

  function fill() {
    chooser.replaceChildren(...listed().map(([question, q]) =>
      el("option", { value: String(q), textContent: `${core.misses[state.a][q] ? "✗ " : ""}${question.id}: ${question.text}` })));
    chooser.value = String(state.q);
  }

  function step(by) {
    const places = listed().map(([, q]) => q);
    if (!places.length) return;
    const at = places.indexOf(state.q);
    state.q = places[(at + by + places.length) % places.length];
    go();
  }

  function go() {
    const parts = { question: core.questions[state.q].id, point: core.points[state.a].id };
    if (state.b >= 0) parts.with = core.points[state.b].id;
    location.hash = new URLSearchParams(parts).toString();
  }

  async function draw() {
    const own = (turn += 1), question = core.questions[state.q];
    const sides = await Promise.all([state.a, ...(state.b >= 0 ? [state.b] : [])].map((i) => sideView(core, state.q, core.points[i])));
    if (own !== turn) return;
    holder.replaceChildren(
      el("h3", { dir: "auto", id: "drill-title" }, question.text || question.id),
      el("p", { class: "small" }, `${question.id} · ${core.categories[state.q]} · ${question.answerable ? "answerable" : "has no answer"}`),
      el("p", { dir: "auto" }, el("strong", {}, "Reference: "), question.answer || "none"),
      el("div", { class: "sides" }, sides));
    holder.dataset.question = question.id;
    for (const mark of holder.querySelectorAll(".text > mark:first-of-type")) {
      mark.parentElement.scrollTop = mark.offsetTop - mark.parentElement.offsetTop - 80;
    }
  }

  // Follow the address: true if it names a question or a setting.
  async function follow() {
    const wanted = hash(), find = (name) => core.points.findIndex((p) => p.id === wanted.get(name));
    if (!wanted.has("question") && !wanted.has("point")) return false;
    const q = core.questions.findIndex((question) => question.id === wanted.get("question"));
    if (q >= 0) state.q = q;
    if (find("point") >= 0) state.a = find("point");
    state.b = find("with");
    first.value = String(state.a);
    second.value = String(state.b);
    fill();
    await draw();
    document.getElementById("questions").scrollIntoView();
    holder.focus({ preventScroll: true });
    return true;
  }

  document.getElementById("drill-tools").replaceChildren(
    labelled("Find a question", words), labelled("Question", chooser, true), labelled("Setting", first), labelled("Beside it", second),
    el("label", {}, el("span", {}, only, " misses only")),
    el("button", { type: "button", class: "act", onclick: () => step(-1) }, "Previous"),
    el("button", { type: "button", class: "act", id: "next-question", onclick: () => step(1) }, "Next"));
  fill();
  window.addEventListener("hashchange", follow);
  return { follow, draw, open: (point) => { state.a = point.index; go(); } };
}
