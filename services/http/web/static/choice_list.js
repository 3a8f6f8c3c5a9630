// The same choices as those on the board as buttons, for the keyboard and for screen readers.

import { button } from "./elements.js";
import { gettext } from "./words.js";

const SMALL = "button quiet-button small";

/** Show the words that can be chosen, the ways back, and a list of the next places. */
export function showChoices(chooser, next) {
  const { chosen, moves, panel } = chooser;
  const words = chosen.length ? [] : moves.filter((move) => move.word);
  const buttons = words.map((move) => wordButton(move, chooser));
  if (chosen.length) buttons.push(button(gettext("Back"), SMALL, () => chooser.back()));
  if (chosen.length > 1) buttons.push(button(gettext("Start over"), `${SMALL} over`, () => chooser.back(0)));
  panel.querySelector("#choices").replaceChildren(...buttons);
  showList(document.querySelector("#listed"), next, (place) => chooser.choose(place));
}

/** Return the button of a move that is a word; what the game calls it by is no second Play. */
function wordButton(move, chooser) {
  const label = chooser.words[move.text];
  const made = button(label ?? move.text, label ? `${SMALL} named` : "button small", () => chooser.word(move));
  if (label) made.setAttribute("aria-pressed", chooser.input.value === move.text);
  return made;
}

/** Show a list of places in a box in place of an earlier one; it stays open, and keeps the focus. */
export function showList(box, next, choose) {
  if (!box) return; // the match ended while its moves were loaded
  const before = box.querySelector("details");
  const focused = before?.contains(document.activeElement);
  if (!next.length) return box.replaceChildren();
  const made = document.createElement("details");
  made.open = before?.open ?? false;
  made.className = "all";
  const title = document.createElement("summary");
  title.textContent = gettext("Choose from a list (%(count)s)", { count: next.length });
  const inside = document.createElement("div");
  inside.className = "row";
  inside.append(...next.map((place) => button(place, SMALL, () => choose(place))));
  made.append(title, inside);
  box.replaceChildren(made);
  if (focused) (made.open ? inside.firstElementChild : title).focus({ preventScroll: true });
}
