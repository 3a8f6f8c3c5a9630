// Choosing a move that is tried out: it is made as soon as it is whole, because nothing is played.

import { button, nearest, sentence } from "./elements.js";
import { showList } from "./choice_list.js";
import { BoardMarks, placeOf } from "./marks.js";
import { choices, chosenWith, instead, read } from "./notation.js";
import { patient } from "./patience.js";
import { gettext } from "./words.js";

export class Trial {
  /** Choose on a board; `panel` shows what can be done, and `done` gets the move. */
  constructor(canvas, panel, done) {
    this.canvas = canvas;
    this.panel = panel;
    this.done = done;
    this.marks = null; // while a move can be chosen
    this.listed = document.createElement("div"); // stays, so that its list stays open from move to move
    this.held = null; // what had the focus of the keyboard before the last move: the board, or the list
    canvas.addEventListener("click", (event) => this.clicked(event));
    canvas.addEventListener("keydown", (event) => this.pressed(event));
  }

  /** Let a move be chosen on the board that is shown, after a line of moves; `byKeys` puts the focus there. */
  async open(board, ply, line, byKeys) {
    if (byKeys) this.held = this.canvas;
    this.where = [`/m/${board}/${ply}/if`, line.join(" ")];
    this.marks = new BoardMarks(this.canvas);
    this.chosen = [];
    this.moves = [];
    this.wished = null;
    const marks = this.marks;
    const found = await this.ask("moves", {});
    if (marks !== this.marks) return; // another board is shown by now
    this.moves = (found?.moves ?? []).map(read);
    this.words = found?.words ?? {};
    this.show();
    if (this.wished) return this.choose(this.wished);
    this.focus(this.held);
    this.held = null;
  }

  /** Put the focus on the first choice of the board or of the list. */
  focus(where) {
    where?.querySelector('.choice[tabindex="0"], .row button')?.focus({ preventScroll: true });
  }

  close() {
    this.marks = null;
    this.canvas.classList.remove("choosing", "looking", "many");
    this.panel.replaceChildren();
  }

  /** Return what has the focus of the keyboard, the board or the list; null for neither. */
  focused() {
    const here = document.activeElement;
    if (this.listed.contains(here)) return this.listed;
    return this.canvas.contains(here) && here.matches(":focus-visible") ? this.canvas : null;
  }

  async ask(part, query) {
    const url = `${this.where[0]}/${part}?${new URLSearchParams({ line: this.where[1], ...query })}`;
    const answer = await patient(url, { headers: { Accept: "application/json" } });
    return answer?.ok ? answer.json() : null;
  }

  clicked(event) {
    const place = this.marks && placeOf(event.target);
    if (place) this.choose(place);
  }

  async choose(place) {
    if (!this.moves.length) {
      this.wished = place;
      return;
    }
    const chosen = chosenWith(this.moves, this.chosen, place);
    if (!chosen) return this.why(place);
    this.chosen = chosen;
    const { whole, next } = choices(this.moves, chosen);
    if (whole && !next.length) this.make(whole.text);
    else this.show();
  }

  make(move) {
    this.marks = null;
    this.held = this.focused();
    this.done(move);
  }

  /** Say why a place can't be chosen; it may be part of a legal move after all. */
  async why(place) {
    const marks = this.marks;
    const meant = instead(this.moves, this.chosen, place);
    const tried = await this.ask("check", { move: meant });
    if (!tried || marks !== this.marks) return;
    if (tried.legal) this.make(tried.move);
    else this.say(sentence(tried.said.replace(`${meant}: `, "")), true);
  }

  show() {
    const { fitting, next, whole } = choices(this.moves, this.chosen);
    const focused = this.marks.focused();
    this.marks.restore();
    this.marks.path = fitting[0]?.path ?? 0;
    this.marks.dress(this.chosen, next, focused);
    const words = this.chosen.length ? [] : this.moves.filter((move) => move.word);
    const buttons = words.map((move) => button(this.words[move.text] ?? move.text, "button quiet-button small", () => this.make(move.text)));
    if (whole) buttons.push(button(gettext("Try moves from here"), "button small", () => this.make(whole.text)));
    if (this.chosen.length) buttons.push(button(gettext("Back"), "button quiet-button small", () => this.back()));
    const says = document.createElement("p");
    says.className = "says";
    says.setAttribute("role", "status");
    showList(this.listed, next, (place) => this.choose(place));
    const list = this.focused() === this.listed ? this.listed : null;
    this.panel.replaceChildren(says, ...buttons, this.listed);
    this.focus(list);
    if (this.chosen.length) this.say(gettext("%(places)s selected.", { places: this.chosen.join(", ") }));
    else if (next.length || words.length) this.say(gettext("Choose a move for the player to move."));
    else this.say("");
  }

  back() {
    const pressed = this.panel.contains(document.activeElement);
    this.chosen = this.chosen.slice(0, -1);
    this.show();
    if (pressed) this.focus(this.canvas);
  }

  say(text, warns = false) {
    const says = this.panel.querySelector(".says");
    says.textContent = text;
    says.classList.toggle("warns", warns);
  }

  pressed(event) {
    if (!this.marks) return;
    const place = placeOf(event.target);
    if (event.key === "Escape" && this.chosen.length) this.back();
    else if ((event.key === "Enter" || event.key === " ") && place) this.choose(place);
    else if (event.key.startsWith("Arrow") && event.target.closest(".choice")) this.walk(event);
    else return;
    event.preventDefault();
  }

  walk(event) {
    const all = this.canvas.querySelectorAll(".choice");
    const best = nearest(event.target, event.key, all);
    if (!best) return;
    for (const one of all) one.setAttribute("tabindex", "-1");
    best.setAttribute("tabindex", "0");
    best.focus();
  }
}
