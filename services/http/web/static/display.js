// The switches at the foot of each page take effect at once. Without this script they reload the page.

import { keepSetting } from "./settings.js";

const root = document.documentElement;
const form = document.querySelector("#display-form");

function press(button, pressed) {
  button.setAttribute("aria-pressed", String(pressed));
}

const changes = {
  theme(button) {
    if (button.value === "system") delete root.dataset.theme;
    else root.dataset.theme = button.value;
    for (const one of form.querySelectorAll('[name="theme"]')) press(one, one === button);
  },
  async sound(button) {
    const on = button.value === "true";
    if (on) root.dataset.sound = "on";
    else delete root.dataset.sound;
    press(button, on);
    button.value = String(!on);
    if (on) (await import("./sound.js")).tock();
  },
};

form?.addEventListener("submit", (event) => {
  const change = changes[event.submitter?.name];
  if (!change) return; // a language needs the page again
  event.preventDefault();
  keepSetting(form, event.submitter);
  change(event.submitter);
});

if (root.dataset.sound) import("./sound.js");
