// Runs in the page before anything else. It notes when the picture and the rest of the main area change after a key
// press, and when the picture is first there. Times are performance.now(), in ms since the navigation began.
// "The picture" is everything inside the elements that match PICTURE, shadow roots included.
(() => {
  const PICTURE = '%PICTURE%', READY = '%READY%', MAIN = '[data-testid="stMain"]';
  const ANY = {subtree: true, childList: true, attributes: true, characterData: true};
  const probe = window.__probe = {pressed: null, firstRedraw: null, redrawn: null, changed: null, ready: null};

  const redraw = () => {
    probe.changed = performance.now();
    probe.firstRedraw ??= probe.changed;
    probe.redrawn = probe.changed;
  };
  // One observer for each question: it tells of a change even where the changed node is gone by the time it speaks.
  const ofPicture = new MutationObserver(redraw);
  const ofMain = new MutationObserver(() => { probe.changed = performance.now(); });

  // The nearest ancestor that matches, seen through shadow roots.
  const within = (node, selector) => {
    for (let at = node; at; at = at.getRootNode().host) if (at.closest(selector)) return true;
    return false;
  };
  const watched = new WeakSet();
  const watch = (target, observer) => {
    if (!watched.has(target)) { watched.add(target); observer.observe(target, ANY); }
  };
  const adopt = node => {
    if (node.nodeType !== Node.ELEMENT_NODE) return;
    if (node.matches(MAIN)) watch(node, ofMain);
    if (node.matches(PICTURE) && !watched.has(node)) { watch(node, ofPicture); redraw(); }
    if (node.shadowRoot) adoptShadow(node.shadowRoot);
    for (const child of node.children) adopt(child);
  };
  const adoptShadow = root => {
    if (!root.host.isConnected) { setTimeout(adoptShadow, 0, root); return; }
    discovery.observe(root, {subtree: true, childList: true});
    if (within(root.host, PICTURE)) watch(root, ofPicture);
    else if (within(root.host, MAIN)) watch(root, ofMain);
    for (const child of root.children) adopt(child);
    look();
  };
  const found = (root, selector) => root.querySelector(selector)
    || [...root.querySelectorAll('*')].some(node => node.shadowRoot && found(node.shadowRoot, selector));
  const look = () => {
    if (probe.ready !== null) return;
    for (const picture of document.querySelectorAll(PICTURE))
      if (found(picture, READY) || (picture.shadowRoot && found(picture.shadowRoot, READY)))
        probe.ready = performance.now();
  };
  const discovery = new MutationObserver(records => {
    for (const record of records) for (const node of record.addedNodes) adopt(node);
    look();
  });
  discovery.observe(document, {subtree: true, childList: true});

  // An element may get its shadow root after it was added: then no added node tells of it.
  const attachShadow = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attachShadow.call(this, options);
    adoptShadow(root);
    return root;
  };

  window.addEventListener('keydown', event => {
    if (!event.key.startsWith('Arrow')) return;
    Object.assign(probe, {pressed: event.timeStamp, firstRedraw: null, redrawn: null, changed: null});
  }, true);

  // Resolves when nothing in the main area has changed for `quiet` ms and the picture has been redrawn; the waiting
  // itself is not part of the times.
  probe.settled = (quiet, patience) => new Promise((resolve, reject) => {
    const step = () => {
      const now = performance.now(), {pressed, redrawn, changed} = probe;
      if (pressed !== null && redrawn !== null && now - changed >= quiet)
        return resolve({redrawn: redrawn - pressed, first: probe.firstRedraw - pressed, settled: changed - pressed});
      if (pressed !== null && now - pressed > patience)
        return reject(new Error(redrawn === null ? 'the picture was not redrawn' : 'the page does not come to rest'));
      setTimeout(step, 10);
    };
    step();
  });
})();
