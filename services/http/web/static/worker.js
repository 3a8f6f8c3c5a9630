// Shared by all pages of a browser: holds their one event stream, and passes on its messages.

import { Stream, address } from "./stream.js";

const SILENT = 5 * 60_000; // ms after which a page that did not sign off counts as closed
const pages = new Map(); // by port, the newest last
let known = {};

const stream = new Stream((message) => {
  // a reopened stream sends the whole state again
  if (message.again === 0) known = { user: known.user };
  if (message.state) {
    // another user gets another state
    if (message.state.user !== undefined && message.state.user !== known.user) known = {};
    known = { ...known, ...message.state };
  }
  for (const port of pages.keys()) port.postMessage(message);
});

function follow() {
  for (const [port, page] of pages) if (Date.now() - page.lastSeen > SILENT) pages.delete(port);
  stream.follow(address([...pages.values()]));
}

addEventListener("connect", (event) => {
  const [port] = event.ports;
  port.onmessage = ({ data }) => {
    const before = pages.get(port);
    if (data.watch) pages.set(port, { ...data.watch, lastSeen: Date.now() });
    else pages.delete(port);
    if (data.retry) stream.retry();
    follow();
    if (!before && data.watch?.user === known.user) port.postMessage({ state: known });
  };
});
addEventListener("online", () => stream.retry());
setInterval(follow, 60_000);
