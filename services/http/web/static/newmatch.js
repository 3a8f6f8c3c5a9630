// The form for a new match: a secret text is made only for a provably fair deal, and what was typed is kept.

import "./names.js";

const form = document.querySelector("#new");
const button = form.querySelector("button.big");

function dress() {
  const game = form.querySelector('[name="game"]:checked');
  button.toggleAttribute("data-plain", !form.elements[`${game?.value}-gather`]?.checked);
}

// what was chosen and typed belongs to this entry of the browser's history, so that Back finds it again

const UNKEPT = ["csrf", "key", "commitment"];

function keep() {
  const fields = [...new FormData(form)].filter(([name]) => !UNKEPT.includes(name));
  const game = form.querySelector('[name="game"]:checked').value;
  history.replaceState({ ...history.state, fields }, "", `/new?game=${game}`);
}

function restore() {
  const fields = history.state?.fields;
  for (const one of fields ? form.elements : []) {
    if (!one.name || UNKEPT.includes(one.name)) continue;
    if (one.type === "radio" || one.type === "checkbox") {
      one.checked = fields.some(([name, value]) => name === one.name && value === one.value);
    } else {
      one.value = fields.find(([name]) => name === one.name)?.[1] ?? "";
    }
    const part = one.closest("details");
    if (part && (one.checked !== one.defaultChecked || one.value !== one.defaultValue)) part.open = true;
  }
}

form.addEventListener("input", keep);
form.addEventListener("change", () => {
  dress();
  keep();
});
// later than the browser's own way to bring back a form
addEventListener("pageshow", () => {
  restore();
  dress();
  htmx.trigger(form, "change");
});
dress();
