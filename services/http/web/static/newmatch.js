// The form for a new match: it offers only what is possible, and what was typed is kept.
// A secret text is made only for a provably fair deal.

import "./names.js";

const form = document.querySelector("#new");
const button = form.querySelector("button.big");

const wanted = {}; // the number of players, by game; it stays when opponents are looked for in another way

function checked(name) {
  return form.querySelector(`[name="${name}"]:checked`);
}

/** Return how many players the form asks for in a game. */
function players(game) {
  const way = checked("against")?.value;
  if (way === "robot" || way === "name") {
    return form.elements[way === "robot" ? `${game}-robot` : `${game}-third`]?.value ? 3 : 2;
  }
  return Number(checked(`${game}-seats`)?.value ?? 2);
}

/** Leave out of the second robot's strengths the one that the first has. */
function leaveOutTaken(game) {
  const second = form.elements[`${game}-robot`];
  for (const one of second?.options ?? []) {
    one.hidden = one.disabled = one.value !== "" && one.value === checked("robot")?.value;
  }
  if (second?.selectedOptions[0]?.disabled) second.value = freeStrength(second);
}

function freeStrength(second) {
  return [...second.options].find((one) => one.value && !one.disabled)?.value ?? "";
}

/** Keep the number of players where the new way to find opponents can have it. */
function keepPlayers(game) {
  const many = wanted[game] ?? 2;
  const second = form.elements[`${game}-robot`];
  const seats = form.querySelector(`[name="${game}-seats"][value="${many}"]`);
  if (seats) seats.checked = true;
  if (second) second.value = many === 3 ? second.value || freeStrength(second) : "";
}

/** Show only the sides that there are for the number of players. */
function showSides(game) {
  const many = players(game);
  for (const one of form.querySelectorAll(`[name="${game}-seat"]`)) {
    const there = one.value === "" || Number(one.value) < many;
    one.closest(".chip").hidden = !there;
    if (!there && one.checked) form.querySelector(`[name="${game}-seat"][value=""]`).checked = true;
  }
}

function dress(changed = "") {
  const game = checked("game")?.value;
  leaveOutTaken(game);
  if (changed === "against") keepPlayers(game);
  const open = checked("against")?.value === "name" && players(game) === 2; // a third may yet be named
  wanted[game] = open ? wanted[game] ?? 2 : players(game);
  showSides(game);
  button.toggleAttribute("data-plain", !form.elements[`${game}-gather`]?.checked);
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

form.addEventListener("input", ({ target }) => {
  if (target.name.endsWith("-third")) showSides(checked("game").value);
  keep();
});
form.addEventListener("change", ({ target }) => {
  dress(target.name);
  keep();
});
// later than the browser's own way to bring back a form
addEventListener("pageshow", () => {
  restore();
  dress();
  htmx.trigger(form, "change");
});
dress();
