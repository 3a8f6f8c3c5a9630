// Whether a sealed draw needs something of this browser: on few pages, and in few browsers. Then `draws.js` is loaded.

import { later } from "./later.js";

/** What the names of texts begin with, in the storage of the browser. */
export const PREFIX = "draw:";

/** Return whether this browser keeps a text; some refuse to say. */
function keeps() {
  try {
    return Object.keys(localStorage).some((key) => key.startsWith(PREFIX));
  } catch {
    return false;
  }
}

function load() {
  import("./draws.js").catch(() => {}); // without a connection the next look tries again
}

function look() {
  if (document.querySelector("[data-commits], [data-reveal]")) load();
  else later(() => keeps() && load());
}

document.addEventListener("htmx:afterSettle", look);
look();
