// Colours of the theme and of the cells. Ramps are straight lines in OKLab (Björn Ottosson, 2020), so that equal
// steps of a value look equally large; they start at the page's own background, in light and in dark.

export const STEPS = 256 // colours on a ramp, less one

const IDENTITY = { q: '#0072b2', k: '#d55e00', v: '#009e73', residual: '#7a7f87', norm: '#e0a800' }
const ENDS = {
  light: { weight: '#420d80', low: '#7a4100', high: '#005e58' },
  dark: { weight: '#d0a8ff', low: '#f2b56b', high: '#5fe3d2' },
}

let probe = null

function toRgb(css, fallback) {
  probe ??= document.createElement('canvas').getContext('2d')
  probe.fillStyle = fallback
  probe.fillStyle = css.trim() || fallback
  const hex = probe.fillStyle
  if (hex[0] === '#') return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
  return hex.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255)
}

const hexOf = (rgb) => '#' + rgb.map((x) => Math.round(Math.min(Math.max(x, 0), 1) * 255).toString(16).padStart(2, '0')).join('')
const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
const gamma = (x) => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055)

function toLab(rgb) {
  const [r, g, b] = rgb.map(linear)
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}

function fromLab([L, a, b]) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((x) => gamma(Math.max(x, 0)))
}

function mix(from, to, share, bow = 0) {
  const a = toLab(from)
  const b = toLab(to)
  const bowed = share + bow * share * (1 - share)
  return fromLab(a.map((x, i) => x + (b[i] - x) * (i ? bowed : share)))
}

// Even in lightness, a little richer in colour half way: pale cells must survive a projector.
const tint = (page, end, share) => mix(page, end, share, 1.1)

// WCAG 2: relative luminance and contrast.
const luminance = (rgb) => rgb.map(linear).reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0)
function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (high + 0.05) / (low + 0.05)
}

// The colour itself, or as little of the text colour in it as makes it readable on the page.
function readable(colour, page, text) {
  for (let share = 0; share < 1; share += 0.05) {
    const mixed = mix(colour, text, share)
    if (contrast(mixed, page) >= 4.6) return mixed
  }
  return text
}

const BLACK = [0, 0, 0]
const WHITE = [1, 1, 1]

function ramp(colours) {
  return {
    fill: colours.map(hexOf),
    rgb: colours.map((rgb) => rgb.map((x) => Math.round(Math.min(Math.max(x, 0), 1) * 255))),
    // Black or white, whichever stands out more, has a contrast of at least 4.58 with any colour.
    ink: colours.map((rgb) => (contrast(rgb, WHITE) >= contrast(rgb, BLACK) ? '#ffffff' : '#000000')),
  }
}

const steps = (colour) => Array.from({ length: STEPS + 1 }, (_, i) => colour(i / STEPS))
const cache = new Map()

export function paletteOf(element) {
  const style = getComputedStyle(element)
  const read = (name) => style.getPropertyValue(`--st-${name}`)
  const key = ['background-color', 'text-color', 'primary-color'].map(read).join('|')
  if (!cache.has(key)) cache.set(key, makePalette(key, read))
  return cache.get(key)
}

function makePalette(key, read) {
  const page = toRgb(read('background-color'), '#ffffff')
  const text = toRgb(read('text-color'), '#1f2328')
  const primary = toRgb(read('primary-color'), '#7a3ff2')
  const dark = luminance(page) < 0.18
  const ends = Object.fromEntries(
    Object.entries(ENDS[dark ? 'dark' : 'light']).map(([name, hex]) => [name, toRgb(hex, hex)]))
  const identity = { '': hexOf(text) }
  for (const [name, hex] of Object.entries(IDENTITY)) identity[name] = hexOf(readable(toRgb(hex, hex), page, text))
  return {
    key,
    dark,
    page: hexOf(page),
    text: hexOf(text),
    quiet: hexOf(readable(mix(page, text, 0.6), page, text)),
    line: hexOf(mix(page, text, 0.14)),
    frame: hexOf(mix(page, text, 0.45)),
    hatch: hexOf(mix(page, text, 0.3)),
    primary: hexOf(primary),
    identity,
    weight: ramp(steps((t) => tint(page, ends.weight, t))),
    signed: ramp(steps((t) => (t < 0.5 ? tint(page, ends.low, 1 - 2 * t) : tint(page, ends.high, 2 * t - 1)))),
  }
}

// The step of the ramp for every value; a signed ramp has 0 in its middle, whatever the limits.
export function stepOf(value, fill, [low, high]) {
  const reach = Math.max(Math.abs(low), Math.abs(high))
  const share = fill === 'signed' ? (value / reach + 1) / 2 : (value - low) / (high - low)
  return Math.round(Math.min(Math.max(share, 0), 1) * STEPS)
}
