// Buttons that copy a text of the page. Without scripts the text is in a field, to be copied by hand.

for (const button of document.querySelectorAll("[data-copies]")) {
  const field = document.querySelector(button.dataset.copies);
  field.addEventListener("focus", () => field.select());
  button.hidden = false;
  button.addEventListener("click", async () => {
    field.select();
    // without https a browser has no clipboard for scripts, and the older way does
    const copied = await navigator.clipboard?.writeText(field.value).then(() => true, () => false);
    if (copied || document.execCommand("copy")) {
      document.querySelector("#copied").textContent = button.dataset.done;
    }
  });
}
