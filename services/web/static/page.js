// Every page: news of the match it shows, forms that empty themselves, messages that go away.

/** Reload what shows a match whenever something happens in it; `seq` is the last event shown now. */
function follow(board, seq, state) {
  if (state === "over") return;
  const source = new EventSource(`/api/matches/${board}/events?from=${seq + 1}`);
  let newest = seq;
  let asked = 0;
  const look = () => {
    // what one has done oneself is shown by the answer to it
    if (newest > shown()) htmx.trigger("#news", "news");
  };
  const tell = (event) => {
    newest = Number(event.lastEventId);
    // several events of one command come together: one look is enough
    clearTimeout(asked);
    asked = setTimeout(look, 60);
    if (event.type === "ended") source.close();
  };
  const kinds = [
    "challenged", "gathered", "match-started", "moved", "offered", "answered", "undone",
    "resigned", "nagged", "flagged", "paused", "resumed", "absent", "returned", "declined", "ended",
    "called", "committed", "sealed", "revealed", "withheld",
  ];
  for (const kind of kinds) source.addEventListener(kind, tell);
  addEventListener("pagehide", () => source.close());
}

/** The last event that the page shows. */
function shown() {
  return Number(document.querySelector("[data-seq]").dataset.seq);
}

// news that another answer was quicker to bring is none, and older news would take the match back
document.addEventListener("htmx:beforeSwap", (event) => {
  const brought = /data-seq="(\d+)"/.exec(event.detail.serverResponse);
  if (!brought || !["board-box", "board-area"].includes(event.detail.target.id)) return;
  const ahead = Number(brought[1]) - shown();
  const news = event.detail.requestConfig.elt.id === "news";
  if (ahead < 0 || (news && ahead === 0)) event.detail.shouldSwap = false;
});

function start() {
  const turn = document.querySelector("#turn[data-seq]");
  const match = document.querySelector("[data-board]");
  if (turn && match) follow(Number(match.dataset.board), Number(turn.dataset.seq), turn.dataset.state);
  const live = document.querySelector("[data-follow]");
  if (live) follow(Number(live.dataset.follow), shown(), "active");
}

// the list of matches is made anew when somebody looks at it again; its number in the title meanwhile
const refresh = () => {
  if (document.querySelector("#matches")) htmx.trigger("#matches", "fresh");
};
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refresh();
});
setInterval(() => {
  if (document.hidden) refresh();
}, 60_000);

// a page that comes back from the browser's memory may be old
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

document.addEventListener("htmx:beforeRequest", () => {
  document.querySelector("#message").replaceChildren();
});

document.addEventListener("htmx:afterRequest", (event) => {
  const form = event.target;
  if (event.detail.successful && form.matches?.("form[data-empties]")) form.reset();
});

// what somebody has opened stays open when the page's parts are made anew
const opened = new Set();
document.addEventListener("toggle", (event) => {
  if (event.target.id) opened[event.target.open ? "add" : "delete"](event.target.id);
}, true);
document.addEventListener("htmx:afterSettle", () => {
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
});

document.addEventListener("htmx:sendError", () => {
  const told = document.createElement("p");
  told.className = "message";
  told.textContent = "The server can’t be reached. Nothing was sent; try again.";
  document.querySelector("#message").replaceChildren(told);
});

start();
