// The same choices as those on the board as buttons, for the keyboard and for screen readers.

import { button } from "./elements.js";
import { gettext } from "./words.js";

const SMALL = "button quiet-button small";

/** Show the words that can be chosen, the ways back, and a list of the next places. */
export function showChoices(chooser, next) {
  const { chosen, moves, panel } = chooser;
  const words = chosen.length ? [] : moves.filter((move) => move.word);
  const buttons = words.map((move) => button(move.text, "button small", () => chooser.word(move)));
  if (chosen.length) buttons.push(button(gettext("Back"), SMALL, () => chooser.back()));
  if (chosen.length > 1) buttons.push(button(gettext("Start over"), `${SMALL} over`, () => chooser.back(0)));
  panel.querySelector("#choices").replaceChildren(...buttons);
  const box = document.querySelector("#listed");
  box.replaceChildren(...(next.length ? [list(chooser, next, box.querySelector("details")?.open)] : []));
}

function list(chooser, next, open) {
  const made = document.createElement("details");
  made.open = open ?? false;
  made.className = "all";
  const title = document.createElement("summary");
  title.textContent = gettext("Choose from a list (%(count)s)", { count: next.length });
  const inside = document.createElement("div");
  inside.className = "row";
  inside.append(...next.map((place) => button(place, SMALL, () => chooser.choose(place))));
  made.append(title, inside);
  return made;
}
