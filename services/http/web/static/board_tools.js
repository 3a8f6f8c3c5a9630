// Below a board: turn it, change how boards look, and fold the legend once it is known.

import { keepSetting } from "./settings.js";

const KNOWN = 3; // matches of a game after which its legend is folded
const root = document.documentElement;

// --- turning: this page only, until it is loaded again

function offer() {
  const flip = document.querySelector("#flip");
  const column = flip?.closest(".board-column");
  // the plates that are part of some drawings can't be turned
  if (flip) flip.hidden = !column || Boolean(column.querySelector("svg.board .player"));
}

document.addEventListener("click", (event) => {
  const flip = event.target.closest("#flip");
  if (!flip) return;
  const turned = flip.closest(".board-column").classList.toggle("flipped");
  flip.setAttribute("aria-pressed", String(turned));
});

// --- looks, which take effect at once

const looks = {
  board(button, form) {
    root.dataset.board = button.value;
    for (const one of form.querySelectorAll('[name="board"]')) {
      one.setAttribute("aria-pressed", String(one === button));
    }
  },
  coordinates(button) {
    const on = button.value === "true";
    if (on) delete root.dataset.coordinates;
    else root.dataset.coordinates = "off";
    button.setAttribute("aria-pressed", String(on));
    button.value = String(!on);
  },
};

document.addEventListener("submit", (event) => {
  const form = event.target.closest(".board-settings");
  const look = form && looks[event.submitter?.name];
  if (!look) return; // the board has to be drawn again
  event.preventDefault();
  keepSetting(form, event.submitter);
  look(event.submitter, form);
});

// --- the legend: open in the first matches of a game, until somebody folds it

/** Return the matches of a game in which the legend was shown; the browser may keep nothing. */
function seen(key) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? [];
  } catch {
    return [];
  }
}

function remember(key, matches) {
  try {
    localStorage.setItem(key, JSON.stringify(matches));
  } catch {
    // then it opens again
  }
}

/** Fold a legend that the player has had before the eyes often enough. */
function fold() {
  const legend = document.querySelector("[data-legend]:not([data-read])");
  if (!legend) return;
  legend.dataset.read = "";
  const key = `legend ${legend.dataset.legend}`;
  const here = location.pathname.split("/").slice(0, 3).join("/");
  const matches = seen(key);
  if (matches.includes(here)) return;
  if (matches.length >= KNOWN) legend.open = false;
  else remember(key, [...matches, here]);
}

document.addEventListener("click", (event) => {
  const legend = event.target.closest("[data-legend] > summary")?.parentElement;
  // folded by hand: from now on it stays folded
  if (legend?.open) remember(`legend ${legend.dataset.legend}`, Array(KNOWN).fill(""));
});
document.addEventListener("htmx:afterSettle", () => {
  offer();
  fold();
});
offer();
fold();
