// Moves as sequences of places. This code knows how moves are written, but no rules of any game: the
// server sends the list of legal moves.

/** Names of places: letters and a number, such as those of columns and rows, or a number alone. */
export const PLACE = /[a-z]*\d+/g;
const PATH = /^[a-z]*\d+(?:-[a-z]*\d+)+/;
const NAME = /[a-z]*\d+|[a-z]+/g;

/** Read a canonical move: its places in order, the index from which their order is free, and how many are a way. */
export function read(text) {
  const places = text.match(NAME) ?? [];
  const tail = text.indexOf(":");
  const listed = tail >= 0 && text.includes(",", tail);
  const free = listed ? (text.slice(0, tail).match(NAME) ?? []).length : places.length;
  const word = places.length === 1 && /^[a-z]{2,}$/.test(places[0]);
  // a hyphen joins the points of a way, on which the first piece goes
  const path = (PATH.exec(text)?.[0].match(NAME) ?? []).length;
  return { text, places, free, word, path };
}

/** Return whether a move begins with these places. */
function begins(move, chosen) {
  if (move.word || chosen.length > move.places.length) return false;
  for (let at = 0; at < Math.min(chosen.length, move.free); at++) {
    if (move.places[at] !== chosen[at]) return false;
  }
  const rest = move.places.slice(move.free);
  return chosen.slice(move.free).every((place) => rest.includes(place));
}

/** Return the possible next places, and the move if the chosen places complete one. */
export function choices(moves, chosen) {
  const fitting = moves.filter((move) => begins(move, chosen));
  const next = new Set();
  let whole = null;
  for (const move of fitting) {
    if (move.places.length === chosen.length) whole = move;
    else if (chosen.length < move.free) next.add(move.places[chosen.length]);
    else for (const place of move.places.slice(move.free)) {
      if (!chosen.slice(move.free).includes(place)) next.add(place);
    }
  }
  return { fitting, next: [...next], whole };
}

/** Return the chosen places after a click on a place; null if no legal move has the place there. */
export function chosenWith(moves, chosen, place) {
  if (choices(moves, chosen).next.includes(place)) {
    let now = [...chosen, place];
    // places without an alternative are chosen at once
    for (let one = choices(moves, now); ; one = choices(moves, now)) {
      if (one.whole || one.fitting.length !== 1 || one.next.length === 0) return now;
      now = [...now, one.next[0]];
    }
  }
  const at = chosen.indexOf(place);
  if (at >= 0) return chosen.slice(0, at);
  // the player means another piece
  const first = chosen.length > 0 && choices(moves, []).next.includes(place);
  return first ? chosenWith(moves, [], place) : null;
}

/** Write a move with another place in it, so that the server can say what is wrong with that place. */
export function instead(moves, chosen, place) {
  const sample = choices(moves, chosen).fitting
    .filter((move) => move.places.length > chosen.length)
    .reduce((best, move) => (best && best.text.length <= move.text.length ? best : move), null);
  if (!sample) return place;
  let changed = sample.places.slice(0, sample.free);
  const rest = sample.places.slice(sample.free);
  if (chosen.length < sample.free) {
    changed[chosen.length] = place;
    changed = changed.concat(rest);
  } else {
    const taken = chosen.slice(sample.free);
    const others = rest.filter((other) => !taken.includes(other));
    others[0] = place;
    changed = changed.concat(taken, others);
  }
  let at = 0;
  return sample.text.replace(NAME, () => changed[at++]);
}

/** Write the chosen part of a move as the fitting moves begin. */
export function partial(fitting, chosen) {
  if (!chosen.length || !fitting.length) return "";
  const sample = fitting[0].text;
  let at = 0;
  let end = 0;
  for (const found of sample.matchAll(PLACE)) {
    if (at++ < Math.min(chosen.length, fitting[0].free)) end = found.index + found[0].length;
  }
  const extra = chosen.slice(fitting[0].free);
  return sample.slice(0, end) + (extra.length ? `:${extra.join(",")}` : "");
}
