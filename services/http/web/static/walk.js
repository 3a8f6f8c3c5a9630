// The positions of a match in place of its board, for `steps.js`; and trying out moves from any of them. What is shown
// stands in the address.
//
// On the page of the match its own board stays as it is, hidden behind the one that is shown, so that it
// goes on with the match, and keeps a move that is being chosen.

import "./animate.js";
import { button } from "./elements.js";
import { away } from "./messages.js";
import { patient } from "./patience.js";
import { Runner } from "./replay.js";
import { toNewest } from "./scrolling.js";
import { TRIED, bar, board, live, range, shownPly } from "./steps.js";
import { Tree, drawTree, keepForm, onMatch } from "./tree.js";
import { Trial } from "./trying.js";
import { gettext } from "./words.js";

const page = document.querySelector(".match");
const run = bar.querySelector("#run");
const tryLink = bar.querySelector("#try");
const tree = new Tree(TRIED);
const runner = new Runner(run, { ply: () => at.ply, last: () => last, go: (ply) => go(ply, [], false) });
const known = new Map(); // promises of positions, by their addresses

let last = Number(bar.dataset.last);
let at = { ply: Number(bar.dataset.ply), line: [], trying: false }; // what is shown
let wanted = at; // what is shown as soon as it is fetched; steps go on from there
let asked = 0;
let played = ""; // a move of the match that came while another position is shown

const canvas = live ? box() : document.querySelector("#board-area");
canvas.dataset.halo = bar.dataset.halo;
const panel = document.createElement("div");
panel.className = "trial row";
bar.after(panel);
let trial = null; // what chooses moves, once somebody has tried one

/** Let a move be chosen on the board that is shown. */
function choose(byKeys) {
  trial ??= new Trial(canvas, panel, (move) => go(at.ply, [...at.line, move], true));
  return trial.open(board, at.ply, at.line, byKeys);
}

/** Return the element for other boards than the match's own. */
function box() {
  const made = document.createElement("div");
  made.className = "board-frame study-frame";
  document.querySelector("#study-box").append(made);
  return made;
}

/** Return the moves of the match, as its list has them. */
function moves() {
  return [...document.querySelectorAll(".moves a[data-go]")].map((link) => link.textContent);
}

/** Return whether the page shows the match as it stands. */
function isNow(one = at) {
  return one.ply === last && !one.line.length && !one.trying;
}

/** Return the promise of a position; one that is on its way already is not fetched twice. */
function position(ply, line) {
  const query = line.length ? `?${new URLSearchParams({ line: line.join(" ") })}` : "";
  const url = `/m/${board}/${ply}/if/board${query}`;
  if (!known.has(url)) known.set(url, fetched(url));
  return known.get(url);
}

async function fetched(url) {
  try {
    const answer = await patient(url, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.status);
    return await answer.json();
  } catch (error) {
    known.delete(url);
    throw error;
  }
}

/** Show a position: after `ply` moves of the match and a line of tried ones. */
async function go(ply, line = [], trying = wanted.trying, byKeys = false) {
  [ply, line] = onMatch(moves(), ply, line);
  if (ply < 0 || ply > last) return;
  wanted = { ply, line, trying: trying || line.length > 0 };
  const number = ++asked;
  const found = live && isNow(wanted) ? null : await position(ply, line).catch(() => undefined);
  if (number !== asked) return; // another position was asked for meanwhile
  if (found === undefined) {
    wanted = at;
    away(gettext("Can’t reach the server. Please try again."));
    return runner.stop();
  }
  const focused = document.activeElement?.dataset?.step;
  at = wanted;
  if (line.length) tree.add(ply, line);
  trial?.close();
  if (found) show(found);
  else played = "";
  if (live) study(found !== null);
  refresh(found);
  if (focused) bar.querySelector(`[data-step="${focused}"]`).focus();
  if (at.trying && found && !found.over) await choose(byKeys);
}

/** Show other boards in place of the match's own, or that one again. */
function study(on) {
  page.classList.toggle("studying", on);
  document.querySelector("#study-box").hidden = !on;
}

function show(found) {
  canvas.innerHTML = found.svg;
  canvas.classList.toggle("tried", at.trying);
  showPlates(found);
}

function showPlates(found) {
  for (const place of ["above", "below"]) plates(place).innerHTML = found.plates[place];
}

/** Return the element for the plates of the shown position; the match's own go on behind them. */
function plates(place) {
  const own = document.querySelector(`#plates-${place}`);
  if (!live) return own;
  const found = page.querySelector(`.plates.then.${place}`);
  if (found) return found;
  const made = document.createElement("div");
  made.className = `plates then ${place}`;
  own.after(made);
  return made;
}

/** Bring everything around the board up to date. */
function refresh(found) {
  range.max = last;
  range.value = at.ply;
  range.closest("label").hidden = last === 0;
  bar.dataset.ply = at.ply;
  bar.dataset.last = last;
  aim("first", 0);
  aim("back", Math.max(0, at.ply - 1));
  aim("on", Math.min(last, at.ply + (at.line.length ? 0 : 1)));
  aim("last", last);
  tryLink.href = `/m/${board}/${at.ply}/if${at.line.length ? `?${new URLSearchParams({ line: at.line.join(" ") })}` : ""}`;
  tryLink.hidden = at.trying;
  for (const link of document.querySelectorAll("[data-at]")) {
    const before = Math.max(0, at.ply - 1);
    link.setAttribute("href", link.dataset.at.replace("{ply}", at.ply).replace("{before}", before));
    const item = link.closest("li");
    if (item && link.dataset.upto) item.hidden = at.ply > Number(link.dataset.upto);
  }
  run.hidden = live || last === 0;
  banner(found);
  list();
  address();
}

function aim(step, ply) {
  const link = bar.querySelector(`[data-step="${step}"]`);
  link.href = live && ply === last ? `/m/${board}` : `/m/${board}/${ply}`;
}

/** Say above the board what it shows. */
function banner(found) {
  const here = live ? document.querySelector("#study-turn") : document.querySelector("#at");
  if (live) here.hidden = !found;
  if (!found) return here.replaceChildren();
  here.dataset.ply = at.ply;
  here.classList.toggle("earlier", !at.trying);
  const says = document.createElement("p");
  says.className = "says";
  const title = document.createElement("strong");
  title.textContent = at.trying ? gettext("Sandbox: nothing here is played") : gettext("Earlier position");
  if (live || at.trying) says.append(title, " ");
  if (at.line.length) {
    const line = says.appendChild(document.createElement("code"));
    line.textContent = `${at.line.length > 3 ? "… " : ""}${at.line.slice(-3).join(" ")}`;
    says.append(" ");
  }
  says.append(found.says);
  here.replaceChildren(says);
  if (played) {
    const news = here.appendChild(document.createElement("p"));
    news.className = "meanwhile";
    news.append(gettext("Played in the meantime: %(move)s.", { move: played }));
  }
  if (live || at.trying) {
    const back = here.appendChild(button(gettext("Back"), "button quiet-button small", leave));
    back.setAttribute("aria-label", gettext("Back to the match"));
    if (matchMedia("(min-width: 521px)").matches) back.textContent = gettext("Back to the match");
  }
}

export function leave() {
  if (live) go(last, [], false);
  else go(at.ply, [], false);
}

/** Mark the shown position in the list of moves, and draw the tried ones into it. */
function list() {
  for (const link of document.querySelectorAll(".moves a[data-go]")) {
    const here = Number(link.dataset.go) === at.ply && !at.line.length;
    link.classList.toggle("now", here);
    if (here) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
  drawTree(tree, document.querySelector(".moves"), { ply: at.ply, line: at.line }, {
    board,
    go: (ply, line) => go(ply, line, true),
    remove: cut,
    keep: (ply, line) => (ply === last && line.length > 1 ? keepForm(line) : null),
  });
  toNewest();
}

function cut(ply, line) {
  tree.remove(ply, line);
  const gone = at.ply === ply && at.line.length >= line.length && line.every((move, i) => at.line[i] === move);
  if (gone) go(ply, line.slice(0, -1));
  else refreshTree();
}

function refreshTree() {
  list();
  address();
}

/** Put what is shown, and what was tried, into the address. */
function address() {
  const fields = {};
  if (live && !isNow()) fields.at = at.ply;
  if (at.line.length) fields.line = at.line.join(" ");
  else if (at.trying) fields.try = "1";
  if (tree.lines.length) fields.tree = tree.short();
  const hash = new URLSearchParams(fields).toString();
  const path = live ? location.pathname + location.search : `/m/${board}/${at.ply}`;
  const url = `${path}${hash ? `#${hash}` : ""}`;
  const link = document.querySelector("#share-link");
  if (link) link.value = new URL(url, location).href;
  if (url !== location.pathname + location.search + location.hash) history.replaceState(history.state, "", url);
}

/** Show what the address says. */
export function follow() {
  const fields = new URLSearchParams(location.hash.slice(1));
  tree.read(fields.get("tree") ?? "");
  tree.follow(moves());
  const ply = fields.has("at") ? Math.min(Number(fields.get("at")) || 0, last) : at.ply;
  const line = (fields.get("line") ?? "").split(" ").filter(Boolean);
  if (line.length || fields.has("try") || ply !== at.ply) go(ply, line, line.length > 0 || fields.has("try"));
  else refreshTree();
}

// --- what the visitor does

/** Go a step: back from a tried move, or on to the next, of the line or of the match. */
export function step(name) {
  runner.stop();
  const { ply, line, trying } = wanted;
  if (name === "first") return go(0, []);
  if (name === "last") return go(last, [], live ? false : trying);
  if (name === "back") return line.length ? go(ply, line.slice(0, -1)) : go(ply - 1, []);
  const [next] = tree.next(ply, line);
  if (line.length) return next ? go(ply, [...line, next]) : null;
  if (ply < last) return go(ply + 1, [], trying && !(live && ply + 1 === last));
  return next ? go(ply, [next], true) : null;
}

/** Do what a link or button is for that was pressed, with the pointer or by a key. */
export function press(target, byKeys) {
  if (target === run) runner.toggle();
  else if (target === tryLink) go(wanted.ply, wanted.line, true, byKeys);
  else if (target.dataset.step) step(target.dataset.step);
  else {
    runner.stop();
    go(Number(target.dataset.go), [], wanted.trying && !(live && Number(target.dataset.go) === last));
  }
}

/** Show the position of the slider. */
export function slide() {
  runner.stop();
  go(Number(range.value), [], false);
}

// --- the match goes on

function settled() {
  if (!live) return;
  const ply = Number(shownPly() ?? last);
  const same = ply === last;
  const wasNow = isNow();
  if (!same) known.clear(); // what is said of a position names the last ply
  last = ply;
  if (!same) tree.follow(moves());
  if (wasNow || at.ply > last) {
    const now = { ply: last, line: [], trying: false };
    if (wanted === at) wanted = now;
    at = now;
    return close();
  }
  if (same && trial?.marks && canvas.isConnected) return redraw();
  if (!same) played = moves().at(-1) ?? "";
  go(wanted.ply, wanted.line, wanted.trying);
}
document.addEventListener("htmx:afterSettle", settled);

/** Bring everything around the board up to date, and keep the places that are chosen on it. */
async function redraw() {
  const number = asked;
  const found = await position(at.ply, at.line).catch(() => null);
  if (number !== asked || !found) return;
  showPlates(found);
  if (live) study(true);
  refresh(found);
}

/** Show the match's own board again, and mark its last move. */
function close() {
  study(false);
  trial?.close();
  refresh(null);
}

run.hidden = live || last === 0;
if (shownPly() !== bar.dataset.last) settled(); // a move came before this was loaded
follow();
