// Messages: each stands beside the button that was pressed, over no other one, and stays until the next click.

import { button } from "./elements.js";
import { gettext } from "./words.js";

const ROOM = 12; // pixels between a message and the edge of the window
const STEP = 8; // pixels by which a message is moved until it covers no control
const CONTROLS = "button, input, select, textarea, summary, .button, .step";
const box = () => document.querySelector("#message");
let pressed = null; // the button or field of the last request
let at = null; // where it is, or was before news took it away

/** Show a message beside what the user has just used. */
export function message(...content) {
  const paragraph = document.createElement("p");
  paragraph.className = "message";
  paragraph.append(...content);
  box().replaceChildren(paragraph);
  settle();
  return paragraph;
}

/** Show that the server can't be reached, until it is. */
export function away(text) {
  message(text).dataset.away = "";
}

function reached() {
  if (box().querySelector("[data-away]")) clear();
}

function clear() {
  box().replaceChildren();
  box().classList.remove("beside");
}

/** Put the message beside what was pressed, if that can be seen; else it stays at the top of the page. */
function settle() {
  const element = box();
  const [shown] = element.children;
  if (!shown) return;
  if (!shown.querySelector(".cross")) {
    const cross = button("×", "cross", clear);
    cross.setAttribute("aria-label", gettext("Close"));
    shown.append(cross);
  }
  const seen = pressed?.isConnected && pressed.checkVisibility?.();
  const beside = seen || (at && element.classList.contains("beside"));
  element.classList.toggle("beside", Boolean(beside)); // before measuring, because it takes no room then
  if (seen) at = pressed.getBoundingClientRect();
  if (!beside) return element.removeAttribute("style");
  const { width, height } = element.getBoundingClientRect();
  const [left, top] = spot(width, height);
  Object.assign(element.style, { left: `${left}px`, top: `${top}px` });
}

/** Return where a message covers no control, as near as can be to what was pressed: its left and its top. */
function spot(width, height) {
  const controls = [...document.querySelectorAll(`main :is(${CONTROLS})`)]
    .filter((one) => !box().contains(one) && one.checkVisibility?.())
    .map((one) => one.getBoundingClientRect());
  const covers = (left, top) => controls.some((one) =>
    one.left < left + width && one.right > left && one.top < top + height && one.bottom > top);
  const lefts = [at.left, at.right - width].map((left) => Math.max(ROOM, Math.min(left, innerWidth - width - ROOM)));
  const [below, above, last] = [at.bottom + STEP, at.top - height - STEP, innerHeight - height - ROOM];
  for (let far = 0; far < innerHeight; far += STEP) {
    for (const top of [below + far, above - far]) {
      const left = top >= ROOM && top <= last ? lefts.find((one) => !covers(one, top)) : undefined;
      if (left !== undefined) return [left, top];
    }
  }
  return [lefts[0], Math.max(ROOM, Math.min(below, last))];
}

document.addEventListener("htmx:beforeRequest", ({ detail: { elt, requestConfig } }) => {
  if (["news", "chat", "matches", "notices", "watching", "letters", "invitation", "again", "progress", "recorded"].includes(elt.id)) return;
  pressed = requestConfig?.triggeringEvent?.submitter ?? elt.querySelector?.("button") ?? elt;
});
document.addEventListener("htmx:afterRequest", ({ detail: { xhr } }) => {
  if (xhr.status) reached();
});
// the message itself, or news with a control that it would cover
document.addEventListener("htmx:afterSettle", settle);
addEventListener("scroll", settle, { passive: true });
addEventListener("online", reached);
addEventListener("click", (event) => {
  if (!event.target.closest?.("#message")) clear();
}, true);
