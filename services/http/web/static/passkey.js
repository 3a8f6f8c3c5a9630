// Passkeys: asks the server what to sign or make, the browser to do it, and sends what it gives with the form.

import { gettext } from "./words.js";

const form = document.querySelector("#passkey-form");
const says = document.querySelector("#passkey-says");
const makes = form?.action.endsWith("/account/passkeys");

/** Return the browser's answer to what the server has asked. */
async function answer(options) {
  const publicKey = makes
    ? PublicKeyCredential.parseCreationOptionsFromJSON(options)
    : PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const found = await navigator.credentials[makes ? "create" : "get"]({ publicKey });
  return JSON.stringify(found.toJSON());
}

async function ask(event) {
  event.preventDefault();
  says.textContent = "";
  const asked = await fetch(form.dataset.ask, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  const told = await asked.json();
  if (!asked.ok) {
    says.textContent = told.said ?? gettext("That didn’t work. Try again.");
    return;
  }
  try {
    form.elements.answer.value = await answer(told.options);
  } catch (error) {
    // what browsers say of a question that was closed, or of a passkey that is there already
    if (!(error instanceof DOMException)) throw error;
    says.textContent = gettext("No passkey was used.");
    return;
  }
  form.elements.step.value = told.step;
  form.submit();
}

if (form && window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
  form.hidden = false;
  form.addEventListener("submit", ask);
}
