// Choosing a move on the board: a piece, its target, what is placed. The result is shown before the
// move is played. With the pointer, with the keyboard, or from the list below the board.

import { button, nearest, sentence } from "./elements.js";
import { choices, instead, PLACE, read } from "./notation.js";

let builder = null;
let pressed = null; // the part of a board on which the pointer went down
let last = { place: null, at: 0 }; // the last click

const DOUBLE_CLICK = 400; // milliseconds within which a second click belongs to a double click

/** Attach to the board that the page shows, if a move can be chosen on it. */
function begin() {
  const area = document.querySelector("#board-area[data-moves]");
  const panel = document.querySelector("#builder");
  if (!area || !panel || !area.dataset.moves) {
    builder = null;
    return;
  }
  const same = builder && builder.ply === area.dataset.ply && builder.source === area.dataset.moves;
  const before = same ? builder : null;
  builder = new Builder(area, panel);
  builder.open(before);
}

class Builder {
  constructor(area, panel) {
    this.area = area;
    this.panel = panel;
    this.ply = area.dataset.ply;
    this.source = area.dataset.moves;
    this.haloSize = Number(area.dataset.halo); // in percent; 0 marks the areas of places instead
    this.plain = area.innerHTML;
    this.input = panel.querySelector("#move");
    this.confirm = panel.querySelector("#confirm");
    this.moves = [];
    this.loading = null; // promise of the legal moves
    this.chosen = [];
    this.wished = null; // a place that was clicked before the moves were loaded
    this.asked = 0;
    this.panel.querySelector("#check").hidden = true;
    this.area.addEventListener("click", (event) => this.clicked(event));
    this.area.addEventListener("keydown", (event) => this.pressed(event));
    this.input.addEventListener("input", () => this.typed());
    this.panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.chosen.length) this.back();
    });
  }

  /** Take over the choice of an earlier builder of the same board, whose moves may still be loading. */
  async open(before) {
    this.chosen = before?.chosen ?? [];
    this.wished = before?.wished ?? null;
    this.loading = before?.loading ?? this.load();
    const found = await this.loading;
    if (builder !== this) return; // the board was redrawn meanwhile
    if (!found) {
      this.loading = null; // the next board asks again
      this.ready();
      return this.say("The moves can’t be loaded; write one instead.");
    }
    this.moves = found.moves;
    // the field holds a move from the page's address, or one that was written meanwhile
    const written = this.chosen.length ? "" : this.input.value.trim();
    await this.show(Boolean(written));
    if (written) await this.written(written);
    const wished = this.wished;
    this.wished = null;
    if (wished && found.moves.length) await this.choose(wished);
    if (found.more) this.say("There are too many moves to list all; you can write the others.");
  }

  async load() {
    const answer = await fetch(this.source, { headers: { Accept: "application/json" } }).catch(() => null);
    if (!answer?.ok) return null;
    const found = await answer.json();
    return { moves: found.moves.map(read), more: found.more };
  }

  // --- choosing

  clicked(event) {
    const place = this.placeOf(event.target);
    if (place && !again(place)) this.wish(place);
  }

  /** Choose a place as soon as the moves are loaded. */
  wish(place) {
    if (this.moves.length) this.choose(place);
    else this.wished = place;
  }

  released(gone, under) {
    const place = under && this.area.contains(under) ? this.placeOf(under) : null;
    if (place && place === this.placeOf(gone) && !again(place)) this.wish(place);
  }

  /** Return the name of the place, or of the plug in a player's hand, that an element belongs to. */
  placeOf(element) {
    const found = element.closest?.(".plug[data-plug], [data-place]");
    return found ? (found.dataset.place ?? found.dataset.plug) : null;
  }

  async choose(place) {
    const { next } = choices(this.moves, this.chosen);
    if (next.includes(place)) {
      this.chosen = [...this.chosen, place];
      // places without an alternative are chosen at once
      for (let one = choices(this.moves, this.chosen); ; one = choices(this.moves, this.chosen)) {
        if (one.whole || one.fitting.length !== 1 || one.next.length === 0) break;
        this.chosen = [...this.chosen, one.next[0]];
      }
      return this.show();
    }
    const at = this.chosen.indexOf(place);
    if (at >= 0) {
      this.chosen = this.chosen.slice(0, at);
      return this.show();
    }
    const first = choices(this.moves, []).next;
    if (this.chosen.length && first.includes(place)) {
      this.chosen = []; // the player means another piece
      return this.choose(place);
    }
    return this.why(place);
  }

  back(to = this.chosen.length - 1) {
    this.chosen = this.chosen.slice(0, to);
    this.show();
    this.area.querySelector('.choice[tabindex="0"]')?.focus({ preventScroll: true });
  }

  /** Ask the server why a place can't be chosen, and choose it if it is part of a legal move after all. */
  async why(place) {
    const meant = instead(this.moves, this.chosen, place);
    const tried = await this.ask(meant);
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
    if (this.moves.some((one) => one.text === text)) this.typed();
    else await this.look(text);
    this.ready();
  }

  word(move) {
    this.chosen = [];
    this.input.value = move.text;
    this.ready();
    this.look(move.text);
  }

  /** Allow to play a complete move; `part` means that a chosen one is incomplete. */
  ready(part = false) {
    this.confirm.disabled = part || !this.input.value.trim();
  }

  async ask(text) {
    const number = ++this.asked;
    const url = new URL(this.area.dataset.check, location);
    url.searchParams.set("move", text);
    const answer = await fetch(url, { headers: { Accept: "application/json" } }).catch(() => null);
    if (number !== this.asked) return null; // a newer request replaced this one
    if (!answer) this.say("The server can’t be reached, so the result can’t be shown.", true);
    if (!answer?.ok) return null;
    return answer.json();
  }

  // --- showing

  async show(typed = false) {
    const { fitting, next, whole } = choices(this.moves, this.chosen);
    this.mark(next);
    this.list(next);
    if (!typed) this.input.value = whole ? whole.text : this.partial(fitting);
    this.ready(!whole && !typed);
    if (whole) return this.look(whole.text);
    this.asked++;
    this.changes([]);
    this.say(this.prompt(next));
    if (this.chosen.length > 1 && fitting.length) await this.foretell(fitting[0].text, next);
  }

  partial(fitting) {
    if (!this.chosen.length || !fitting.length) return "";
    const sample = fitting[0].text;
    let at = 0;
    let end = 0;
    for (const found of sample.matchAll(PLACE)) {
      if (at++ < Math.min(this.chosen.length, fitting[0].free)) end = found.index + found[0].length;
    }
    const extra = this.chosen.slice(fitting[0].free);
    return sample.slice(0, end) + (extra.length ? `:${extra.join(",")}` : "");
  }

  prompt(next) {
    if (!this.moves.length) return "No move can be chosen here.";
    if (!this.chosen.length) {
      if (!next.length) return "Choose below.";
      return this.area.dataset.prompt;
    }
    const left = next.length === 1 ? "One place" : `${next.length} places`;
    return `Chosen: ${this.chosen.join(", ")}. ${left} can come next.`;
  }

  /** Redraw the current position, and mark the chosen and the possible places. */
  mark(next) {
    const focused = this.focused();
    this.area.innerHTML = this.plain;
    this.area.classList.remove("looking");
    this.dress(next, focused);
  }

  dress(next, focused) {
    this.area.classList.add("choosing");
    for (const place of this.chosen) this.halo(this.find(place), "chosen");
    let first = null;
    for (const place of next) {
      const element = this.find(place, this.chosen.length === 0);
      if (!element) continue;
      this.halo(element, "choice");
      element.setAttribute("role", "button");
      element.setAttribute("tabindex", "-1");
      first ??= element;
      if (place === focused) first = element;
    }
    first?.setAttribute("tabindex", "0");
    if (focused) first?.focus();
  }

  /** Mark a place: its own area if that is a shape of the board, else a circle. */
  halo(element, kind) {
    if (!element) return;
    element.classList.add(kind);
    if (!this.haloSize || element.querySelector(".halo")) return;
    const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    circle.classList.add("halo");
    circle.setAttribute("r", (this.haloSize / 100) * (element.querySelector(".piece") ? 18 : 9));
    element.querySelector(".hit").after(circle);
  }

  focused() {
    const place = this.area.contains(document.activeElement) && this.placeOf(document.activeElement);
    return place || (this.area.contains(document.activeElement) ? "?" : null);
  }

  find(place, start = false) {
    const name = CSS.escape(place);
    if (start || place === this.chosen[0]) {
      const plug = this.area.querySelector(`.plug[data-plug="${name}"]`);
      if (plug) return plug;
    }
    return this.area.querySelector(`[data-place="${name}"]`);
  }

  /** Show the same choices as buttons, for the keyboard and for screen readers. */
  list(next) {
    const box = this.panel.querySelector("#choices");
    const words = this.chosen.length ? [] : this.moves.filter((move) => move.word);
    const buttons = words.map((move) => button(move.text, "button", () => this.word(move)));
    if (this.chosen.length) {
      buttons.push(button("Back", "button quiet-button small", () => this.back()));
      buttons.push(button("Start over", "button quiet-button small over", () => this.back(0)));
    }
    const list = document.createElement("details");
    list.open = this.panel.querySelector("details.all")?.open ?? false;
    list.className = "all";
    const title = document.createElement("summary");
    title.textContent = `Choose from a list (${next.length})`;
    const inside = document.createElement("div");
    inside.className = "row";
    inside.append(...next.map((place) => button(place, "button quiet-button small", () => this.choose(place))));
    list.append(title, inside);
    box.replaceChildren(...buttons);
    this.panel.querySelector("#listed").replaceChildren(...(next.length ? [list] : []));
  }

  /** Show the result of a complete move before it is played. */
  async look(text) {
    const tried = await this.ask(text);
    if (!tried) return;
    if (!tried.legal) return this.say(sentence(tried.said), true);
    const { next } = choices(this.moves, this.chosen);
    const focused = this.focused();
    this.area.innerHTML = tried.svg;
    this.area.classList.add("looking");
    this.dress(this.chosen.length ? next : [], focused);
    this.changes(this.effects(tried));
    const more = next.length && this.chosen.length ? ", or go on" : "";
    this.say(`Play ${tried.move}${more}? ${sentence(tried.said)}`);
    // the next step is to play it, but the focus stays with a player who is writing or choosing
    if (!this.area.contains(document.activeElement) && document.activeElement !== this.input) {
      this.confirm.focus({ preventScroll: true });
    }
  }

  /** Show the effects that no later choice changes, such as the aging of pieces. */
  async foretell(text, next) {
    const tried = await this.ask(text);
    if (!tried?.legal) return;
    this.changes(this.effects(tried).filter((change) => !next.includes(change.place)));
  }

  /** Return the effects of a move on other places than the chosen ones, such as the aging of pieces. */
  effects(tried) {
    return tried.changes.filter(
      (change) => change.kind !== "comes" && !this.chosen.includes(change.place),
    );
  }

  changes(found) {
    for (const change of found) this.halo(this.find(change.place), change.kind);
    const box = this.panel.querySelector("#changes");
    box.hidden = found.length === 0;
    box.replaceChildren(...found.map((change) => {
      const line = document.createElement("p");
      line.className = change.kind;
      line.textContent = change.now
        ? `${change.place}: ${change.was} becomes ${change.now}`
        : `${change.place}: ${change.was} leaves`;
      return line;
    }));
  }

  say(text, warns = false) {
    const says = this.panel.querySelector("#says");
    says.textContent = text;
    says.classList.toggle("warns", warns);
  }

  // --- the keyboard

  pressed(event) {
    const place = this.placeOf(event.target);
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

/** Return whether a click is the second of a double click, which must not undo the first. */
function again(place) {
  const twice = place === last.place && performance.now() - last.at < DOUBLE_CLICK;
  last = { place, at: performance.now() };
  return twice;
}

document.addEventListener("pointerdown", (event) => {
  pressed = event.target.closest?.("#board-area *") ?? null;
  if (!pressed) last = { place: null, at: 0 };
});
// a board that was redrawn under the pointer gets no click
document.addEventListener("pointerup", (event) => {
  const gone = pressed && !pressed.isConnected ? pressed : null;
  pressed = null;
  if (gone && builder) builder.released(gone, document.elementFromPoint(event.clientX, event.clientY));
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id === "board-area" || event.target.querySelector?.("#board-area")) begin();
});
begin();
