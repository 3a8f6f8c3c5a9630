// What the choosing of moves needs of the page, and knows nothing of moves.

/** Of some elements, the one that lies nearest in the direction of an arrow key; null for none. */
export function nearest(from, key, elements) {
  const [right, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  const here = middle(from);
  let best = null;
  let least = Infinity;
  for (const element of elements) {
    const there = middle(element);
    const [x, y] = [there[0] - here[0], there[1] - here[1]];
    const along = x * right + y * down;
    const beside = Math.abs(x * down - y * right);
    // what lies all but straight beside is in no such direction
    if (element === from || along <= Math.max(1, beside / 4)) continue;
    if (along + 2 * beside < least) [best, least] = [element, along + 2 * beside];
  }
  return best;
}

function middle(element) {
  const box = element.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** A button that does something on this page. */
export function button(text, kind, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = kind;
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

/** A move that a sentence begins with stays as it is written. */
export function sentence(text) {
  if (!text) return "";
  const told = /^[a-z]+[,:]?( |$)/i.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
  return /[.!?]$/.test(told) ? told : `${told}.`;
}
