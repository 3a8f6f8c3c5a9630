// Puzzles: the moves are in the address of the page; the browser keeps the last one of each puzzle, so
// that closing the page loses nothing. Ctrl+Z and Ctrl+Y undo and redo.

const PREFIX = "puzzle:";

function keep() {
  const page = document.querySelector("[data-solving]");
  if (!page) return;
  try {
    if (page.dataset.here.includes("line=")) localStorage.setItem(PREFIX + page.dataset.solving, page.dataset.here);
  } catch {
    // a browser may refuse to keep anything
  }
}

function offer() {
  for (const card of document.querySelectorAll("[data-puzzle]")) {
    let kept = null;
    try {
      kept = localStorage.getItem(PREFIX + card.dataset.puzzle);
    } catch {
      return;
    }
    if (!kept?.startsWith("/puzzles/")) continue;
    const link = card.querySelector("[data-goes-on]");
    link.href = kept;
    link.hidden = false;
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-hands-in]")) return;
  const page = document.querySelector("[data-solving]");
  localStorage.removeItem(PREFIX + page.dataset.solving);
});

document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.target.closest("input:not([type=hidden]), textarea")) return;
  const key = event.key.toLowerCase();
  const redo = key === "y" || (key === "z" && event.shiftKey);
  if (key !== "z" && !redo) return;
  event.preventDefault();
  document.querySelector(`[data-key="${redo ? "↷" : "↶"}"]`)?.click();
});

document.addEventListener("htmx:afterSettle", keep);
keep();
offer();
