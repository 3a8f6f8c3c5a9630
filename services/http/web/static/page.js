// On every page: parts that are out of date are fetched again, and failed requests are repeated.
// Forms that reset after they were sent.

import { away, message } from "./messages.js";
import { later } from "./later.js";
import { comeBack, keptSince, queued } from "./offline.js";
import { Stream, address, pause } from "./stream.js";
import "./scrolling.js";
import { gettext } from "./words.js";
import "./times.js";

const user = document.body.dataset.user;
const tries = new Map(); // failed requests for parts, by id
let partsAt = 0; // time of the next try, in ms; 0 if none failed
let streamAt = 0; // the same for the stream
let tooMany = false; // the server has refused a request for a part because too many came
let timer = 0;
let ticking = 0;
const LAG = 500; // ms after which a list that lags behind is fetched again, and then twice as long
let lag = LAG;

// --- parts that are out of date

/** Return the matches and topics that this page watches. */
function watch() {
  const board = document.querySelector("main [data-board]")?.dataset.board;
  const live = document.querySelector("[data-follow]")?.dataset.follow;
  const boards = [board, live, ...watched().keys()].filter(Boolean).map(Number);
  const home = Boolean(document.querySelector("#matches, #notices, #invitation, #again"));
  const [messages, challenges] = ["#letters", "#challenges"].map((id) => Boolean(document.querySelector(id)));
  return { boards, home, messages, challenges, user };
}

/** Return the matches in a list of watched ones, each with the number of its last event that is shown. */
function watched() {
  const list = document.querySelector("#watching")?.dataset.boards;
  return new Map(list ? list.split(",").map((one) => one.split(":").map(Number)) : []);
}

/** Return the number of the last event that the page shows of its match. */
function shownSeq() {
  return Number(document.querySelector("[data-seq]")?.dataset.seq ?? Infinity);
}

const parts = {
  news: (state) => watch().boards.some((board) => state[`match ${board}`] > shownSeq()),
  chat: (state, chat) => watch().boards.some((board) => differs(state[`chat ${board}`], chat)),
  matches: (state, home) => differs(state.home, home),
  invitation: (state, challenge) => differs(state.home, challenge),
  again: (state) => state.home !== undefined && askedAt !== (askedAt = state.home),
  watching: (state) => [...watched()].some(([board, seq]) => state[`match ${board}`] > seq),
  letters: (state, list) => differs(state.messages, list),
  notices: (state, list) => differs(state.home, list),
  challenges: (state, list) => differs(state.challenges, list),
  // these look by themselves from time to time
  progress: () => false,
  recorded: () => false,
};

let askedAt; // the mark of home when it was asked whether there is a rematch

function differs(mark, element) {
  return mark !== undefined && mark !== element.dataset.mark;
}

let known = {};
let refreshTimer = 0;

/** Handle a message of the stream. */
function receive({ state, again }) {
  if (again !== undefined) {
    if (again === 0) comeBack();
    streamAt = again;
    tick();
  }
  if (!state) return;
  known = { ...known, ...state };
  document.dispatchEvent(new CustomEvent("state", { detail: known }));
  if (user && state.user === "") loggedOut();
  // wait, because the events of a command come together, and its sender gets them with the answer
  clearTimeout(refreshTimer);
  refreshTimer = setTimeout(() => {
    for (const [id, stale] of Object.entries(parts)) {
      const element = document.getElementById(id);
      if (!element || !stale(known, element)) continue;
      // fetching the chat marks it as read
      if (id === "chat" && document.hidden) unread(element);
      else htmx.trigger(element, "news");
    }
  }, 60);
}

/** Show that there are unread messages, unless the chat is muted. */
function unread(chat) {
  if ("muted" in chat.dataset) return;
  document.querySelector("#unread").hidden = false;
  if (!document.title.startsWith("✉")) document.title = `✉ ${document.title}`;
}

/** Fetch all parts again, whatever their state. */
function refreshAll() {
  for (const id of Object.keys(parts)) {
    const element = document.getElementById(id);
    if (element) htmx.trigger(element, "news");
  }
}

function loggedOut() {
  const link = document.createElement("a");
  link.textContent = gettext("Log in again");
  link.href = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
  message(gettext("You’ve been logged out."), " ", link);
}

// --- the stream: one for all pages of the browser, if it has shared workers

let line = null;

function shared() {
  const worker = new SharedWorker(new URL("./worker.js", import.meta.url), { type: "module" });
  // the worker can't be loaded, or not as a module
  worker.addEventListener("error", () => { line = alone(); line.watch(); });
  worker.port.onmessage = ({ data }) => receive(data);
  return {
    watch: (retry = false) => worker.port.postMessage({ watch: watch(), retry }),
    leave: () => worker.port.postMessage({}),
  };
}

/** The page's own stream; open only while the page is visible, because a browser has few connections. */
function alone() {
  const stream = new Stream(receive);
  return {
    watch: (retry = false) => {
      stream.follow(document.hidden ? "" : address([watch()]));
      if (retry) stream.retry();
    },
    leave: () => stream.follow(""),
  };
}

function join() {
  const { boards, home, challenges } = watch();
  if (!boards.length && !home && !challenges && !user) return;
  try {
    line = shared();
  } catch {
    line = alone(); // some browsers have no shared workers, or refuse them
  }
  line.watch();
  setInterval(() => line.watch(), 60_000);
}

addEventListener("pagehide", () => line?.leave());
// a page that the browser restores from memory may be out of date
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

function back() {
  line?.watch(true);
  refreshAll();
}
addEventListener("online", back);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) line?.watch();
  else back();
});

// --- failed requests

function isPart(element) {
  return element?.id in parts;
}

function failed(id, status) {
  tries.set(id, (tries.get(id) ?? 0) + 1);
  tooMany = status === 429;
  const seconds = pause(Math.max(...tries.values()));
  partsAt = Date.now() + 1000 * seconds;
  clearTimeout(timer);
  timer = setTimeout(() => {
    for (const part of tries.keys()) {
      const element = document.getElementById(part);
      if (element) htmx.trigger(element, "news");
      else healed(part);
    }
  }, 1000 * seconds);
  tick();
}

function healed(id) {
  tries.delete(id);
  if (tries.size) return;
  tooMany = false;
  partsAt = 0;
  clearTimeout(timer);
  tick();
}

/** Show the time of the next try, while a request has failed. */
function tick() {
  clearTimeout(ticking);
  const bar = document.querySelector("#offline");
  const next = Math.min(...[partsAt, streamAt].filter(Boolean));
  const since = keptSince();
  bar.hidden = next === Infinity && !since;
  if (bar.hidden) return;
  if (since) return (bar.firstChild.data = gettext("No connection. This page is from %(time)s.", { time: since }));
  const why = tooMany ? gettext("Too many requests. Trying again") : gettext("Offline. Reconnecting");
  bar.firstChild.data = `${why} `;
  const left = Math.ceil((next - Date.now()) / 1000);
  bar.querySelector("span").textContent = left > 0 ? gettext("in %(seconds)s s", { seconds: left }) : gettext("now");
  ticking = setTimeout(tick, 1000);
}

document.addEventListener("htmx:sendError", ({ detail: { elt } }) => {
  if (!isPart(elt) && !queued(elt)) away(gettext("Can’t reach the server. Please try again."));
});
document.addEventListener("htmx:timeout", ({ detail: { elt } }) => {
  if (!isPart(elt) && !queued(elt)) away(gettext("The server didn’t answer. Try again: your move won’t be played twice."));
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  // an answer that replaces its own part comes to what is around it
  const { requestConfig: { elt }, xhr } = detail;
  const done = xhr.status >= 200 && xhr.status < 400;
  if (!isPart(elt)) {
    if (done && elt.matches("form[data-empties]")) elt.reset();
  } else if (xhr.status === 0 || xhr.status === 429 || xhr.status >= 500) {
    failed(elt.id, xhr.status);
  } else {
    healed(elt.id);
  }
});

/** Show the number of new chat messages in the heading. */
function showUnreadCount() {
  const count = document.querySelectorAll("#chat .new").length;
  const mark = document.querySelector("#unread");
  mark.textContent = gettext("%(count)s new", { count });
  mark.hidden = count === 0;
  document.title = document.title.replace(/^✉ /, "");
}

// htmx looks for these when the answer is there, and news may have replaced the form that was sent
document.addEventListener("htmx:beforeRequest", ({ detail: { elt } }) => {
  for (const name of ["hx-select", "hx-select-oob", "hx-swap"]) {
    const holder = elt.closest(`[${name}]`);
    if (holder) elt.setAttribute(name, holder.getAttribute(name));
  }
});

document.addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig, serverResponse, target, xhr } = event.detail;
  // a part stays as it is if the request for it fails
  if (isPart(requestConfig.elt) && xhr.status >= 400) event.detail.shouldSwap = false;
  // ignore an answer with the events that the page already shows, or fewer
  const newSeq = /data-seq="(\d+)"/.exec(serverResponse);
  if (!newSeq || !["board-box", "board-area"].includes(target.id)) return;
  const ahead = Number(newSeq[1]) - shownSeq();
  if (ahead < 0 || (requestConfig.elt.id === "news" && ahead === 0)) event.detail.shouldSwap = false;
});

document.addEventListener("htmx:afterSettle", ({ detail }) => {
  const part = detail?.requestConfig?.elt.id;
  if (part === "chat") showUnreadCount();
  if (part === "watching" || part === "matches") lookAgain();
  else if (document.querySelector("#again")) line?.watch(); // the match has just ended
});

/** Fetch the watched matches again after a while if their list lags behind the matches themselves. */
function lookAgain() {
  line?.watch(); // the list may have others now
  const element = document.getElementById("watching");
  if (!element || !parts.watching(known)) return (lag = LAG);
  setTimeout(() => htmx.trigger(element, "news"), lag);
  lag *= 2;
}

tick();
later(join);
