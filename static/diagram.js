// Draws a grid of linked parts (ui/diagram.py describes it). No words here: every text arrives as data and is set
// with textContent. The default export is called again whenever the data change; it updates the same picture.

const SVG = "http://www.w3.org/2000/svg";
const views = new WeakMap();

const CSS = `
:host { display: block; }
.diagram {
  --ink: var(--st-text-color, #222); --paper: var(--st-background-color, #fff);
  --quiet: color-mix(in oklab, var(--ink) 64%, var(--paper));
  --line: color-mix(in oklab, var(--ink) 62%, var(--paper));
  --frame: color-mix(in oklab, var(--ink) 38%, var(--paper));
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
  justify-content: center; text-align: center; line-height: 1.18; padding: 2px 4px; border-radius: 6px;
  border: 1.5px solid var(--frame); background: var(--paper); color: var(--ink); text-decoration: none;
  overflow-wrap: break-word; text-wrap: balance; font-weight: 500; transition: border-color .12s; }
.box > span:first-child { min-width: 0; max-width: 100%; }
:lang(zh) .box { line-break: strict; }
a.box { cursor: pointer; }
.token .box { border-color: transparent; background: transparent; padding: 0; font-weight: 600; }
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
  stroke-width: 4px; stroke-linejoin: round; }
tspan.q { fill: var(--q); stroke: inherit; } tspan.k { fill: var(--k); stroke: inherit; } tspan.v { fill: var(--v); stroke: inherit; }
text.grouplabel { fill: var(--ink); stroke: none; font-weight: 600; }
.repeat { fill: var(--quiet); font-weight: 500; }
.inside { --halo: var(--tint); }
.reading { box-sizing: border-box; margin-top: 6px; padding-top: 6px; border-top: 1px solid var(--tint);
  line-height: 1.45; color: var(--quiet); overflow: hidden; }
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
  const view = { frame, stage, items: new Map(), focused: null, width: 0 };
  view.picture = svg("svg", { "aria-hidden": "true" }, stage);
  view.list = html("ol", "", stage);
  view.reading = html("div", "reading", frame);
  view.reading.setAttribute("aria-hidden", "true"); // the nodes carry the same words for a screen reader
  root.append(frame);
  new ResizeObserver(() => frame.clientWidth !== view.width && layout(view)).observe(frame);
  return view;
}

// ---- parts -----------------------------------------------------------------------------------------------------

function populate(view) {
  const { frame, stage, list, data, items } = view;
  frame.lang = data.lang;
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
  const [box, note] = item.children;
  item.className = `${node.kind}${missing ? " missing" : ""}`;
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
  const near = new Set([id]);
  for (const group of view.picture.querySelectorAll("g.arrow")) {
    const lit = id !== null && (group.dataset.source === id || group.dataset.target === id);
    group.classList.toggle("lit", lit);
  }
  for (const [key, item] of view.items) item.classList.toggle("lit", near.has(key));
  const node = view.data.nodes.find((one) => one.id === id);
  view.reading.replaceChildren();
  if (!node || node.kind === "tap" && !node.note) { view.reading.textContent = view.data.hint; return; }
  html("b", "", view.reading).textContent = node.label;
  if (node.page && !node.href) html("i", "", view.reading).textContent = view.data.notBuilt;
  html("span", "", view.reading).textContent = node.note;
}

// ---- geometry --------------------------------------------------------------------------------------------------

// The grid runs left to right while a column gets at least 72 px, otherwise top to bottom with rows as columns.
function measure(view) {
  const nodes = view.data.nodes;
  const corners = view.data.edges.flatMap((edge) => edge.points);
  const span = (values) => [Math.min(...values), Math.max(...values)];
  const [c0, c1] = span([...nodes.map((n) => n.column), ...corners.map((p) => p[0])]);
  const [r0, r1] = span([...nodes.map((n) => n.row), ...corners.map((p) => p[1])]);
  const width = view.width;
  const wide = width / (c1 - c0 + 0.9) >= 72;
  const along = Math.max(c1 - c0, 1);
  const across = Math.max(r1 - r0, 1);
  const scale = Math.min(1.3, Math.max(0.85, width / 1280));
  const groups = view.data.groups;
  const crown = !groups.length ? 8 : groups.some((g) => groups.some((h) => holds(g, h))) ? 62 : 32;
  if (wide) {
    const unit = Math.min((width - 8) / (along + 0.86), 150);
    const box = { w: unit * 0.84, h: 50 * scale };
    const step = Math.min(128, 400 / across) * scale;
    const left = (width - unit * along) / 2, top = box.h / 2 + crown * scale;
    const at = ([c, r]) => [left + (c - c0) * unit, top + (r - r0) * step];
    return { wide, at, unit, box, scale, step, height: top + across * step + box.h / 2 + 28 * scale };
  }
  const span2 = Math.min(width, 620);
  const unit = (span2 - 8) / (across + 0.9);
  const box = { w: Math.min(unit * 0.86, 132), h: 44 };
  const left = (width - unit * across) / 2, top = box.h / 2 + 10;
  const step = 66;
  const at = ([c, r]) => [left + (r - r0) * unit, top + (c - c0) * step];
  return { wide, at, unit: step, step, box, scale: 0.93, height: top + along * step + box.h / 2 + 10 };
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
  view.stage.style.fontSize = `${Math.round(14.5 * grid.scale * 10) / 10}px`;
  view.reading.style.fontSize = `${grid.wide ? 15 : 14}px`;
  view.reading.style.height = grid.wide ? "3.4em" : "7em";
  view.boxes = new Map();
  for (const node of view.data.nodes) {
    const [x, y] = grid.at([node.column, node.row]);
    const [w, h] = sizeOf(node, grid);
    const item = view.items.get(node.id);
    Object.assign(item.style,
      { left: `${x - w / 2}px`, top: `${y - h / 2}px`, width: `${w}px`, height: `${h}px` });
    const words = item.querySelector("span").getBoundingClientRect(); // a token has no frame: arrows go to its text
    const bare = node.kind === "token";
    view.boxes.set(node.id, bare ? { x, y, w: words.width + 8, h: words.height + 8 } : { x, y, w, h });
  }
  paint(view, grid);
  point(view, view.pointed ?? null);
}

// ---- arrows ----------------------------------------------------------------------------------------------------

const STRANDS = { qkv: ["q", "k", "v"], cross: ["k", "v"], query: ["q"] };

function paint(view, grid) {
  const { picture, data, boxes } = view;
  picture.replaceChildren();
  picture.setAttribute("width", view.width);
  picture.setAttribute("height", grid.height);
  for (const group of data.groups) frameGroup(view, grid, group);
  const inks = data.edges.map((edge) => {
    const mark = svg("g", { class: "arrow", "data-source": edge.source, "data-target": edge.target });
    return { edge, mark, points: trim(edge.points.map(grid.at), boxes.get(edge.source), boxes.get(edge.target)) };
  });
  inks.sort((a, b) => (b.edge.style === "residual") - (a.edge.style === "residual")); // the stream lies underneath
  for (const ink of inks) {
    picture.append(ink.mark);
    if (ink.edge.style === "residual") band(view, grid, ink); else strands(ink, grid);
  }
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
    const [tip, back] = arrowhead(line, thick * 0.72, thick * 0.95, 1);
    line[line.length - 1] = back;
    svg("polygon", { class: "bandhead", points: tip }, mark);
  }
  svg("polyline", { class: "band", points: line.join(" "), "stroke-width": thick }, mark);
}

function strands({ edge, mark, points }, grid) {
  const names = STRANDS[edge.style] ?? [edge.style];
  const gap = 6.5 * grid.scale;
  names.forEach((name, index) => {
    const line = shift(points, (index - (names.length - 1) / 2) * gap);
    const [tip, back] = arrowhead(line, 3.6 * grid.scale, 7.5 * grid.scale, 1);
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

// Shapes stand beside the last long piece of their arrow; where that is too short for them, below the boxes.
function caption(view, grid, { edge, points }) {
  const size = 12.5 * grid.scale;
  const pieces = points.slice(1).map((b, i) => [points[i], b]);
  const [a, b] = pieces.reduce((best, piece) => (length(...piece) > length(...best) ? piece : best));
  const names = STRANDS[edge.style] ?? [];
  const text = svg("text", { class: "shape", "font-size": size, "text-anchor": "middle" }, view.picture);
  letter(text, edge.label, names);
  const wide = text.getComputedTextLength();
  const thick = edge.style === "residual" ? 15 : names.length * 6.5;
  const beside = (thick / 2 + 5) * grid.scale;
  let [x, y] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  if (a[1] === b[1]) {
    const fits = wide + 6 < length(a, b) || names.length;
    y += fits ? -beside : grid.box.h / 2 + size;
  } else if (edge.style === "residual") y += size * 0.36; // across the stream, where it runs downwards
  else {
    const near = Math.min(length(a, b), grid.step - grid.box.h) / 2; // beside its end, clear of what it passes
    y = b[1] - Math.sign(b[1] - a[1]) * near + size * 0.36;
    const right = x + beside + wide < view.width;
    text.setAttribute("text-anchor", right ? "start" : "end");
    x += right ? beside : -beside;
  }
  text.setAttribute("x", x);
  text.setAttribute("y", y);
  const inside = [...view.picture.querySelectorAll("rect.group")].some((rect) => {
    const box = rect.getBBox();
    return x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
  });
  text.classList.toggle("inside", inside);
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

function frameGroup(view, grid, group) {
  const boxes = group.nodes.map((id) => view.boxes.get(id));
  const nested = view.data.groups.some((other) => holds(other, group));
  const holder = view.data.groups.some((other) => holds(group, other));
  const head = 20 * grid.scale, inner = 8 * grid.scale;
  const pad = nested ? inner : (holder ? 2 * inner : 11 * grid.scale);
  const left = Math.min(...boxes.map((b) => b.x - b.w / 2)) - pad;
  const right = Math.max(...boxes.map((b) => b.x + b.w / 2)) + pad;
  const top = Math.min(...boxes.map((b) => b.y - b.h / 2)) - pad - (holder ? 2.2 : 1) * head;
  const bottom = Math.max(...boxes.map((b) => b.y + b.h / 2)) + pad;
  const box = { x: left, y: top, width: right - left, height: bottom - top, rx: nested ? 7 : 10 };
  svg("rect", { class: nested ? "group inner" : "group", ...box }, view.picture);
  const text = svg("text", { class: "grouplabel", x: left + Math.min(pad, 11), y: top + head * 0.95,
    "font-size": (nested ? 13 : 14.5) * grid.scale }, view.picture);
  svg("tspan", {}, text).textContent = group.label;
  svg("tspan", { class: "repeat", dx: group.label ? "0.5em" : 0 }, text).textContent = group.repeat;
}
