// Choosing a move on the board: a piece, its target, what is placed. With the pointer, with the
// keyboard, or from the list below the board.

import { Clicks } from "./clicks.js";
import { nearest, sentence } from "./elements.js";
import { showChoices } from "./choice_list.js";
import { BoardMarks, placeOf } from "./marks.js";
import { choices, chosenWith, instead, partial, read } from "./notation.js";
import { patient } from "./patience.js";
import { Preview } from "./preview.js";
import { gettext, ngettext } from "./words.js";

const clicks = new Clicks();

export class Chooser {
  constructor(area, panel) {
    this.area = area;
    this.panel = panel;
    this.ply = area.dataset.ply;
    this.source = area.dataset.moves;
    this.marks = new BoardMarks(area);
    this.preview = new Preview(this, area.dataset.check);
    this.input = panel.querySelector("#move");
    this.confirm = panel.querySelector("#confirm");
    this.moves = [];
    this.words = {}; // what moves that are words do, in the words of the game
    this.asks = ""; // what the game asks for in this position
    this.loading = null; // promise of the legal moves
    this.chosen = [];
    this.wished = null; // a place that was clicked before the moves were loaded
    this.closed = false;
    panel.querySelector("#check").hidden = true;
    panel.querySelector(".bar")?.classList.add("scripted");
    this.area.addEventListener("click", (event) => this.clicked(event));
    this.area.addEventListener("keydown", (event) => this.pressed(event));
    this.input.addEventListener("input", () => this.typed());
    this.panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.chosen.length) this.back();
    });
  }

  /** Return whether this chooses on the same board, which may have been drawn again. */
  isOf(area) {
    return this.ply === area.dataset.ply && this.source === area.dataset.moves;
  }

  /** Do nothing more, because another board has come in place of this one. */
  close() {
    this.closed = true;
  }

  /** Take over the choice of an earlier chooser of the same board, whose moves may still be loading. */
  async open(before) {
    this.chosen = before?.chosen ?? [];
    this.wished = before?.wished ?? null;
    this.loading = before?.loading ?? this.load();
    if (before && !this.chosen.length) this.input.value ||= before.input.value;
    const found = await this.loading;
    if (this.closed || !this.panel.isConnected) return; // another part of the page has taken its place
    if (!found) {
      this.loading = null; // the next board asks again
      this.ready();
      this.writes();
      return this.say(gettext("The moves couldn’t be loaded. Type one instead."));
    }
    Object.assign(this, { moves: found.moves, words: found.words, asks: found.prompt });
    // the field holds a move from the page's address, or one that was written meanwhile
    const written = this.chosen.length ? "" : this.input.value.trim();
    await this.show(Boolean(written));
    if (written) await this.written(written);
    const wished = this.wished;
    this.wished = null;
    if (wished && found.moves.length) await this.choose(wished);
    if (found.more) {
      this.writes();
      this.say(gettext("There are too many moves to list them all; you can type the others."));
    }
  }

  async load() {
    const answer = await patient(this.source, { headers: { Accept: "application/json" } });
    if (!answer?.ok) return null;
    const found = await answer.json();
    return { ...found, moves: found.moves.map(read) };
  }

  // --- choosing

  clicked(event) {
    const place = placeOf(event.target);
    if (place) this.clickedPlace(place);
  }

  released(gone, under) {
    const place = under && this.area.contains(under) ? placeOf(under) : null;
    if (place && place === placeOf(gone)) this.clickedPlace(place);
  }

  clickedPlace(place) {
    if (!clicks.isSecond(place)) this.wish(place);
    else if (this.chosen.includes(place) && this.whole()) this.play();
  }

  forgetClick() {
    clicks.forget();
  }

  /** Choose a place as soon as the moves are loaded. */
  wish(place) {
    if (this.moves.length) this.choose(place);
    else this.wished = place;
  }

  /** Return the move that the chosen places complete; null if there is none. */
  whole() {
    return this.chosen.length ? choices(this.moves, this.chosen).whole : null;
  }

  async choose(place) {
    const chosen = chosenWith(this.moves, this.chosen, place);
    if (!chosen) return this.why(place);
    const grown = chosen.length > this.chosen.length;
    this.chosen = chosen;
    await this.show();
    if (grown) this.playAtOnce();
  }

  back(to = this.chosen.length - 1) {
    this.chosen = this.chosen.slice(0, to);
    this.show();
    this.area.querySelector('.choice[tabindex="0"]')?.focus({ preventScroll: true });
  }

  /** Play a whole move without asking, if the player wants that and nothing can be added to it. */
  playAtOnce() {
    const { next, whole } = choices(this.moves, this.chosen);
    if (this.input.form.dataset.confirm === "off" && whole && !next.length) this.play();
  }

  play() {
    if (!this.closed && !this.confirm.disabled && this.confirm.getAttribute("aria-disabled") !== "true") {
      this.input.form.requestSubmit(this.confirm);
    }
  }

  /** Ask the server why a place can't be chosen, and choose it if it is part of a legal move after all. */
  async why(place) {
    const meant = instead(this.moves, this.chosen, place);
    const tried = await this.preview.ask(meant);
    if (!tried) return;
    if (tried.legal) {
      this.chosen = read(tried.move).places;
      await this.show();
    } else {
      // leave out the move, because the player has not written it
      this.say(sentence(tried.said.replace(`${meant}: `, "")), true);
    }
  }

  /** Preview a written move like a chosen one. */
  typed() {
    this.ready();
    const text = this.input.value.trim();
    const move = this.moves.find((one) => one.text === text);
    if (!move) return;
    if (move.word) return this.word(move);
    this.chosen = move.places;
    this.show(true);
  }

  /** Preview the move in the field, in any spelling. */
  async written(text) {
    this.input.value = text;
    this.writes();
    if (this.moves.some((one) => one.text === text)) this.typed();
    else await this.preview.show(text);
    this.ready();
  }

  word(move) {
    this.chosen = [];
    this.input.value = move.text;
    showChoices(this, choices(this.moves, []).next);
    this.ready();
    this.preview.show(move.text);
  }

  /** Show the field of the move on small screens too, where it is hidden otherwise. */
  writes() {
    this.panel.querySelector(".bar")?.classList.add("writes");
  }

  /** Allow to play a complete move; `part` means that a chosen one is incomplete. */
  ready(part = false) {
    this.confirm.disabled = part || !this.input.value.trim();
  }

  // --- showing

  async show(typed = false) {
    const { fitting, next, whole } = choices(this.moves, this.chosen);
    this.mark(next);
    showChoices(this, next);
    if (!typed) this.input.value = whole ? whole.text : partial(fitting, this.chosen);
    this.ready(!whole && !typed);
    if (whole) return this.preview.show(whole.text);
    this.preview.forget();
    this.say(this.prompt(next));
    if (this.chosen.length > 1 && fitting.length) await this.preview.foretell(fitting[0].text, next);
  }

  prompt(next) {
    if (!this.moves.length) return gettext("No moves can be chosen here.");
    if (!this.chosen.length) {
      if (this.asks && (!next.length || !this.area.dataset.hint)) return sentence(this.asks);
      if (!next.length) return gettext("Choose one:");
      if (this.area.dataset.hint) return this.area.dataset.hint;
      return this.area.dataset.prompt;
    }
    const places = this.chosen.join(", ");
    return ngettext("%(places)s selected. Now choose the marked space.", "%(places)s selected. Now choose one of %(count)s spaces.", next.length, { places });
  }

  /** Redraw the current position, and mark the chosen and the possible places. */
  mark(next) {
    const focused = this.marks.focused();
    this.marks.restore();
    this.marks.path = choices(this.moves, this.chosen).fitting[0]?.path ?? 0;
    this.marks.dress(this.chosen, next, focused);
  }

  say(text, warns = false) {
    const says = this.panel.querySelector("#says");
    says.textContent = text;
    says.classList.toggle("warns", warns);
  }

  // --- the keyboard

  pressed(event) {
    const place = placeOf(event.target);
    if (event.key === "Escape" && this.chosen.length) {
      event.preventDefault();
      this.back();
    } else if ((event.key === "Enter" || event.key === " ") && place) {
      event.preventDefault();
      this.choose(place);
    } else if (event.key.startsWith("Arrow")) {
      event.preventDefault();
      this.walk(event.target, event.key);
    }
  }

  /** Move the focus to the nearest choice in a direction. */
  walk(from, key) {
    const best = nearest(from, key, this.area.querySelectorAll(".choice"));
    if (!best) return;
    for (const element of this.area.querySelectorAll(".choice")) element.setAttribute("tabindex", "-1");
    best.setAttribute("tabindex", "0");
    best.focus();
  }
}
