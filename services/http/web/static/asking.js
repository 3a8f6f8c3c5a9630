// Asking before something that can't be undone is sent: in a dialog of the page, in its words and colours.

import { button } from "./elements.js";
import { gettext } from "./words.js";

/** Ask a question; return whether the answer is yes, on a button with the words of the one that was pressed. */
function ask(question, yes) {
  const dialog = document.createElement("dialog");
  dialog.className = "asking";
  const says = document.createElement("p");
  says.id = "question";
  says.textContent = question;
  dialog.setAttribute("aria-labelledby", says.id);
  const row = document.createElement("div");
  row.className = "row";
  const no = button(gettext("Cancel"), "button quiet-button", () => dialog.close());
  no.autofocus = true;
  row.append(button(yes, "button danger", () => dialog.close("yes")), no);
  dialog.append(says, row);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((done) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      done(dialog.returnValue === "yes");
    });
  });
}

/** Return the form that news of the match have put in place of another. */
function inPlaceOf(form) {
  const does = (one) => one.elements.do?.value;
  return [...document.querySelectorAll("form[hx-confirm]")].find((one) => does(one) === does(form));
}

document.addEventListener("htmx:confirm", async (event) => {
  const { question, elt, issueRequest, triggeringEvent } = event.detail;
  if (!question) return;
  event.preventDefault();
  if (!(await ask(question, triggeringEvent.submitter.textContent))) return;
  if (elt.isConnected) return issueRequest(true);
  const now = inPlaceOf(elt);
  now?.removeAttribute("hx-confirm");
  now?.requestSubmit();
});
