// Secret texts for draws: this browser makes and keeps them, forms commit to them, matches ask for them.

import { later } from "./later.js";
import { PREFIX } from "./sealed.js";
import { pause } from "./stream.js";

const OLD = 90 * 24 * 3600 * 1000;
/** Texts that a request names; most browsers keep one or two. */
const MOST = 100;
const DONE = ["match-over", "too-late", "wrong-text", "time-over", "unknown-board"];

/** The commitment of each form, as if it were sent now. */
const prepared = new WeakMap();

const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const digest = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

let keeps = null; // whether this browser can keep texts, once that was asked

/** Return whether this browser can keep texts; without https it has no SHA-256, and the server keeps them. */
function able() {
  keeps ??= Boolean(globalThis.crypto?.subtle) && works();
  return keeps;
}

function works() {
  try {
    localStorage.setItem(`${PREFIX}test`, "");
    localStorage.removeItem(`${PREFIX}test`);
    return true;
  } catch {
    return false;
  }
}

/** Make a text for a form: 32 random bytes, and the SHA-256 of the player's word, if there is one. */
async function prepare(form) {
  const word = form.elements.entropy?.value ?? "";
  const own = word ? await digest(new TextEncoder().encode(word)) : [];
  const text = new Uint8Array([...crypto.getRandomValues(new Uint8Array(32)), ...own]);
  prepared.set(form, { word, text: hex(text), commitment: hex(await digest(text)) });
}

// typed text survives when news of the match replaces its form
const typed = new Map();
const FIELDS = '[data-commits] [name="entropy"], [data-reveal] [name="text"]';
document.addEventListener("input", (event) => {
  if (event.target.matches(FIELDS)) typed.set(event.target.name, event.target.value);
});

function prepareForms() {
  for (const field of document.querySelectorAll(FIELDS)) field.value ||= typed.get(field.name) ?? "";
  const forms = document.querySelectorAll("form[data-commits]");
  if (!forms.length || !able()) return;
  for (const form of forms) {
    if (prepared.has(form)) continue;
    prepared.set(form, null);
    prepare(form);
    form.elements.entropy?.addEventListener("input", () => prepare(form));
    for (const note of form.querySelectorAll("[data-keeper]")) note.textContent = note.dataset.keeper;
  }
}

// before htmx or the browser reads the form
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.submitter?.hasAttribute("data-plain")) return;
  const made = prepared.get(form);
  const word = form.elements.entropy;
  if (!made || made.word !== (word?.value ?? "")) return;
  localStorage.setItem(PREFIX + made.commitment, JSON.stringify({ text: made.text, at: Date.now() }));
  let field = form.elements.commitment;
  if (!field) {
    field = document.createElement("input");
    field.type = "hidden";
    field.name = "commitment";
    form.append(field);
  }
  field.value = made.commitment;
  if (!word) return;
  // the word is a part of the text, so the server must not get it yet
  word.disabled = true;
  setTimeout(() => {
    word.disabled = false;
  });
}, true);

/** Repeat a request until the server answers, because it may be down or busy. */
async function ask(path, options) {
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(path, options).catch(() => null);
    if (answer && answer.status !== 429 && answer.status < 500) return answer;
    await new Promise((done) => { setTimeout(done, 1000 * pause(tries)); });
  }
}

/** Reveal a text if this browser keeps it; return whether it does. */
async function reveal(board, commitment) {
  const entry = localStorage.getItem(PREFIX + commitment);
  if (!entry) return false;
  const answer = await ask(`/api/matches/${board}/reveal`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ text: JSON.parse(entry).text }),
  });
  const body = await answer.json();
  if (answer.status === 200 || DONE.includes(body.code)) localStorage.removeItem(PREFIX + commitment);
  return true;
}

/** Reveal the text that the page's match waits for; if it is not here, show where it is. */
async function revealHere() {
  const asked = document.querySelector("[data-reveal]");
  if (!asked || asked.dataset.asked) return;
  asked.dataset.asked = "yes";
  if (!localStorage.getItem(PREFIX + asked.dataset.reveal)) {
    asked.querySelector("[data-elsewhere]").hidden = false;
    return;
  }
  const known = asked.querySelector("[data-known]");
  known.querySelector("form").setAttribute("hx-confirm", known.dataset.known);
  await reveal(asked.dataset.board, asked.dataset.reveal);
}

/** Reveal the texts that any match waits for; remove old ones that no match has asked for. */
async function revealAll() {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
  for (const key of keys) {
    if (Date.now() - JSON.parse(localStorage.getItem(key)).at > OLD) localStorage.removeItem(key);
  }
  const kept = keys.filter((key) => localStorage.getItem(key));
  if (!kept.length) return;
  // the server learns which texts were here, and blames nobody for one that was not
  const have = kept.slice(0, MOST).map((key) => key.slice(PREFIX.length, PREFIX.length + 16)).join(".");
  const answer = await ask(`/draws?have=${have}`, { headers: { Accept: "application/json" } });
  if (!answer.ok) return;
  for (const one of await answer.json()) await reveal(one.board, one.commitment);
}

document.addEventListener("htmx:afterSettle", () => {
  prepareForms();
  if (!able()) return;
  revealHere();
  // the new list of matches may have one that waits for a text
  if (document.querySelector("#matches")) revealAll();
});
prepareForms();
later(() => {
  if (able()) {
    revealHere();
    revealAll();
  } else {
    for (const one of document.querySelectorAll("[data-elsewhere]")) one.hidden = false;
  }
});
