// Runs in a page before anything else. A moved widget leaves no mark in the DOM until the server has begun to run, which a
// busy machine may put off. So this listens to the websocket: when a run was last asked for, when one last began and when
// one last finished. All are protobuf messages, of which only the outermost field numbers are read; how a run finished
// matters because one may give way to the next, and what was asked for is answered only by a run that began after it.
(() => {
  const RERUN_SCRIPT = %RERUN_SCRIPT%, NEW_SESSION = %NEW_SESSION%;
  const SCRIPT_FINISHED = %SCRIPT_FINISHED%, EARLY_FOR_RERUN = %EARLY_FOR_RERUN%;
  const line = window.__line = {asked: 0, begun: 0, finished: 0, answered: 0};
  const fields = data => {
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data, found = new Map();
    let at = 0;
    const varint = () => {
      let value = 0, scale = 1, byte;
      do { byte = bytes[at++]; value += (byte & 127) * scale; scale *= 128; } while (byte & 128);
      return value;
    };
    while (at < bytes.length) {
      const tag = varint(), kind = tag & 7;
      const value = kind === 0 || kind === 2 ? varint() : 0;
      found.set(Math.floor(tag / 8), value);
      at += kind === 2 ? value : kind === 1 ? 8 : kind === 5 ? 4 : 0;
    }
    return found;
  };
  const send = WebSocket.prototype.send, followed = new WeakSet();
  WebSocket.prototype.send = function (data) {
    if (this.url.includes('/_stcore/stream')) {
      if (fields(data).has(RERUN_SCRIPT)) line.asked = performance.now();
      if (!followed.has(this)) {
        followed.add(this);
        this.addEventListener('message', event => {
          const found = fields(event.data), how = found.get(SCRIPT_FINISHED);
          if (found.has(NEW_SESSION)) line.begun = performance.now();
          if (how !== undefined && how !== EARLY_FOR_RERUN) {
            line.finished = performance.now();
            line.answered = line.begun;
          }
        });
      }
    }
    return send.call(this, data);
  };
})()
