// The stylesheet of the component. Colours of the theme come in as --st-… variables.
export const STYLE = `
.picture { position: relative; color: var(--st-text-color); font-family: var(--st-font, system-ui, sans-serif);
  font-size: 14px; line-height: 1.35; font-variant-numeric: tabular-nums; forced-color-adjust: none;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.stage { position: relative; overflow: hidden; }
.stage.wider { overflow-x: auto; }
.block, .arrow, .grid, .cells, .title, .note { position: absolute; }
.grid, .arrow { overflow: visible; font-family: inherit; }
.block { touch-action: manipulation; }
.grid { left: 0; top: 0; }
.grid text { pointer-events: none; }
.grid text:has(title) { pointer-events: auto; }
.cells { image-rendering: pixelated; outline-offset: 3px; }
.cell:focus { outline: none; }
.title { z-index: 1; appearance: none; margin: 0; padding: 0; border: 0; background: none; font: inherit; font-weight: 600;
  line-height: 1.35; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; text-align: start; cursor: pointer; }
.title:hover { text-decoration: underline; text-underline-offset: 3px; }
.title[aria-pressed=true] { cursor: default; text-decoration: none; }
.title:focus-visible, summary:focus-visible, .save:focus-visible, .grow:focus-visible, .cells:focus-visible {
  outline: 2px solid var(--st-primary-color); outline-offset: 2px; border-radius: 2px; }
.note { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; pointer-events: none; }
.foot { position: relative; padding-top: 8px; font-size: 13px; }
.read { position: absolute; left: 0; top: 8px; height: 20px; line-height: 20px; overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis; }
.save, .grow, summary { color: inherit; opacity: .75; cursor: pointer; line-height: 20px; }
.save:hover, .grow:hover, summary:hover { opacity: 1; text-decoration: underline; text-underline-offset: 3px; }
.save { right: 0; }
.save, .grow { appearance: none; position: absolute; top: 8px; margin: 0; padding: 0; border: 0; background: none; font: inherit; line-height: 20px; }
summary { width: fit-content; margin-left: auto; }
.narrow .read { position: static; white-space: normal; height: 40px; }
.narrow .save, .narrow .grow { top: 48px; }
.narrow summary { margin-left: 0; }
.scroll { overflow: auto; max-height: 420px; margin-top: 8px; }
table { border-collapse: collapse; }
caption { text-align: start; font-weight: 600; padding-bottom: 4px; }
th, td { padding: 2px 8px; text-align: end; border-bottom: 1px solid color-mix(in srgb, currentColor 14%, transparent); font-weight: 400; white-space: pre; }
th { font-weight: 600; unicode-bidi: isolate; }
`
