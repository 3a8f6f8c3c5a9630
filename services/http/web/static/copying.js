// Buttons that copy a text of the page. Without scripts the text is in a field, to be copied by hand.

function bind() {
  for (const button of document.querySelectorAll("[data-copies][hidden]")) {
    const field = document.querySelector(button.dataset.copies);
    field.addEventListener("focus", () => field.select());
    button.hidden = false;
    button.addEventListener("click", () => copy(button, field));
  }
}

async function copy(button, field) {
  field.select();
  // without https a browser has no clipboard for scripts, and the older way does
  const copied = await navigator.clipboard?.writeText(field.value).then(() => true, () => false);
  if (copied || document.execCommand("copy")) {
    document.querySelector("#copied").textContent = button.dataset.done;
  }
}

bind();
// a part of the page that was fetched again has buttons of its own
document.addEventListener("htmx:afterSettle", bind);
