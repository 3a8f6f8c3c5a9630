// On every page of who has logged in: how many matches wait, in the header, the title and the icon.

import { ngettext } from "./words.js";

const pill = document.querySelector("#waiting");
const icon = document.querySelector('link[rel="icon"][data-waiting]');

/** Show a number of matches that wait. */
function show(count) {
  pill.dataset.count = count;
  pill.hidden = count === 0;
  pill.querySelector(".pill-number").textContent = count;
  pill.querySelector(".sr").textContent = ngettext(
    "%(count)s match is waiting for you: go to the next",
    "%(count)s matches are waiting for you: go to the next",
    count,
  );
  icon?.setAttribute("href", count ? icon.dataset.waiting : icon.dataset.calm);
  // the title of a match's page says more
  if (document.querySelector("[data-seq]")) return;
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = count ? `(${count}) ${title}` : title;
}

// after a move the match's page knows before the stream that nothing waits
document.addEventListener("htmx:afterSettle", () => {
  if (pill && document.querySelector('.next[data-waiting="0"]') && !pill.hidden) show(0);
});

document.addEventListener("state", ({ detail }) => {
  const count = Number(detail.waiting);
  if (pill && detail.waiting !== undefined && count !== Number(pill.dataset.count)) show(count);
});
