// Sending a move: the button shows that it is on its way, and a second click sends nothing.

let sent = null; // the ply of a move that is on its way

/** Show on the button of a move that its form is on its way to the server. */
export function watchSending() {
  document.addEventListener("htmx:beforeRequest", ({ detail: { elt } }) => {
    if (elt.id === "play") pending(elt, true);
  });
  document.addEventListener("htmx:afterRequest", ({ detail: { elt } }) => {
    if (elt.id === "play") pending(elt, false);
  });
  // the button that was pressed is gone or off: the keyboard goes on where the page says whose turn it is
  document.addEventListener("htmx:afterSettle", () => {
    if (sent === null || sent === ply()) return;
    sent = null;
    const here = document.activeElement;
    if (here === document.body || here.id === "confirm") document.querySelector("#turn")?.focus({ preventScroll: true });
  });
}

function ply() {
  return document.querySelector("#board-area")?.dataset.ply ?? "";
}

function pending(form, on) {
  if (on) sent = ply();
  const confirm = form.querySelector("#confirm");
  confirm.classList.toggle("pending", on);
  // a disabled button would lose the focus, which the keyboard needs if the move is refused
  if (on) confirm.setAttribute("aria-disabled", "true");
  else confirm.removeAttribute("aria-disabled");
}

document.addEventListener("click", (event) => {
  if (event.target.closest?.('#confirm[aria-disabled="true"]')) event.preventDefault();
}, true);
