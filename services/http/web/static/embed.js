// A board or a table in a frame of another site: it follows its matches while it can be seen.

import { patient } from "./patience.js";
import { Stream } from "./stream.js";

const main = document.querySelector("#embedded");
const SOON = 60; // ms after which the frame is fetched again, and then twice as long, because a table lags behind
const MOST = 60_000;
let known = {};
let timer = 0;
let wait = SOON;

/** Return the matches, each with the number of its last event that is shown. */
function shown() {
  const list = main.dataset.boards;
  return list ? list.split(",").map((one) => one.split(":").map(Number)) : [];
}

async function refresh() {
  const answer = await patient(location.href, { credentials: "omit" });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#embedded");
  main.dataset.boards = fresh.dataset.boards;
  main.replaceChildren(...fresh.childNodes);
  follow();
}

function look() {
  if (timer) return;
  if (!shown().some(([board, seq]) => known[`match ${board}`] > seq)) {
    wait = SOON;
    return;
  }
  timer = setTimeout(async () => {
    await refresh().catch(() => {});
    timer = 0;
    look();
  }, wait);
  wait = Math.min(2 * wait, MOST);
}

const stream = new Stream(({ state }) => {
  known = { ...known, ...state };
  look();
});

function follow() {
  const boards = shown().map(([board]) => board).sort((a, b) => a - b);
  stream.follow(document.hidden || !boards.length ? "" : `/stream?boards=${boards.join(",")}`);
}

document.addEventListener("visibilitychange", follow);
follow();
