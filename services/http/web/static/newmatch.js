// The form for a new match: names are completed while they are typed, and secret texts are made only
// for games in which chance has a part.

const LETTERS = 2; // fewer are not completed
const PAUSE = 120; // milliseconds without typing after which the server is asked

let waiting = 0;
let asked = "";

/** Offer the names that begin with what is typed in a field. */
async function complete(field) {
  const typed = field.value.trim().toLowerCase();
  if (typed.length < LETTERS || typed === asked) return;
  asked = typed;
  const answer = await fetch(`/names?starts=${encodeURIComponent(typed)}`).catch(() => null);
  if (!answer?.ok || asked !== typed) return;
  const options = (await answer.json()).map((name) => {
    const option = document.createElement("option");
    option.value = name;
    return option;
  });
  field.list.replaceChildren(...options);
}

for (const field of document.querySelectorAll("input[data-completes]")) {
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => complete(field), PAUSE);
  });
}

const form = document.querySelector("#new");
const button = form.querySelector("button.big");

function dress() {
  const game = form.querySelector('[name="game"]:checked');
  button.toggleAttribute("data-plain", !game?.hasAttribute("data-draws"));
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
