// Draws a grid of linked parts (ui/diagram.py describes it). No words here: every text arrives as data and is set
// with textContent. The default export is called again whenever the data change; it updates the same picture.

const SVG = "http://www.w3.org/2000/svg";
const views = new WeakMap();

const CSS = `
:host { display: block; }
.diagram {
  --ink: var(--st-text-color, #222); --paper: var(--st-background-color, #fff);
  --quiet: color-mix(in oklab, var(--ink) 72%, var(--paper));
  --line: color-mix(in oklab, var(--ink) 62%, var(--paper));
  --frame: color-mix(in oklab, var(--ink) 46%, var(--paper));
  --stream: color-mix(in oklab, var(--ink) 25%, var(--paper));
  --tint: color-mix(in oklab, var(--ink) 4.5%, var(--paper));
  --accent: var(--st-primary-color, #06c);
  --q: color-mix(in oklab, var(--hue-q) 80%, var(--ink)); --k: color-mix(in oklab, var(--hue-k) 84%, var(--ink));
  --v: color-mix(in oklab, var(--hue-v) 80%, var(--ink)); --norm: color-mix(in oklab, var(--hue-norm) 88%, var(--ink));
  color: var(--ink); font-family: var(--st-font, system-ui, sans-serif); position: relative;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.stage { position: relative; margin: 0 auto; }
svg { position: absolute; inset: 0; overflow: visible; pointer-events: none; }
ol { list-style: none; margin: 0; padding: 0; }
li { position: absolute; }
.box { box-sizing: border-box; position: absolute; inset: 0; display: flex; align-items: center;
  justify-content: center; text-align: center; line-height: 1.18; padding: 1px 3px; border-radius: 6px;
  border: 1.5px solid var(--frame); background: var(--paper); color: var(--ink); text-decoration: none;
  text-wrap: balance; font-weight: 500; transition: border-color .12s; }
.box > span:first-child { min-width: 0; max-width: 100%; }
:lang(zh) .box { line-break: strict; }
a.box { cursor: pointer; }
.token .box { border-color: transparent; background: transparent; padding: 0; font-weight: 600; }
.token a.box { text-decoration: underline 1px var(--frame); text-underline-offset: 4px; }
.norm .box { border-color: var(--norm); border-width: 2px; }
.attention .box { border-width: 2px; border-color: var(--line); font-weight: 650; }
.add .box { border-radius: 50%; border: 2px solid var(--line); padding: 0; }
.add .box > span:first-child, .tap .box > span:first-child { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.add .box::before, .add .box::after { content: ""; position: absolute; background: var(--ink); }
.add .box::before { width: 50%; height: 2px; } .add .box::after { width: 2px; height: 50%; }
.tap .box { border: 0; border-radius: 50%; background: var(--line); }
.missing .box { border-style: dashed; color: var(--quiet); font-weight: 450; }
.missing.token .box { border-color: transparent; text-decoration: underline dashed; text-underline-offset: 3px; }
a.box:hover, .lit .box { border-color: var(--accent); }
a.box:hover > span:first-child, a.box:focus-visible > span:first-child { color: var(--accent); }
.tap.lit .box { background: var(--accent); }
.token.lit .box { border-color: transparent; }
.box:focus { outline: none; }
.box:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.group { fill: var(--tint); stroke: none; }
.group.inner { fill: none; stroke: var(--stream); stroke-width: 1; }
.edge { fill: none; stroke: var(--line); stroke-width: 1.6; stroke-linejoin: round; }
.head { fill: var(--line); }
.band { fill: none; stroke: var(--stream); stroke-linejoin: round; }
.bandhead { fill: var(--stream); }
.loop { stroke-dasharray: 2 4; stroke-linecap: round; }
.q { stroke: var(--q); } .k { stroke: var(--k); } .v { stroke: var(--v); }
.head.q { fill: var(--q); stroke: none; } .head.k { fill: var(--k); stroke: none; } .head.v { fill: var(--v); stroke: none; }
.lit > .edge:not(.q, .k, .v) { stroke: var(--accent); } .lit > .head:not(.q, .k, .v) { fill: var(--accent); }
.lit > .edge { stroke-width: 2.6; }
.lit > .band { stroke: color-mix(in oklab, var(--accent) 55%, var(--paper)); }
.lit > .bandhead { fill: color-mix(in oklab, var(--accent) 55%, var(--paper)); }
text { fill: var(--quiet); font-variant-numeric: tabular-nums; paint-order: stroke; stroke: var(--halo, var(--paper));
  stroke-width: 3px; stroke-linejoin: round; }
tspan.q { fill: var(--q); stroke: inherit; } tspan.k { fill: var(--k); stroke: inherit; } tspan.v { fill: var(--v); stroke: inherit; }
text.grouplabel { fill: var(--ink); stroke: none; font-weight: 600; }
.repeat { fill: var(--quiet); font-weight: 500; }
.inside { --halo: var(--tint); }
.reading { box-sizing: border-box; margin-top: 6px; padding-top: 6px; border-top: 1px solid var(--tint);
  line-height: 1.45; color: var(--quiet); overflow: hidden; }
.marked .box { outline: 2px solid var(--accent); outline-offset: 1.5px; }
.mark { position: absolute; top: -9px; right: -8px; z-index: 1; min-width: 17px; box-sizing: border-box; padding: 0 3px;
  border-radius: 9px; background: var(--accent); color: var(--paper); font-size: 12.5px; line-height: 17px; font-weight: 700;
  text-align: center; pointer-events: none; }
.compact { display: flex; flex-direction: column; }
.compact .stage { margin: 0; }
.compact:lang(zh) .box { word-break: keep-all; } /* its labels break at spaces and commas only */
.compact .reading { order: -1; margin: 0; padding: 0; border: 0; }
.reading b { color: var(--ink); font-weight: 650; margin-inline-end: .6em; }
.reading i { font-style: normal; margin-inline-end: .6em; border-bottom: 1.5px dashed var(--frame); }
@media (prefers-reduced-motion: reduce) { .box { transition: none; } }
@media (forced-colors: active) { .edge, .band { stroke: CanvasText; } .head, .bandhead { fill: CanvasText; } }
`;

export default function show(component) {
  const root = component.parentElement;
  let view = views.get(root);
  if (!view || !root.contains(view.frame)) views.set(root, (view = build(root)));
  view.send = component.setTriggerValue;
  view.data = component.data;
  populate(view);
  layout(view);
}

const html = (tag, className, parent) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  parent?.append(element);
  return element;
};

const svg = (tag, attributes, parent) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent?.append(element);
  return element;
};

function build(root) {
  const frame = html("div", "diagram");
  html("style", "", frame).textContent = CSS;
  const stage = html("div", "stage", frame);
  stage.setAttribute("role", "group");
  const view = { frame, stage, items: new Map(), pointed: null, width: 0 };
  view.picture = svg("svg", { "aria-hidden": "true" }, stage);
  view.list = html("ol", "", stage);
  view.reading = html("div", "reading", frame);
  view.reading.setAttribute("aria-hidden", "true"); // the nodes carry the same words for a screen reader
  root.append(frame);
  document.fonts?.ready.then(() => layout(view)); // words are measured
  new ResizeObserver(() => frame.clientWidth !== view.width && layout(view)).observe(frame);
  return view;
}

// ---- parts -----------------------------------------------------------------------------------------------------

function populate(view) {
  const { frame, stage, list, data, items } = view;
  frame.lang = data.lang;
  frame.classList.toggle("compact", data.compact);
  for (const [name, hue] of Object.entries(data.palette)) frame.style.setProperty(`--hue-${name}`, hue);
  stage.setAttribute("aria-label", data.summary || data.title);
  const wanted = new Set(data.nodes.map((node) => node.id));
  for (const [id, item] of items) if (!wanted.has(id)) { item.remove(); items.delete(id); }
  data.nodes.forEach((node, index) => {
    let item = items.get(node.id);
    if (item && (item.querySelector("a") !== null) !== Boolean(node.href)) { item.remove(); item = null; }
    if (!item) items.set(node.id, (item = part(view, node)));
    if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
    dress(view, item, node);
  });
}

function part(view, node) {
  const item = html("li");
  const box = html(node.href ? "a" : "div", "box", item);
  html("span", "", box);
  const note = html("span", "hidden", item);
  html("span", "mark", item).setAttribute("aria-hidden", "true"); // the note says it in words
  note.id = `note-${node.id}`;
  if (node.href) {
    box.setAttribute("aria-describedby", note.id);
    box.addEventListener("click", (event) => {
      if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return; // the browser's own
      event.preventDefault();
      view.send("go", item.page);
    });
    box.addEventListener("focus", () => point(view, node.id));
    box.addEventListener("blur", () => point(view, null));
  }
  item.addEventListener("pointerenter", () => point(view, node.id));
  item.addEventListener("pointerleave", () => point(view, null));
  return item;
}

function dress(view, item, node) {
  const missing = Boolean(node.page) && !node.href;
  const [box, note, mark] = item.children;
  item.className = `${node.kind}${missing ? " missing" : ""}${node.mark ? " marked" : ""}`;
  mark.textContent = node.mark;
  mark.hidden = !node.mark;
  item.page = node.page;
  item.dataset.id = node.id;
  box.firstChild.textContent = node.label;
  note.textContent = [missing ? view.data.notBuilt : "", node.note].filter(Boolean).join(". ");
  if (node.href) box.href = node.href;
  if (missing) box.title = view.data.notBuilt; else box.removeAttribute("title");
  if (node.kind === "tap") item.setAttribute("aria-hidden", "true"); else item.removeAttribute("aria-hidden");
}

function point(view, id) {
  view.pointed = id;
  for (const group of view.picture.querySelectorAll("g.arrow")) {
    const lit = id !== null && (group.dataset.source === id || group.dataset.target === id);
    group.classList.toggle("lit", lit);
  }
  for (const [key, item] of view.items) item.classList.toggle("lit", key === id);
  const node = view.data.nodes.find((one) => one.id === id);
  view.reading.replaceChildren();
  if (!node) {
    if (view.data.compact) html("b", "", view.reading).textContent = view.data.title;
    view.reading.append(view.data.hint);
    return;
  }
  html("b", "", view.reading).textContent = node.label;
  if (node.page && !node.href) html("i", "", view.reading).textContent = view.data.notBuilt;
  html("span", "", view.reading).textContent = node.note;
}

// ---- geometry --------------------------------------------------------------------------------------------------

// The grid runs left to right while a column gets at least 72 px, otherwise top to bottom with rows as columns.
function measure(view) {
  const { nodes, edges, groups } = view.data;
  const width = view.width;
  const columns = nodes.map((node) => node.column), rows = nodes.map((node) => node.row);
  const c0 = Math.min(...columns), along = Math.max(...columns) - c0 || 1;
  const r0 = Math.min(...rows), across = Math.max(...rows) - r0;
  const outside = edges.some((edge) => edge.points.some((p) => p[1] - r0 > across)); // an arrow that runs back
  if (width / (along + 0.9) < 72) {
    const unit = (Math.min(width, 560) - (outside ? 32 : 14)) / (across + 0.93);
    const box = { w: Math.min(unit * 0.9, 132), h: 44 };
    const left = (width - unit * across) / 2 - (outside ? 9 : 0), step = view.data.compact ? 60 : 70, top = box.h / 2 + 4;
    const at = ([c, r]) => [left + Math.min(r - r0, across) * unit + (r - r0 > across ? box.w / 2 + 12 : 0),
      top + (c - c0) * step];
    return { wide: false, at, unit: step, box, scale: 0.93, text: across > 2 ? 13 : 14, step,
      height: top + along * step + box.h / 2 + 8 };
  }
  const scale = Math.min(1.3, Math.max(0.85, width / 1280));
  const unit = Math.min((width - 8) / (along + 0.86), 150);
  const box = { w: unit * 0.84, h: (view.data.compact ? 44 : 50) * scale };
  const nested = groups.some((g) => groups.some((h) => holds(g, h)));
  const left = (width - unit * along) / 2, top = box.h / 2 + (!groups.length ? 8 : nested ? 62 : 32) * scale;
  const step = view.data.compact ? 78 * scale : Math.min(136, 345 / Math.max(across, 1)) * scale;
  const bottom = box.h / 2 + (view.data.compact ? 15 : 27) * scale, back = bottom + 15 * scale;
  const at = ([c, r]) => [left + (c - c0) * unit,
    top + Math.min(r - r0, across) * step + (r - r0 > across ? back : 0)];
  return { wide: true, at, unit, box, scale, text: 14.8 * scale, step,
    height: top + across * step + (outside ? back + 8 : bottom) };
}

function sizeOf(node, grid) {
  const { box, scale, wide, unit } = grid;
  if (node.kind === "add") return [26 * scale, 26 * scale];
  if (node.kind === "tap") return [11 * scale, 11 * scale];
  const extra = (node.span - 1) * unit * 0.84;
  return wide ? [box.w + extra, box.h] : [box.w, box.h + extra];
}

function layout(view) {
  const width = view.frame.clientWidth;
  if (!width || !view.data) return;
  view.width = width;
  const grid = measure(view);
  view.stage.style.height = `${grid.height}px`;
  view.reading.style.fontSize = `${grid.wide ? 15 : 14}px`;
  view.reading.style.height = view.data.compact ? (grid.wide ? "2.9em" : "5.8em") : (grid.wide ? "3.4em" : "6.3em");
  view.boxes = new Map();
  for (const node of view.data.nodes) {
    const [x, y] = grid.at([node.column, node.row]);
    const [w, h] = sizeOf(node, grid);
    const item = view.items.get(node.id);
    Object.assign(item.style,
      { left: `${x - w / 2}px`, top: `${y - h / 2}px`, width: `${w}px`, height: `${h}px` });
    view.boxes.set(node.id, { x, y, w, h });
  }
  grid.fit = fitWords(view, grid);
  for (const node of view.data.nodes) {
    if (node.kind !== "token") continue; // a token has no frame: arrows go to its text
    const range = document.createRange();
    range.selectNodeContents(view.items.get(node.id).querySelector("span"));
    const words = range.getBoundingClientRect();
    Object.assign(view.boxes.get(node.id), { w: words.width + 8, h: words.height + 8 });
  }
  paint(view, grid);
  point(view, view.pointed);
}

// System fonts differ by a fifth in width: the type shrinks, for all parts alike, until the longest word fits.
function fitWords(view, grid) {
  const boxes = [...view.list.querySelectorAll("li:not(.add, .tap) > .box")];
  const tight = (box) => box.firstChild.scrollWidth > box.firstChild.clientWidth || box.scrollHeight > box.clientHeight;
  for (let fit = 1; ; fit -= 0.04) {
    view.stage.style.fontSize = `${(grid.text * fit).toFixed(2)}px`;
    if (fit < 0.72 || !boxes.some(tight)) return fit;
  }
}

// ---- arrows ----------------------------------------------------------------------------------------------------

const STRANDS = { qkv: ["q", "k", "v"], cross: ["k", "v"], query: ["q"] };

function paint(view, grid) {
  const { picture, data, boxes } = view;
  picture.replaceChildren();
  picture.setAttribute("width", view.width);
  picture.setAttribute("height", grid.height);
  view.tinted = [];
  const rims = data.groups.flatMap((group) => frameGroup(view, grid, group));
  const inks = data.edges.map((edge) => {
    const mark = svg("g", { class: "arrow", "data-source": edge.source, "data-target": edge.target });
    return { edge, mark, points: trim(edge.points.map(grid.at), boxes.get(edge.source), boxes.get(edge.target)) };
  });
  inks.sort((a, b) => (b.edge.style === "residual") - (a.edge.style === "residual")); // the stream lies underneath
  for (const ink of inks) {
    picture.append(ink.mark);
    if (ink.edge.style === "residual") band(view, grid, ink); else strands(ink, grid);
  }
  view.taken = [...obstacles(view, inks), ...rims];
  for (const ink of inks) if (ink.edge.label) caption(view, grid, ink);
}

// The stream passes behind small nodes, and ends in an arrow only where it enters a box.
function band(view, grid, { edge, mark, points }) {
  const thick = 15 * grid.scale;
  const ends = [edge.source, edge.target].map((id) => view.data.nodes.find((node) => node.id === id));
  const small = ends.map((node) => node.kind === "add" || node.kind === "tap");
  const line = points.map((p) => [...p]);
  const full = edge.points.map(grid.at);
  if (small[0]) line[0] = full[0];
  if (small[1]) line[line.length - 1] = full.at(-1);
  else {
    const [tip, back] = arrowhead(line, thick * 0.72, thick * 0.95);
    line[line.length - 1] = back;
    svg("polygon", { class: "bandhead", points: tip }, mark);
  }
  svg("polyline", { class: "band", points: line.join(" "), "stroke-width": thick }, mark);
}

function strands({ edge, mark, points }, grid) {
  const names = STRANDS[edge.style] ?? [edge.style];
  const [[px, py], [x, y]] = points.slice(-2);
  const gap = (x < px || y > py ? -6.5 : 6.5) * grid.scale; // the first strand is the upper or the left one
  names.forEach((name, index) => {
    const line = shift(points, (index - (names.length - 1) / 2) * gap);
    const [tip, back] = arrowhead(line, 3.6 * grid.scale, 7.5 * grid.scale);
    line[line.length - 1] = back;
    svg("polyline", { class: `edge ${name}`, points: line.join(" ") }, mark);
    svg("polygon", { class: `head ${name}`, points: tip }, mark);
  });
}

// Cuts the first and last piece at the boxes they touch, leaving a breath before the arrow's tip.
function trim(points, source, target) {
  const line = points.map((p) => [...p]);
  line[0] = leave(line[0], line[1], source, 0);
  line[line.length - 1] = leave(line.at(-1), line.at(-2), target, 2);
  return line;
}

function leave([x, y], [towardX, towardY], box, gap) {
  if (towardX !== x) return [box.x + Math.sign(towardX - x) * (box.w / 2 + gap), y];
  return [x, box.y + Math.sign(towardY - y) * (box.h / 2 + gap)];
}

function arrowhead(line, half, long) {
  const [x, y] = line.at(-1), [px, py] = line.at(-2);
  const dx = Math.sign(x - px), dy = Math.sign(y - py);
  const back = [x - dx * long, y - dy * long];
  const side = (sign) => [back[0] - dy * half * sign, back[1] + dx * half * sign];
  return [[[x, y], side(1), side(-1)].join(" "), back];
}

// The same polyline moved sideways: at a corner both neighbours' normals add up.
function shift(points, by) {
  const normals = points.slice(1).map((p, i) => [-Math.sign(p[1] - points[i][1]), Math.sign(p[0] - points[i][0])]);
  return points.map(([x, y], i) => {
    const near = [normals[i - 1], normals[i]].filter(Boolean);
    const pick = (axis) => near.map((n) => n[axis]).find((n) => n !== 0) ?? 0;
    return [x + pick(0) * by, y + pick(1) * by];
  });
}

// A shape stands where it touches nothing: the first free place of a few beside its arrow. On a small screen some
// find none and are left out; the notes and the wide picture have them.
function caption(view, grid, { edge, points }) {
  const names = STRANDS[edge.style] ?? [];
  const size = (grid.wide ? 13 : 12) * grid.scale * Math.max(grid.fit, 0.86);
  const short = edge.label.split(" = ").at(-1);
  for (const [label, near] of [[edge.label, true], [short, true], [edge.label, false]]) {
    const text = svg("text", { class: "shape", "font-size": size }, view.picture);
    letter(text, label, names);
    let wide = text.getComputedTextLength();
    const [a, b] = longest(points);
    const squeeze = a[1] === b[1] && near ? (length(a, b) - 8) / wide : 1;
    if (squeeze < 1 && squeeze > 0.86) {
      text.setAttribute("font-size", size * squeeze);
      wide *= squeeze;
    }
    for (const [x, y] of near ? beside(grid, edge, points, wide, size, names.length) : apart(grid, points, wide, size)) {
      const box = { x0: x - 1, x1: x + wide + 1, y0: y - size * 0.82, y1: y + size * 0.22, edge };
      if (box.x0 < -6 || box.x1 > view.width + 6 || view.taken.some((other) => meet(box, other))) continue;
      text.setAttribute("x", x);
      text.setAttribute("y", y);
      text.classList.toggle("inside", view.tinted.some((other) => meet({ ...box, edge: null }, other)));
      view.taken.push({ x0: box.x0 - 5, x1: box.x1 + 5, y0: box.y0 - 3, y1: box.y1 + 3 });
      return;
    }
    text.remove();
  }
}

const longest = (points) => points.slice(1).map((b, i) => [points[i], b])
  .reduce((best, piece) => (length(...piece) > length(...best) ? piece : best));

// Left end and base line of the places to try, the best first: close to the longest piece of the arrow …
function beside(grid, edge, points, wide, size, strands) {
  const [a, b] = longest(points);
  const off = ((edge.style === "residual" ? 15 : strands * 6.5) / 2 + 6.5) * grid.scale;
  if (a[1] === b[1]) {
    const x = (a[0] + b[0] - wide) / 2;
    return wide + 6 < length(a, b) || strands ? [[x, a[1] - off], [x, a[1] + off + size * 0.8]] : [];
  }
  const near = Math.min(length(a, b), grid.step - grid.box.h) / 2; // beside its end, clear of what it passes
  const down = Math.sign(b[1] - a[1]);
  const heights = [b[1] - down * near, (a[1] + b[1]) / 2, a[1] + down * near];
  return heights.flatMap((y) => [[a[0] + off, y + size * 0.36], [a[0] - off - wide, y + size * 0.36]]);
}

// … or, where a level piece is too short, under or over the boxes it joins.
function apart(grid, points, wide, size) {
  const [a, b] = longest(points);
  if (a[1] !== b[1] || !grid.wide) return [];
  const x = (a[0] + b[0] - wide) / 2, under = a[1] + grid.box.h / 2 + size + 1;
  return [[x, under], [x, a[1] - grid.box.h / 2 - 6], [x, under + 11 * grid.scale]];
}

// An arrow may be crossed by its own caption's background, never by another's.
const meet = (a, b) => a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1 && (!a.edge || a.edge !== b.edge);

function obstacles(view, inks) {
  const boxes = [...view.boxes.values()].map((b) =>
    ({ x0: b.x - b.w / 2 - 2, x1: b.x + b.w / 2 + 2, y0: b.y - b.h / 2, y1: b.y + b.h / 2 }));
  const lines = inks.flatMap(({ edge, points }) => points.slice(1).map((b, i) => piece(points[i], b, edge)));
  return [...boxes, ...lines];
}

function piece(a, b, edge) {
  const half = edge?.style === "residual" ? 7 : (STRANDS[edge?.style]?.length ?? 1) * 3;
  return { x0: Math.min(a[0], b[0]) - half, x1: Math.max(a[0], b[0]) + half,
    y0: Math.min(a[1], b[1]) - half, y1: Math.max(a[1], b[1]) + half, edge };
}

// "K V to all layers": as many words as the arrow has strands take their colours, the rest stays grey.
function letter(text, label, names) {
  const words = label.split(" ");
  const rest = words.splice(names.length);
  words.slice(0, names.length).forEach((word, i) => {
    svg("tspan", { class: names[i], "font-weight": 700 }, text).textContent = i ? `\u2009${word}` : word;
  });
  const gap = words.length && rest.length ? "\u2002" : "";
  svg("tspan", {}, text).textContent = gap + rest.join(" ");
}

const length = (a, b) => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]);

const holds = (outer, inner) => outer !== inner && inner.nodes.every((id) => outer.nodes.includes(id));

// The frame and its label; returns what captions must not touch.
function frameGroup(view, grid, group) {
  const boxes = group.nodes.map((id) => view.boxes.get(id));
  const nested = view.data.groups.some((other) => holds(other, group));
  const holder = view.data.groups.some((other) => holds(group, other));
  const head = 20 * grid.scale, small = 8 * grid.scale;
  const pad = nested ? small : holder ? small + 5 : 11 * grid.scale;
  const below = !grid.wide && !nested; // from top to bottom the corner below the branch is the free one
  const x0 = Math.min(...boxes.map((b) => b.x - b.w / 2)) - pad;
  const x1 = Math.max(...boxes.map((b) => b.x + b.w / 2)) + pad;
  const y0 = Math.min(...boxes.map((b) => b.y - b.h / 2)) - pad - (below ? 0 : head) - (holder ? head + 4 : 0);
  const y1 = Math.max(...boxes.map((b) => b.y + b.h / 2)) + pad + (below ? head * (holder ? 1 : 0.6) : 0);
  svg("rect", { class: nested ? "group inner" : "group", x: x0, y: y0, width: x1 - x0, height: y1 - y0,
    rx: nested ? 7 : 10 }, view.picture);
  const y = below ? y1 - 8 : y0 + head * 0.95, x = x0 + (below ? 7 : Math.min(pad, 11));
  const size = (nested ? 13.2 : below ? 13.8 : 14.8) * grid.scale * Math.max(grid.fit, 0.86);
  const text = svg("text", { class: "grouplabel", x, y, "font-size": size }, view.picture);
  svg("tspan", {}, text).textContent = group.label;
  svg("tspan", { class: "repeat", dx: group.label ? "0.4em" : 0 }, text).textContent = group.repeat;
  const room = x1 - x - 4, wide = text.getComputedTextLength();
  if (wide > room) text.setAttribute("font-size", (size * room) / wide);
  if (!nested) view.tinted.push({ x0, x1, y0, y1 });
  const title = { x0: x0 + 4, x1: x0 + 16 + text.getComputedTextLength(), y0: y - size, y1: y + 3 };
  const corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]];
  return [title, ...corners.slice(1).map((corner, i) => piece(corners[i], corner))];
}
