// Marks on a board: what can be chosen, what is chosen, and what will change.

import "./animate.js";
import { closest } from "./elements.js";

const RING = 18; // the size of a mark around a piece, and of one on an empty place
const DOT = 8;
const MOST = 0.5; // above this part of all places, choices are marked only under the pointer

/** Return the name of the place, or of the plug in a player's hand, that an element belongs to. */
export function placeOf(element) {
  const found = element.closest?.(".plug[data-plug], [data-place]");
  return found ? (found.dataset.place ?? found.dataset.plug) : null;
}

export class BoardMarks {
  constructor(area) {
    this.area = area;
    this.size = Number(area.dataset.halo); // in percent; 0 marks the areas of places instead
    this.plain = area.innerHTML;
    this.chosen = [];
    this.path = 0; // how many of the chosen places are the way of the first piece
    this.turn = area.querySelector("svg.board")?.dataset.turn;
    for (const name of ["pointerover", "focusin"]) {
      area.addEventListener(name, (event) => this.foreshow(event.target.closest(".choice")));
    }
  }

  /** Show the current position again, without marks. */
  restore() {
    this.area.innerHTML = this.plain;
    this.area.classList.remove("looking");
  }

  /** Show the position after a move that is previewed. */
  look(svg) {
    this.area.innerHTML = svg;
    this.area.classList.add("looking");
  }

  /** Mark the chosen places and the next choices, and keep the focus on one that had it. */
  dress(chosen, next, focused) {
    this.chosen = chosen;
    this.area.classList.add("choosing");
    const places = this.area.querySelectorAll(".place").length;
    this.area.classList.toggle("many", !chosen.length && next.length > MOST * places);
    for (const place of chosen) this.halo(this.find(place), "chosen");
    this.carry();
    const found = next.map((place) => this.find(place, chosen.length === 0)).filter(Boolean);
    for (const element of found) {
      this.halo(element, "choice");
      element.setAttribute("role", "button");
      element.setAttribute("tabindex", "-1");
    }
    const first = found.find((element) => placeOf(element) === focused) ?? this.nearestOf(found);
    first?.setAttribute("tabindex", "0");
    if (focused) first?.focus();
  }

  /** Return the choice that is nearest to the place chosen last. */
  nearestOf(found) {
    const from = this.chosen.length ? this.find(this.chosen.at(-1)) : null;
    return from ? closest(from, found) : found[0];
  }

  /** Mark places that a move would change: `{ place, kind }`. */
  changes(found) {
    for (const change of found) this.halo(this.find(change.place), change.kind);
  }

  /** Mark a place: its own area if that is a shape of the board, else a circle. */
  halo(element, kind) {
    if (!element) return;
    element.classList.add(kind);
    if (!this.size || element.querySelector(".halo")) return;
    const held = element.querySelector(".piece");
    const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    circle.classList.add("halo", held ? "round" : "dot");
    circle.setAttribute("r", (this.size / 100) * (held ? RING : DOT));
    element.querySelector(".hit").after(circle);
  }

  /** Show the chosen piece where it goes, before the rest of the move is chosen. */
  carry() {
    if (this.chosen.length < 2 || this.path < 2 || !this.size || this.area.classList.contains("looking")) return;
    const from = this.find(this.chosen[0]);
    const to = this.find(this.chosen[Math.min(this.chosen.length, this.path) - 1]);
    const piece = from?.querySelector(".piece");
    if (!piece || !to || to.querySelector(".piece")) return;
    to.append(faint(piece));
    from.classList.add("left-behind");
  }

  /** Put a faint piece on a choice, which the style shows under the pointer and with the focus. */
  foreshow(element) {
    if (!this.size || !element || element.querySelector(".piece, .would")) return;
    const piece = this.next();
    if (!piece) return;
    element.append(faint(piece));
  }

  /** Return a piece like the one that the next choice sets; null if the board has none to copy. */
  next() {
    const moved = this.chosen.length === 1 && this.find(this.chosen[0])?.querySelector(".piece");
    if (moved) return moved;
    const own = [...this.area.querySelectorAll(`.piece:is(.stone, .fresh)[data-seat="${this.turn}"]`)];
    return own.length && own.every((one) => one.classList[1] === own[0].classList[1]) ? own[0] : null;
  }

  /** Return the place that has the focus, `?` if the focus is elsewhere on the board, or null. */
  focused() {
    const here = this.area.contains(document.activeElement);
    return (here && placeOf(document.activeElement)) || (here ? "?" : null);
  }

  /** Return the element of a place; a move begins with a plug of a hand where there are such. */
  find(place, start = false) {
    const name = CSS.escape(place);
    if (start || place === this.chosen[0]) {
      const plug = this.area.querySelector(`.plug[data-plug="${name}"]`);
      if (plug) return plug;
    }
    return this.area.querySelector(`[data-place="${name}"]`);
  }
}

/** Return a copy of a piece that stands for one that is not there yet. */
function faint(piece) {
  const copy = piece.cloneNode(true);
  copy.classList.replace("piece", "would");
  return copy;
}
