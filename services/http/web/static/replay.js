// Replaying a match: with the slider, with the arrow keys, or automatically.

import { toNewest } from "./page.js";

const match = document.querySelector("[data-replay]");
const slide = document.querySelector("#slide");
const range = slide.querySelector("input");
let asking = null;
let running = 0;

const at = () => Number(document.querySelector("#at").dataset.ply);
const last = () => Number(document.querySelector("#at").dataset.last);

/** Show the match after `ply` moves, and abort an earlier request. */
async function go(ply) {
  if (ply < 0 || ply > last()) return;
  asking?.abort();
  asking = new AbortController();
  const url = `/m/${match.dataset.replay}/${ply}`;
  try {
    const answer = await fetch(url, { signal: asking.signal, headers: { "HX-Request": "true" } });
    if (!answer.ok) return;
    show(new DOMParser().parseFromString(await answer.text(), "text/html"), ply, url);
  } catch (error) {
    if (error.name !== "AbortError") stop();
  }
}

function show(page, ply, url) {
  const focused = document.activeElement?.getAttribute("aria-label");
  for (const id of ["board-area", "at", "picture"]) {
    document.getElementById(id).replaceWith(page.getElementById(id));
  }
  for (const link of document.querySelectorAll(".moves a")) {
    const here = Number(link.dataset.go) === ply;
    link.classList.toggle("now", here);
    if (here) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
  toNewest();
  range.value = ply;
  document.title = page.title;
  history.replaceState(history.state, "", url);
  if (focused) document.querySelector(`#at [aria-label="${focused}"]`)?.focus();
  showRunButton();
}

function showRunButton() {
  const run = document.querySelector("#run");
  run.hidden = last() === 0;
  run.textContent = running ? "Stop" : "Play";
  run.setAttribute("aria-pressed", String(running !== 0));
}

function stop() {
  clearInterval(running);
  running = 0;
  showRunButton();
}

async function run() {
  if (running) return stop();
  if (at() === last()) await go(0);
  running = setInterval(async () => {
    if (at() >= last()) stop();
    else await go(at() + 1);
  }, 1200);
  showRunButton();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-go]");
  if (event.target.closest("#run")) run();
  else if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    stop();
    go(Number(link.dataset.go));
  }
});

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
  const to = { ArrowLeft: at() - 1, ArrowRight: at() + 1, Home: 0, End: last() }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  stop();
  go(to);
});

range.addEventListener("input", () => {
  stop();
  go(Number(range.value));
});

slide.hidden = last() === 0;
showRunButton();
