// Shared by all pages of a browser: has their one event stream, and passes on what it tells.

import { Stream, address } from "./stream.js";

const SILENT = 5 * 60_000; // after which a page that did not say goodbye is gone
const pages = new Map(); // by port, the last to come last
let known = {};

const stream = new Stream((told) => {
  // a stream that was opened tells all anew
  if (told.again === 0) known = { user: known.user };
  if (told.state) {
    // somebody else sees other things
    if (told.state.user !== undefined && told.state.user !== known.user) known = {};
    known = { ...known, ...told.state };
  }
  for (const port of pages.keys()) port.postMessage(told);
});

function follow() {
  for (const [port, page] of pages) if (Date.now() - page.heard > SILENT) pages.delete(port);
  stream.follow(address([...pages.values()]));
}

addEventListener("connect", (event) => {
  const [port] = event.ports;
  port.onmessage = ({ data }) => {
    const before = pages.get(port);
    if (data.watch) pages.set(port, { ...data.watch, heard: Date.now() });
    else pages.delete(port);
    if (data.retry) stream.retry();
    follow();
    if (!before && data.watch?.user === known.user) port.postMessage({ state: known });
  };
});
addEventListener("online", () => stream.retry());
setInterval(follow, 60_000);
