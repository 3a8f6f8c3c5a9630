// Fields for names of players: names are completed while they are typed.

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
