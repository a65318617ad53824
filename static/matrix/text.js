// Numbers, labels and templates as a reader sees them. Nothing here knows a word of any language.

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹'

const realMinus = (text) => text.replace('-', '−')
// What rounds to nothing has no sign.
const fixed = (value, decimals) => {
  const text = value.toFixed(decimals)
  return realMinus(Number(text) === 0 && text[0] === '-' ? text.slice(1) : text)
}

function powerOfTen(value, digits) {
  const [mantissa, exponent] = value.toExponential(digits - 1).split('e')
  const raised = [...exponent.replace('+', '')].map((c) => (c === '-' ? '⁻' : SUPERSCRIPTS[c])).join('')
  return realMinus(`${mantissa}×10${raised}`)
}

// At most three significant digits.
export function formatNumber(value, digits = 3) {
  if (Number.isNaN(value)) return 'NaN'
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size < 1e-3 || size >= 1e5) return powerOfTen(value, digits)
  const rounded = Number(value.toPrecision(digits))
  const whole = Math.floor(Math.log10(Math.abs(rounded))) + 1
  return realMinus(rounded.toFixed(Math.min(Math.max(digits - whole, 0), digits + 2)))
}

// Shorter, for the inside of a cell: the same number of decimals in a whole matrix, so that columns line up.
// Exactly 0 is "0"; a small number that rounds to nothing is "0.00".
export function formatInCell(value, decimals) {
  if (Number.isNaN(value)) return 'NaN'
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size < 9.995) return fixed(value, Math.min(decimals, size < 0.9995 ? 3 : 2))
  if (size < 99.95) return realMinus(value.toFixed(1))
  if (size < 999.5) return realMinus(value.toFixed(0))
  return realMinus(value.toExponential(0).replace('+', ''))
}

export const formatWhole = (value) => realMinus(`${value}`)

const CONTROLS = { '\n': '↵', '\r': '↵', '\t': '⇥' }

// A reader's text on one line: control characters and blanks become visible.
export function visible(text) {
  const shown = text.replace(/[\u0000-\u001f]/g, (c) => CONTROLS[c] ?? '□')
    .replace(/[\u007f-\u009f\ufffe\uffff]/g, '□')
  return shown.trim() === '' ? '␣'.repeat(Math.max(1, Math.min(shown.length, 3))) : shown
}

const segmenter = typeof Intl !== 'undefined' && Intl.Segmenter ? new Intl.Segmenter() : null
const letters = (text) => (segmenter ? [...segmenter.segment(text)].map((s) => s.segment) : [...text])

// Cut with an ellipsis so that it is at most `width` px wide; whole characters only.
export function ellipsis(text, width, size, measure) {
  if (measure(text, size) <= width) return text
  const parts = letters(text.slice(0, 400))
  let low = 0
  let high = parts.length
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (measure(parts.slice(0, middle).join('') + '…', size) <= width) low = middle
    else high = middle - 1
  }
  return parts.slice(0, low).join('').trimEnd() + '…'
}

// Fill {name} in a template of ours; a reader's text goes in as an isolated node, so that its direction stays its own.
export function fillNodes(target, template, values) {
  const nodes = []
  let gap = false
  for (const part of template.split(/(\{\w+\})/)) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (!name) {
      // A part that is left out takes the blank before it along.
      if (part) nodes.push(gap ? part.replace(/^ /, '') : part)
      gap = false
    } else if (values[name]) {
      const box = document.createElement('bdi')
      box.textContent = values[name]
      nodes.push(box)
      gap = false
    } else gap = true
  }
  target.replaceChildren(...nodes)
}

export function fillText(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '').replace(/ {2,}/g, ' ').trim()
}
