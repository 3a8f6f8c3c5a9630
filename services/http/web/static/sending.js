// Sending a move: the button shows that it is on its way, and a second click sends nothing.

/** Show on the button of a move that its form is on its way to the server. */
export function watchSending() {
  document.addEventListener("htmx:beforeRequest", ({ detail: { elt } }) => {
    if (elt.id === "play") pending(elt, true);
  });
  document.addEventListener("htmx:afterRequest", ({ detail: { elt } }) => {
    if (elt.id === "play") pending(elt, false);
  });
}

function pending(form, on) {
  const confirm = form.querySelector("#confirm");
  confirm.classList.toggle("pending", on);
  // a disabled button would lose the focus, which the keyboard needs if the move is refused
  if (on) confirm.setAttribute("aria-disabled", "true");
  else confirm.removeAttribute("aria-disabled");
}

document.addEventListener("click", (event) => {
  if (event.target.closest?.('#confirm[aria-disabled="true"]')) event.preventDefault();
}, true);
