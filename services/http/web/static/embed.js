// A board in a frame of another site: it follows the match while it can be seen.

import { patient } from "./patience.js";
import { Stream } from "./stream.js";

const main = document.querySelector("#embedded");

async function refresh(seq) {
  if (seq <= Number(main.dataset.seq)) return;
  const answer = await patient(location.href, { credentials: "omit" });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#embedded");
  main.dataset.seq = fresh.dataset.seq;
  main.replaceChildren(...fresh.childNodes);
}

const stream = new Stream(({ state }) => {
  const seq = state?.[`match ${main.dataset.match}`];
  if (seq !== undefined) refresh(seq).catch(() => {});
});

function follow() {
  stream.follow(document.hidden ? "" : `/stream?boards=${main.dataset.match}`);
}

document.addEventListener("visibilitychange", follow);
follow();
