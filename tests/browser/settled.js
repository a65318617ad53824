// Resolves when no run is under way, nothing on the page is a placeholder or marked as stale, and the page, shadow roots
// included, has not changed for `quiet` ms. Everything is seen, nothing is slept over. On a busy machine the whole browser
// may stand still that long, so a number of calm looks in a row is asked for as well. `quiet` is longer than any timer for
// which the browser holds a move back (150 ms, for a click in a chart).
([quiet, patience]) => new Promise((resolve, reject) => {
  const begun = performance.now();
  let last = begun, calm = 0;
  const seen = new Set();
  const observer = new MutationObserver(() => { last = performance.now(); calm = 0; });
  const watch = root => {
    if (seen.has(root)) return;
    seen.add(root);
    observer.observe(root, {subtree: true, childList: true, attributes: true, characterData: true});
  };
  const shadows = root => {
    for (const node of root.querySelectorAll('*'))
      if (node.shadowRoot) { watch(node.shadowRoot); shadows(node.shadowRoot); }
  };
  const busy = () => {
    const app = document.querySelector('[data-testid="stApp"]');
    if (!app) return 'no app';
    if (app.dataset.testConnectionState !== 'CONNECTED') return 'connection ' + app.dataset.testConnectionState;
    if (app.dataset.testScriptState !== 'notRunning') return 'script ' + app.dataset.testScriptState;
    // The server drops what a part asks for that is no longer there: then no run begins, however long one waits.
    const line = window.__line, dropped = 2000;
    if (line && line.asked > line.answered && (line.asked > line.finished || performance.now() - line.finished < dropped))
      return 'a run was asked for and has not finished';
    const waiting = '[data-testid="stAppSkeleton"], [data-testid="stSkeleton"], [data-testid="stSpinner"], [data-stale="true"]';
    const found = app.querySelector(waiting);
    if (found) return 'waiting: ' + (found.dataset.testid || found.className);
    // A component's code is fetched once its place is there, and a busy browser can stand still in between.
    for (const place of app.querySelectorAll('.stBidiComponentIsolated'))
      if (![...place.shadowRoot?.children ?? []].some(part => part.childElementCount || part.textContent)) return 'a component is not drawn';
    for (const chart of app.querySelectorAll('[data-testid="stVegaLiteChart"]'))
      if (!chart.querySelector('canvas, svg')) return 'a chart is not drawn';
    if (document.fonts.status !== 'loaded') return 'letters are on their way'; // they move what stands around them
    if (!app.querySelector('[data-testid="stMain"] [data-testid="stElementContainer"]')) return 'empty';
    return '';
  };
  const step = () => {
    watch(document);
    shadows(document);
    const now = performance.now(), why = busy();
    if (why) { last = now; calm = 0; } else calm += 1;
    if (now - last >= quiet && calm > 8) { observer.disconnect(); resolve(now - begun); return; }
    if (now - begun > patience) {
      observer.disconnect();
      reject(new Error('the page did not settle: ' + (why || 'it keeps changing')));
      return;
    }
    setTimeout(step, 15);
  };
  step();
})
