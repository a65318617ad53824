// RoPE's pairs turning: a circle for each pair with the query's and the key's arrow. ui/figures/positions_turning.py sends
// the vectors and all words. Playback lives here alone: it is not part of the page's state.

const SVG = 'http://www.w3.org/2000/svg'
const PACE = 1.6 // positions a second
const SLOW = 900 // ms a position for readers who asked for less motion
const views = new WeakMap()

const CSS = `
:host { display: block; }
.pairs { --ink: var(--st-text-color, #222); --paper: var(--st-background-color, #fff);
  --quiet: color-mix(in oklab, var(--ink) 72%, var(--paper)); --line: color-mix(in oklab, var(--ink) 22%, var(--paper));
  --accent: var(--st-primary-color, #06c); --q: color-mix(in oklab, #0072b2 80%, var(--ink));
  --k: color-mix(in oklab, #d55e00 84%, var(--ink)); color: var(--ink); font: 15px/1.45 var(--st-font, system-ui, sans-serif);
  font-variant-numeric: tabular-nums; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 12px; margin-bottom: 10px; }
button { font: inherit; color: inherit; background: none; border: 1px solid color-mix(in oklab, var(--ink) 46%, var(--paper));
  border-radius: 6px; padding: 4px 14px; min-height: 34px; cursor: pointer; }
button:hover { border-color: var(--accent); color: var(--accent); }
button[aria-pressed="true"] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
button:focus-visible, input:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
label { display: flex; align-items: center; gap: 8px; flex: 1 1 220px; }
input { flex: 1; min-width: 90px; accent-color: var(--accent); }
.group { display: flex; gap: 6px; flex-wrap: wrap; }
.circles { display: flex; flex-wrap: wrap; gap: 8px 14px; }
figure { margin: 0; text-align: center; font-size: 13px; color: var(--quiet); }
figure svg { display: block; margin: 0 auto 2px; overflow: visible; }
figure b { color: var(--ink); font-weight: 600; }
.rim { fill: none; stroke: var(--line); } .q { stroke: var(--q); fill: var(--q); } .k { stroke: var(--k); fill: var(--k); }
line { stroke-width: 3; stroke-linecap: round; } line.k { stroke-dasharray: 1 5; }
.told { margin: 10px 0 0; } .told .qt { color: var(--q); font-weight: 600; } .told .kt { color: var(--k); font-weight: 600; }
`

const element = (tag, parent, text = '', className = '') => {
  const made = document.createElement(tag)
  made.textContent = text
  if (className) made.className = className
  parent.append(made)
  return made
}
const drawn = (tag, parent, attributes) => {
  const made = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  parent.append(made)
  return made
}
const read = (x) => {
  const size = Math.abs(x)
  const text = size < 5e-4 ? '0' : size < 1 ? size.toFixed(3) : size < 100 ? size.toPrecision(3) : Math.round(size).toLocaleString('en')
  return (x < 0 && text !== '0' ? '−' : '') + text
}
const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name])
const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches

export default function show(component) {
  const root = component.parentElement
  let view = views.get(root)
  if (!view || !root.contains(view.frame)) views.set(root, (view = build(root)))
  view.data = component.data
  view.at = Math.min(view.at, view.data.most)
  dress(view)
  paint(view)
}

function build(root) {
  const frame = element('div', root, '', 'pairs')
  element('style', frame, CSS)
  const bar = element('div', frame, '', 'bar')
  const view = { frame, at: 0, both: false, timer: 0 }
  view.play = element('button', bar)
  view.step = element('button', bar)
  view.reset = element('button', bar)
  const group = element('div', bar, '', 'group')
  group.setAttribute('role', 'group')
  view.modes = [element('button', group), element('button', group)]
  const label = element('label', bar)
  view.name = element('span', label)
  view.range = element('input', label)
  Object.assign(view.range, { type: 'range', min: 0, step: 1, value: 0 })
  view.circles = element('div', frame, '', 'circles')
  view.circles.setAttribute('role', 'img')
  view.told = element('p', frame, '', 'told')
  view.play.addEventListener('click', () => (view.timer ? stop(view) : start(view)))
  view.step.addEventListener('click', () => { stop(view); go(view, Math.floor(view.at + 1e-6) + 1) })
  view.reset.addEventListener('click', () => { stop(view); go(view, 0) })
  view.range.addEventListener('input', () => { stop(view); go(view, Number(view.range.value)) })
  view.modes.forEach((button, i) => button.addEventListener('click', () => { view.both = i === 1; dress(view); paint(view) }))
  return view
}

function dress(view) {
  const { words, pairs, lang, most } = view.data
  view.frame.lang = lang
  view.play.textContent = view.timer ? words.pause : words.play
  view.step.textContent = words.step
  view.reset.textContent = words.reset
  view.name.textContent = view.both ? words.moved : words.distance
  view.range.max = most
  view.modes.forEach((button, i) => {
    button.textContent = i ? words.both : words.query
    button.setAttribute('aria-pressed', String(view.both === Boolean(i)))
  })
  view.circles.replaceChildren()
  const r = pairs.length > 8 ? 40 : pairs.length > 4 ? 52 : 64 // few circles are drawn large
  const side = 2 * r + 6
  const longest = Math.max(...pairs.flatMap(({ q, k }) => [Math.hypot(...q), Math.hypot(...k)]), 1e-9)
  view.arrows = pairs.map((pair, i) => {
    const figure = element('figure', view.circles)
    const svg = drawn('svg', figure, { width: side, height: side, viewBox: `${-r - 3} ${-r - 3} ${side} ${side}` })
    drawn('circle', svg, { r, class: 'rim' })
    const arrows = ['k', 'q'].map((which) => ({ which, line: drawn('line', svg, { class: which }), tip: drawn('circle', svg, { r: 4, class: which }) }))
    element('b', figure, filled(words.pair, { i: i + 1 }))
    element('div', figure, filled(words.turn, { n: read(pair.wave) }))
    return { pair, arrows, unit: r / longest, adds: element('div', figure) }
  })
}

// Angles of query and key at the moment, and what each pair adds to the score.
function paint(view) {
  const { words, scale, tokens } = view.data
  const apart = view.both ? view.data.apart : view.at
  const key = view.both ? view.at : 0
  let total = 0
  for (const { pair, arrows, unit, adds } of view.arrows) {
    const turned = { q: turn(pair.q, (key + apart) * pair.theta), k: turn(pair.k, key * pair.theta) }
    for (const { which, line, tip } of arrows) {
      const [x, y] = turned[which].map((v) => v * unit)
      line.setAttribute('x2', x.toFixed(2)); line.setAttribute('y2', (-y).toFixed(2))
      tip.setAttribute('cx', x.toFixed(2)); tip.setAttribute('cy', (-y).toFixed(2))
    }
    const part = (turned.q[0] * turned.k[0] + turned.q[1] * turned.k[1]) * scale
    total += part
    adds.textContent = filled(words.adds, { part: read(part) })
  }
  const whole = Number.isInteger(view.at)
  const shown = (x) => (whole ? String(x) : x.toFixed(1))
  const parts = { '{q}': filled(words.q_at, { m: shown(key + apart), token: tokens.q }), '{k}': filled(words.k_at, { n: shown(key), token: tokens.k }) }
  const numbers = { apart: shown(apart), score: read(total) }
  view.told.replaceChildren()
  for (const piece of words.told.split(/(\{[qk]\})/)) {
    if (parts[piece]) element('span', view.told, parts[piece], `${piece[1]}t`)
    else view.told.append(filled(piece, numbers))
  }
  if (!view.timer) {
    view.circles.setAttribute('aria-label', view.told.textContent)
    view.range.setAttribute('aria-valuetext', view.told.textContent)
  }
  view.range.value = view.at
}

const turn = ([x, y], angle) => [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle)]

function go(view, at) {
  view.at = at > view.data.most ? 0 : at
  paint(view)
}

function start(view) {
  if (calm()) {
    view.timer = setInterval(() => (view.frame.isConnected ? go(view, Math.floor(view.at + 1e-6) + 1) : stop(view)), SLOW)
    view.halt = () => clearInterval(view.timer)
  } else {
    let last = performance.now()
    const tick = (now) => {
      if (!view.frame.isConnected) return stop(view)
      view.at += (Math.min(now - last, 100) / 1000) * PACE
      last = now
      if (view.at > view.data.most) view.at = 0
      paint(view)
      view.timer = requestAnimationFrame(tick)
    }
    view.timer = requestAnimationFrame(tick)
    view.halt = () => cancelAnimationFrame(view.timer)
  }
  view.play.textContent = view.data.words.pause
}

function stop(view) {
  if (!view.timer) return
  view.halt()
  view.timer = 0
  view.at = Math.round(view.at)
  view.play.textContent = view.data.words.play
  paint(view)
}
