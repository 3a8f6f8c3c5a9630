// Lists that scroll to their newest item, and sections that stay open when they are fetched again.

/** Scroll lists to the marked item, or to the newest. */
export function toNewest() {
  for (const list of document.querySelectorAll(".moves, .chat")) {
    const now = list.querySelector(".now");
    const place = `${list.children.length} ${now?.textContent}`;
    if (list.dataset.shown === place) continue;
    list.dataset.shown = place;
    const [box, mark] = [list.getBoundingClientRect(), now?.getBoundingClientRect()];
    if (mark) list.scrollTop += mark.top - box.top - (box.height - mark.height) / 2;
    else list.scrollTop = list.scrollHeight;
  }
}

const opened = new Set();
document.addEventListener("toggle", (event) => {
  if (event.target.id) opened[event.target.open ? "add" : "delete"](event.target.id);
}, true);
document.addEventListener("htmx:afterSettle", () => {
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  toNewest();
});

toNewest();
