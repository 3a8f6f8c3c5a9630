// Times for people: instants in the zone of the browser, and clocks that run down.

import { later } from "./later.js";
import { gettext } from "./words.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const language = document.documentElement.lang || "en";
const formats = new Map();
const ends = new WeakMap(); // when a clock runs out, by the clock of this machine
const age = document.body.dataset.kept ? Date.now() - document.body.dataset.kept : 0; // of a page that was kept, in ms
let timer = 0;

/** Return a format; the first one of a browser's process takes it many milliseconds to make. */
function kept(key, make) {
  if (!formats.has(key)) formats.set(key, make());
  return formats.get(key);
}

function format(kind, year) {
  return kept(`${kind} ${year}`, () => new Intl.DateTimeFormat(language, {
    ...(kind === "hour" ? {} : { day: "numeric", month: "short" }),
    ...(year && kind !== "hour" ? { year: "numeric" } : {}),
    ...(kind === "day" ? {} : { hour: "2-digit", minute: "2-digit" }),
  }));
}

function ago(count, unit) {
  const style = { style: "short", numeric: "auto" };
  return kept("ago", () => new Intl.RelativeTimeFormat(language, style)).format(count, unit);
}

/** Give a time its exact moment as its tip. */
function tip(element) {
  const style = { dateStyle: "full", timeStyle: "long" };
  const exact = kept("exact", () => new Intl.DateTimeFormat(language, style));
  element.title = exact.format(new Date(element.dateTime));
}

/** Return how long ago something was, such as `3 min. ago`; empty for more than a day. */
function agoText(ms) {
  if (ms >= DAY || ms < -MINUTE) return "";
  if (ms < MINUTE) return ago(0, "second");
  return ms < HOUR
    ? ago(-Math.floor(ms / MINUTE), "minute")
    : ago(-Math.floor(ms / HOUR), "hour");
}

/** Put an instant into the zone of the browser, with the exact moment as its tip. */
function show(element) {
  const at = new Date(element.dateTime);
  if (Number.isNaN(at.getTime())) return;
  const year = at.getFullYear() !== new Date().getFullYear();
  const { shown } = element.dataset;
  const recent = shown === "recent";
  element.textContent = (recent && agoText(Date.now() - at)) || format(recent ? "day" : shown, year).format(at);
  later(() => tip(element));
  element.dataset.zoned = "";
}

/** Return the time that is left on a clock in words, such as `5 d 3 h`. */
export function clockText(left) {
  const ms = Math.max(0, left);
  const days = Math.floor(ms / DAY);
  const hours = Math.floor((ms % DAY) / HOUR);
  const minutes = Math.floor((ms % HOUR) / MINUTE);
  if (days) return gettext("%(days)s d %(hours)s h", { days, hours });
  if (hours) return gettext("%(hours)s h %(minutes)s min", { hours, minutes });
  const seconds = String(Math.floor((ms % MINUTE) / 1000)).padStart(2, "0");
  return `${minutes}:${seconds}`;
}

/** Show how much is left; below a day it is urgent, and below an hour it shows seconds. */
function run(element) {
  if (!ends.has(element)) {
    // the server says how much was left, because the clock of this machine may be wrong
    const left = Number(element.dataset.deadline || NaN) - age;
    ends.set(element, Number.isFinite(left) ? Date.now() + left : Date.parse(element.dateTime));
    if (element.dateTime) later(() => tip(element));
  }
  const left = ends.get(element) - Date.now();
  const text = clockText(left);
  if (element.textContent !== text) element.textContent = text;
  element.classList.toggle("urgent", left < DAY);
  return left;
}

function tick() {
  clearTimeout(timer);
  const running = [...document.querySelectorAll("time[data-deadline]")].map(run);
  if (!running.length) return;
  const soonest = Math.min(...running);
  // a little after the second changes
  timer = setTimeout(tick, soonest < HOUR ? (Math.max(0, soonest) % 1000) + 20 : 15_000);
}

/** Bring all times of the page up to date. */
export function showTimes() {
  for (const element of document.querySelectorAll("time[data-shown]:not([data-zoned])")) show(element);
  tick();
}

document.addEventListener("htmx:afterSettle", showTimes);
setInterval(() => document.querySelectorAll('time[data-shown="recent"]').forEach(show), MINUTE);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) tick();
});
// what was seen already as the server wrote it may stay so until the board can be used
if (performance.getEntriesByName("first-contentful-paint").length) later(showTimes);
else showTimes();
