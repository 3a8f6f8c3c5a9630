// A board that takes the place of another: a piece that moved glides, one that is new or gone fades. The
// document is watched, so scripts that draw boards need not know. Nothing moves for people who prefer that.

const SPAN = 200; // ms
const MOST = 12; // with more differences the boards are not a move apart
const NUMBER = /-?\d+(?:\.\d+)?/g;

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Return the boards among nodes and in them. */
function boards(nodes) {
  const elements = [...nodes].filter((node) => node.nodeType === Node.ELEMENT_NODE);
  return elements.flatMap((node) => (
    node.matches("svg.board[role]") ? [node] : [...node.querySelectorAll("svg.board[role]")]
  ));
}

/** Return the middle of a place in its board's units. */
function middle(place) {
  const { e, f } = place.transform.baseVal.consolidate()?.matrix ?? { e: 0, f: 0 };
  return [e, f];
}

/** Return a point as a key, to a tenth of a unit, because matrices have single precision. */
function key([x, y]) {
  return `${Math.round(10 * x)} ${Math.round(10 * y)}`;
}

/** Return the pieces of a board by the middle of their places. */
function pieces(board) {
  const found = new Map();
  for (const piece of board.querySelectorAll("g > .piece")) {
    const at = middle(piece.parentElement);
    const what = `${piece.dataset.seat} ${piece.dataset.plug ?? ""}`;
    found.set(key(at), { at, piece, what });
  }
  return found;
}

/** Return the ways of a board's last move, each from its first to its last point. */
function ways(board) {
  return [...board.querySelectorAll(".trail")].map((trail) => {
    const numbers = (trail.getAttribute("points") ?? trail.getAttribute("d")).match(NUMBER).map(Number);
    return { from: numbers.slice(0, 2), to: numbers.slice(-2) };
  });
}

function glide(piece, from, to, delay = 0) {
  const start = `${from[0] - to[0]}px ${from[1] - to[1]}px`;
  piece.animate({ translate: [start, "0px 0px"] }, { duration: SPAN, delay, easing: "ease-out", fill: "backwards" });
}

function appear(piece) {
  piece.animate({ opacity: [0, 1], scale: [0.7, 1] }, { duration: SPAN, easing: "ease-out" });
}

/** Fade a piece of the earlier board away, on the later one. */
function vanish({ at, piece }, board) {
  const copy = piece.cloneNode(true);
  copy.classList.remove("piece");
  copy.classList.add("would");
  const place = [...board.querySelectorAll("g.place, g.cell")].find((one) => key(middle(one)) === key(at));
  (place ?? board).append(copy);
  const fading = copy.animate({ opacity: [1, 0], scale: [1, 0.7] }, { duration: SPAN, fill: "forwards" });
  fading.onfinish = () => copy.remove();
}

/** Show how a board came out of an earlier one. */
function show(earlier, later) {
  const [was, now] = [pieces(earlier), pieces(later)];
  const came = new Map([...now].filter(([at, { what }]) => was.get(at)?.what !== what));
  const gone = new Map([...was].filter(([at, { what }]) => now.get(at)?.what !== what));
  if (!came.size && !gone.size) return;
  if (came.size + gone.size > MOST) return;
  const steps = ways(later);
  // one move back: the way of the earlier board in reverse
  if (!steps.some(({ to }) => came.has(key(to)))) {
    steps.push(...ways(earlier).map(({ from, to }) => ({ from: to, to: from })));
  }
  steps.forEach(({ from, to }, number) => {
    const moved = came.get(key(to));
    if (!moved) return;
    glide(moved.piece, from, to, number * SPAN);
    came.delete(key(to));
    gone.delete(key(from));
  });
  for (const { piece, at } of came.values()) {
    const plug = piece.dataset.plug && earlier.querySelector(`.plug[data-plug="${piece.dataset.plug}"]`);
    if (plug) glide(piece, middle(plug), at);
    else appear(piece);
  }
  for (const one of gone.values()) vanish(one, later);
}

new MutationObserver((changes) => {
  if (still.matches || document.hidden) return;
  const removed = boards(changes.flatMap(({ removedNodes }) => [...removedNodes]));
  const added = boards(changes.flatMap(({ addedNodes }) => [...addedNodes])).filter((one) => one.isConnected);
  const [earlier, later] = [removed[0], added.at(-1)];
  if (earlier && later && earlier.dataset.game === later.dataset.game) show(earlier, later);
}).observe(document.querySelector("main"), { childList: true, subtree: true });
