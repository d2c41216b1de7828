// Data of the page: gzip blocks, opened when asked for. Text reaches the page as text nodes alone.

const opened = new Map();

async function block(name) {
  if (!opened.has(name)) {
    const holder = document.getElementById("data-" + name);
    opened.set(name, holder ? unpack(holder.textContent) : Promise.resolve(null));
  }
  return opened.get(name);
}

async function unpack(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// An element with properties and children; a string becomes a text node, never markup.
function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else if (key in made && key !== "list") made[key] = value;
    else if (value !== false && value !== null) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

function labelled(text, control, wide = false) {
  return el("label", { class: wide ? "wide" : "" }, text, control);
}

function select(options, value, change) {
  const made = el("select", { onchange: () => change(made.value) });
  for (const [key, text] of options) made.append(el("option", { value: key, textContent: text }));
  made.value = value;
  return made;
}

function percent(value) {
  return value === null || value === undefined || value < 0 ? "–" : (100 * value).toFixed(1);
}

function plain(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  return Math.abs(value) < 10 ? value.toFixed(3) : value.toLocaleString("en-US", { maximumFractionDigits: 1 });
}

// A text whose offsets are code points, as the records count them.
class Text {
  constructor(text) {
    this.text = text;
    this.points = /[\ud800-\udfff]/.test(text) ? Array.from(text) : null;
  }
  get length() {
    return this.points ? this.points.length : this.text.length;
  }
  slice(start, end) {
    return this.points ? this.points.slice(start, end).join("") : this.text.slice(start, end);
  }
}

async function textOf(place) {
  const texts = await block("texts");
  if (!texts || place < 0 || texts[place] === null) return null;
  if (!(texts[place] instanceof Text)) texts[place] = new Text(texts[place]);
  return texts[place];
}

// Chunks of a point as [document, start, end] in canonical order, and for each document the place of its first.
async function chunksOf(name) {
  const key = "made:" + name;
  if (!opened.has(key)) opened.set(key, block(name).then(unfold));
  return opened.get(key);
}

function unfold(rows) {
  const chunks = [], first = [];
  for (const [place, flat] of (rows || []).entries()) {
    first.push(chunks.length);
    let start = 0;
    for (let i = 0; i < flat.length; i += 2) {
      start += flat[i];
      chunks.push([place, start, start + flat[i + 1]]);
    }
  }
  first.push(chunks.length);
  return { chunks, first };
}

// Part of the range [start, end) that lies in the ranges, which may overlap.
function covered(start, end, ranges) {
  let at = start, sum = 0;
  for (const [a, b] of ranges.filter(([a, b]) => a < end && b > start).sort((x, y) => x[0] - y[0])) {
    const low = Math.max(at, a);
    if (b > low) { sum += Math.min(b, end) - low; at = Math.min(b, end); }
  }
  return sum;
}
