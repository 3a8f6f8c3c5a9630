// Going through the positions of a match, below its board: by links, slider, arrow keys, or automatically. `walk.js`
// shows them; the page of a match loads it only when somebody begins to go, because most come to play.

import { away } from "./messages.js";
import { gettext } from "./words.js";

export const bar = document.querySelector("#steps");
export const board = bar.dataset.match;
export const live = "live" in bar.dataset;
export const range = bar.querySelector("input");

/** Where the browser keeps the lines that were tried in this match. */
export const TRIED = `tried ${board}`;

/** Return the ply of the board that the page shows, as a text; undefined without a board. */
export function shownPly() {
  return document.querySelector("#board-area")?.dataset.ply;
}

/** Do something with what `walk.js` exports. */
function walk(act) {
  import("./walk.js").then(act, () => away(gettext("Can’t reach the server. Please try again.")));
}

/** Load `walk.js` before somebody needs it. */
function prepare() {
  import("./walk.js").catch(() => {});
}

/** Return whether lines were tried in this match; a browser may keep nothing. */
function tried() {
  try {
    return localStorage.getItem(TRIED) !== null;
  } catch {
    return false;
  }
}

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const target = event.target.closest("[data-step], #run, #try, .moves a[data-go]");
  if (!target) return;
  event.preventDefault();
  walk(({ press }) => press(target, event.detail === 0));
});

const KEYS = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" };
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, .choosing svg")) return;
  if (event.key === "Escape" && document.querySelector(".match.studying")) walk(({ leave }) => leave());
  if (!(event.key in KEYS)) return;
  event.preventDefault();
  walk(({ step }) => step(KEYS[event.key]));
});

range.addEventListener("input", () => walk(({ slide }) => slide()));
addEventListener("hashchange", () => walk(({ follow }) => follow()));
for (const kind of ["pointerenter", "focusin"]) bar.addEventListener(kind, prepare, { once: true });
document.addEventListener("htmx:afterSettle", () => {
  if (live && shownPly() !== bar.dataset.last) prepare(); // it goes on with the match
});

range.closest("label").hidden = bar.dataset.last === "0";
if (!live || location.hash || tried()) prepare();
