// Helpers for pages: moving the focus, making buttons, writing sentences.

/** Return the nearest element in the direction of an arrow key; null for none. */
export function nearest(from, key, elements) {
  const [right, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  const here = middle(from);
  let best = null;
  let least = [2, Infinity];
  for (const element of elements) {
    const there = middle(element);
    const [x, y] = [there[0] - here[0], there[1] - here[1]];
    const along = x * right + y * down;
    const beside = Math.abs(x * down - y * right);
    // an element almost at a right angle is not in that direction
    if (element === from || along <= Math.max(1, beside / 4)) continue;
    // one that lies more beside than ahead is taken only if there is no other
    const rank = [beside > along ? 1 : 0, along + 2 * beside];
    if (rank[0] < least[0] || (rank[0] === least[0] && rank[1] < least[1])) [best, least] = [element, rank];
  }
  return best;
}

/** Return the element that is nearest to another one; null for none. */
export function closest(to, elements) {
  const here = middle(to);
  let best = null;
  let least = Infinity;
  for (const element of elements) {
    const there = middle(element);
    const distance = Math.hypot(there[0] - here[0], there[1] - here[1]);
    if (distance < least) [best, least] = [element, distance];
  }
  return best;
}

function middle(element) {
  const box = element.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** Return a button that calls `act`. */
export function button(text, kind, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = kind;
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

/** Return a text as a sentence; a move at its beginning keeps its case. */
export function sentence(text) {
  if (!text) return "";
  const found = /^[a-z]+[,:]?( |$)/i.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
  return /[.!?]$/.test(found) ? found : `${found}.`;
}
