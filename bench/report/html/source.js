// Source text with what lies over it: gold spans, chunk borders, what was handed over.

const AROUND = 700;
const JOIN = 400;

// Draw text[low, high) with marks. Ranges are [start, end]; borders are [offset, label, isEnd].
function drawText(text, low, high, gold, given, borders) {
  const edges = new Set([low, high]);
  for (const [a, b] of [...gold, ...given]) { edges.add(a); edges.add(b); }
  for (const [at] of borders) edges.add(at);
  const cuts = [...edges].filter((at) => at >= low && at <= high).sort((a, b) => a - b);
  const inside = (ranges, at) => ranges.some(([a, b]) => a <= at && at < b);
  const byPlace = new Map();
  for (const border of borders) {
    if (!byPlace.has(border[0])) byPlace.set(border[0], []);
    byPlace.get(border[0]).push(border);
  }
  const made = [];
  if (low > 0) made.push("… ");
  cuts.forEach((at, i) => {
    for (const [, label, isEnd] of byPlace.get(at) || []) {
      made.push(el("span", { class: isEnd ? "cut end" : "cut", "data-at": label, title: isEnd ? `chunk ${label} ends` : `chunk ${label} begins` }));
    }
    if (i + 1 < cuts.length) {
      const part = text.slice(at, cuts[i + 1]), isGold = inside(gold, at), isGiven = inside(given, at);
      if (isGold) made.push(el("mark", { class: isGiven ? "given" : "" }, part));
      else if (isGiven) made.push(el("span", { class: "given" }, part));
      else made.push(part);
    }
  });
  if (high < text.length) made.push(" …");
  return made;
}

// Windows [document, low, high] around the gold of a question; near ones are joined.
function windowsOf(question, texts) {
  const places = question.evidence.flat().filter(([place]) => place >= 0 && texts[place]);
  places.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const found = [];
  for (const [place, start, end] of places) {
    const low = Math.max(0, start - AROUND), high = Math.min(texts[place].length, end + AROUND);
    const last = found[found.length - 1];
    if (last && last[0] === place && low <= last[2] + JOIN) last[2] = Math.max(last[2], high);
    else found.push([place, low, high]);
  }
  return found;
}

function goldOf(question, place) {
  return question.evidence.flat().filter(([p]) => p === place).map(([, a, b]) => [a, b]);
}

async function sourceView(core, question, point, given) {
  const { chunks, first } = await chunksOf(point.chunks);
  const texts = [];
  for (const [place] of question.evidence.flat()) if (place >= 0) texts[place] = await textOf(place);
  const made = windowsOf(question, texts).flatMap(([place, low, high]) => {
    const borders = [];
    for (let i = first[place]; i < first[place + 1]; i += 1) {
      const [, a, b] = chunks[i], label = String(i - first[place] + 1);
      if (b >= low && b <= high && chunks[i + 1] && chunks[i + 1][0] === place && chunks[i + 1][1] < b) borders.push([b, label, true]);
      if (a >= low && a <= high) borders.push([a, label, false]);
    }
    const ranges = given.filter((g) => g[0] === place).map(([, a, b]) => [a, b]);
    const title = `${core.docs[place]}, characters ${low}–${high}`;
    return [el("h4", { dir: "auto" }, title),
      el("div", { class: "text", dir: "auto", tabIndex: 0, role: "region", "aria-label": title },
        drawText(texts[place], low, high, goldOf(question, place), ranges, borders))];
  });
  if (!made.length) return [el("p", { class: "small" }, question.evidence.length ? "The texts of the evidence are not in this page." : "The question has no evidence: it counts as unanswerable.")];
  const key = el("p", { class: "key" }, el("span", {}, el("mark", {}, "gold evidence")), el("span", {}, el("span", { class: "given" }, "handed over")),
    el("span", {}, el("span", { class: "cut", "data-at": "3" }), "chunk 3 begins"));
  return [key, ...made];
}
