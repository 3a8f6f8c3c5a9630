// What goes on without a connection: a page that the service worker has kept, and moves that wait to be sent.

import { button } from "./elements.js";
import { later } from "./later.js";
import { away } from "./messages.js";
import { gettext } from "./words.js";

const { user, kept } = document.body.dataset;
const worker = navigator.serviceWorker; // only on secure pages
const box = document.querySelector("#unsent");
const board = Number(document.querySelector(".match[data-board]")?.dataset.board);

function tell(what) {
  worker?.ready.then(({ active }) => active.postMessage(what));
}

/** Return from when this page is, if it was kept; otherwise null. */
export function keptSince() {
  return kept ? time(kept) : null;
}

function time(at) {
  return new Date(Number(at)).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
}

/** Keep the move of a form until it can be sent; return whether this browser can. */
export function queued(form) {
  if (!worker?.controller || form.id !== "play" || form.method !== "post" || !box) return false;
  const { key, ply, after, move } = Object.fromEntries(new FormData(form));
  const match = document.querySelector("#match-title").textContent.trim();
  tell({ queued: { board, user, match, key, ply, after, move } });
  return true;
}

/** Send what waits, now that there is a connection; load a kept page again, with the move that is ready to be played. */
export async function comeBack() {
  if (!kept) return user && tell({});
  if (!(await fetch("/offline.json").catch(() => null))?.ok) return;
  const move = !box.querySelector("p") && document.querySelector("#confirm:enabled")?.form.elements.move.value;
  if (move) location.replace(`${location.pathname}?${new URLSearchParams({ move })}`);
  else location.reload();
}

let before = "";

function show(moves) {
  const shown = moves.filter((one) => one.user === user && (board ? one.board === board : location.pathname === "/"));
  // what stays the same is not read out again, and its button keeps the focus
  if (before === (before = JSON.stringify(shown))) return;
  box.replaceChildren(...shown.map(line));
}

function line(one) {
  const made = document.createElement("p");
  made.className = "message";
  const values = { ...one, time: time(one.at) };
  if (one.state === "dropped") made.append(gettext("A move in match %(board)s was not sent, because somebody else logged in in this browser.", values));
  else if (one.state === "refused") made.append(gettext("%(move)s was not played (%(match)s):", values), " ", said(one.said));
  else made.append(gettext("Waiting to be sent: %(move)s (%(match)s), chosen %(time)s.", values));
  if (one.state === "login") made.append(" ", link(gettext("Log in again"), `/login?next=/m/${one.board}`));
  else if (!board) made.append(" ", link(gettext("View"), `/m/${one.board}`));
  const ends = ["dropped", "refused"].includes(one.state) ? gettext("Close") : gettext("Withdraw");
  made.append(" ", button(ends, "button quiet-button small", () => tell({ withdrawn: one.board })));
  return made;
}

function link(text, address) {
  const made = document.createElement("a");
  made.href = address;
  made.textContent = text;
  return made;
}

/** Return the sentence of a refusal, as the server has put it into words. */
function said(html) {
  return new DOMParser().parseFromString(html, "text/html").body.textContent.trim();
}

if (worker && !("unknown" in document.body.dataset)) {
  worker.addEventListener("message", ({ data }) => { if (data.moves && box) show(data.moves); });
  worker.startMessages();
  const renews = Boolean(document.querySelector("#matches"));
  if (kept) tell({});
  else if (user) later(() => worker.register("/sw.js").then(() => tell({ seen: user, renews })).catch(() => {}));
  else tell({ seen: "" }); // which nobody hears where nothing is kept
  addEventListener("online", comeBack);
  document.addEventListener("htmx:afterSettle", ({ target }) => { if (target.id === "matches") tell({ renews }); });
}
// what a kept page shows can't be answered, but for a move
if (kept) {
  document.addEventListener("submit", (event) => {
    if (event.target.id === "play") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    away(gettext("Can’t reach the server. Please try again."));
  }, true);
}
