// The board of a match or a line: attaches what chooses moves on it, and passes on what the pointer does.

import "./asking.js";
import { Chooser } from "./choosing.js";
import { watchSending } from "./sending.js";

let chooser = null;
let pressed = null; // the part of a board on which the pointer went down

/** Attach to the board that the page shows, if a move can be chosen on it. */
function begin() {
  const area = document.querySelector("#board-area[data-moves]");
  const panel = document.querySelector("#builder");
  if (!area || !panel || !area.dataset.moves) {
    chooser = null;
    return;
  }
  const before = chooser?.isOf(area) ? chooser : null;
  chooser?.close();
  chooser = new Chooser(area, panel);
  chooser.open(before);
}

function shownPly() {
  return document.querySelector("#board-area").dataset.ply;
}

document.addEventListener("pointerdown", (event) => {
  pressed = event.target.closest?.("#board-area *") ?? null;
  if (!pressed) chooser?.forgetClick();
});
// a board that was redrawn under the pointer gets no click
document.addEventListener("pointerup", (event) => {
  const gone = pressed && !pressed.isConnected ? pressed : null;
  pressed = null;
  if (gone && chooser) chooser.released(gone, document.elementFromPoint(event.clientX, event.clientY));
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id === "board-area" || event.target.querySelector?.("#board-area")) begin();
});
// the visitor's proposal is gone, and nothing has come of it: it was declined
let proposed = null;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const offer = document.querySelector("[data-declined]");
  const news = detail.requestConfig.elt.id === "news";
  proposed = news && offer && { says: offer.dataset.declined, ply: shownPly() };
});
document.addEventListener("htmx:afterSettle", () => {
  if (!proposed) return;
  const { says, ply } = proposed;
  proposed = null;
  if (document.querySelector(".offer, [data-paused], #turn:not([data-state=active])") || shownPly() !== ply) return;
  const answer = document.createElement("p");
  answer.className = "offer answered";
  answer.setAttribute("role", "status");
  answer.textContent = says;
  document.querySelector("#action").prepend(answer);
});
// N leads to the next match that waits
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key.toLowerCase() !== "n" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  document.querySelector("#next-match")?.click();
});
watchSending();
begin();
