// The moves that somebody tries out in a match: lines from any position on, which make a tree. They are kept
// in this browser and in the address of the page, and nobody else sees them.

import { button } from "./elements.js";
import { gettext } from "./words.js";

const MOST = 1500; // characters of all lines in an address

/** Return whether a line begins with these moves. */
function begins(line, moves) {
  return moves.length <= line.length && moves.every((move, at) => line[at] === move);
}

/** The lines that were tried in a match, each `{ ply, moves }`; none is the beginning of another. */
export class Tree {
  /** `key` is where the browser keeps them. */
  constructor(key) {
    this.key = key;
    this.lines = [];
    try {
      this.read(localStorage.getItem(this.key) ?? "");
    } catch {
      // without storage the lines live as long as the page
    }
  }

  /** Add the lines of a text, as `text` writes them. */
  read(text) {
    for (const line of text.split(";")) {
      const [ply, ...moves] = line.split(" ");
      if (/^\d+$/.test(ply) && moves.length) this.add(Number(ply), moves);
    }
  }

  /** Return all lines as a text; in an address only as many as it has room for. */
  text(most = Infinity) {
    let left = most;
    const lines = this.lines.map(({ ply, moves }) => [ply, ...moves].join(" "));
    return lines.filter((line) => (left -= line.length + 1) >= 0).join(";");
  }

  short() {
    return this.text(MOST);
  }

  add(ply, moves) {
    if (!moves.length || this.has(ply, moves)) return;
    this.lines = this.lines.filter((line) => line.ply !== ply || !begins(moves, line.moves));
    this.lines.push({ ply, moves: [...moves] });
    this.store();
  }

  has(ply, moves) {
    return this.lines.some((line) => line.ply === ply && begins(line.moves, moves));
  }

  /** Remove the last of these moves, with all that was tried after it. */
  remove(ply, moves) {
    const gone = (line) => line.ply === ply && begins(line.moves, moves);
    const kept = moves.slice(0, -1);
    const any = this.lines.some(gone);
    this.lines = this.lines.filter((line) => !gone(line));
    if (any) this.add(ply, kept);
    this.store();
  }

  /** Drop from each line the moves that were played in the match. */
  follow(played) {
    const lines = this.lines;
    this.lines = [];
    for (const line of lines) this.add(...onMatch(played, line.ply, line.moves));
    this.store();
  }

  store() {
    try {
      if (this.lines.length) localStorage.setItem(this.key, this.text());
      else localStorage.removeItem(this.key);
    } catch {
      // the address has them as well
    }
  }

  /** Return the plies from which lines depart. */
  plies() {
    return [...new Set(this.lines.map((line) => line.ply))];
  }

  /** Return the different next moves after some of a line. */
  next(ply, moves) {
    const lines = this.lines.filter((line) => line.ply === ply && begins(line.moves, moves));
    return [...new Set(lines.map((line) => line.moves[moves.length]).filter(Boolean))];
  }
}

/** Return a line without its first moves that were played in the match, and the ply after them. */
export function onMatch(played, ply, moves) {
  let at = 0;
  while (at < moves.length && played[ply + at] === moves[at]) at++;
  return [ply + at, moves.slice(at)];
}

/**
 * Draw the tree into the list of moves: each line after the move that was played in its place.
 * `acts` has `go(ply, moves)`, `remove(ply, moves)`, and `keep(ply, moves)`, which returns an element or null.
 */
export function drawTree(tree, list, shown, acts) {
  for (const old of list.querySelectorAll(".branches")) old.remove();
  const items = [...list.children];
  for (const ply of tree.plies()) {
    const item = document.createElement("li");
    item.className = "branches";
    for (const move of tree.next(ply, [])) item.append(branch(ply, [], move));
    const before = items[Math.min(ply, items.length - 1)];
    if (before) before.after(item);
    else list.append(item);
  }
  list.hidden = !list.children.length;

  function branch(ply, start, first) {
    const row = document.createElement("div");
    row.className = "branch";
    const line = document.createElement("p");
    row.append(line);
    const under = [];
    const moves = [...start];
    for (let move = first; move; ) {
      moves.push(move);
      line.append(link(ply, [...moves], move === first), " ");
      const [main, ...others] = tree.next(ply, moves);
      for (const other of others) under.push([[...moves], other]);
      move = main;
    }
    const kept = acts.keep(ply, moves);
    if (kept) line.append(kept);
    const cross = button("×", "cross", () => acts.remove(ply, [...start, first]));
    cross.setAttribute("aria-label", gettext("Delete %(line)s", { line: [...start, first].join(" ") }));
    cross.title = gettext("Delete this branch");
    line.append(cross);
    for (const [after, other] of under) row.append(branch(ply, after, other));
    return row;
  }

  function link(ply, moves, numbered) {
    const made = document.createElement("a");
    made.href = `/m/${acts.board}/${ply}/if?${new URLSearchParams({ line: moves.join(" ") })}`;
    made.textContent = moves.at(-1);
    if (numbered) made.dataset.number = ply + moves.length;
    if (shown.ply === ply && shown.line.join(" ") === moves.join(" ")) {
      made.className = "now";
      made.setAttribute("aria-current", "step");
    }
    made.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      acts.go(ply, moves);
    });
    return made;
  }
}

/** Return whether the page has a line among the conditional moves; they end with a move of the visitor. */
function isKept(line) {
  return [...document.querySelectorAll(".conditional .steps-of a")].some((one) => {
    const moves = [...one.children].map((step) => step.textContent);
    return begins(moves, line) || (begins(line, moves) && line.length === moves.length + 1);
  });
}

/** Return a form that keeps a line as conditional moves, or that it is kept; null if the visitor can keep none. */
export function keepForm(line) {
  if (isKept(line)) {
    const says = document.createElement("span");
    says.className = "quiet";
    says.textContent = gettext("Saved");
    return says;
  }
  const form = document.querySelector("#keep-line")?.content.firstElementChild.cloneNode(true);
  if (!form) return null;
  form.querySelector('[name="line"]').value = line.join(" ");
  htmx.process(form);
  return form;
}
