// Messages: each stands beside the button that was pressed, and stays until the next click.

const ROOM = 12; // pixels between a message and the edge of the window
const box = () => document.querySelector("#message");
let pressed = null; // the button or field of the last request

/** Show a message beside what the user has just used. */
export function message(...content) {
  const paragraph = document.createElement("p");
  paragraph.className = "message";
  paragraph.append(...content);
  box().replaceChildren(paragraph);
  settle();
}

/** Put the message beside what was pressed, if that can be seen; else it stays at the top of the page. */
function settle() {
  const element = box();
  const beside = pressed?.isConnected && pressed.checkVisibility?.() && element.children.length;
  element.classList.toggle("beside", Boolean(beside));
  if (!beside) return element.removeAttribute("style");
  const at = pressed.getBoundingClientRect();
  const { width, height } = element.getBoundingClientRect();
  const left = Math.max(ROOM, Math.min(at.left, innerWidth - width - ROOM));
  const below = at.bottom + 8;
  const top = below + height + ROOM <= innerHeight ? below : Math.max(ROOM, at.top - height - 8);
  Object.assign(element.style, { left: `${left}px`, top: `${top}px` });
}

document.addEventListener("htmx:beforeRequest", ({ detail: { elt, requestConfig } }) => {
  if (["news", "chat", "matches", "notices", "watching", "letters", "invitation", "progress", "recorded"].includes(elt.id)) return;
  pressed = requestConfig?.triggeringEvent?.submitter ?? elt.querySelector?.("button") ?? elt;
});
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id === "message") settle();
});
addEventListener("click", (event) => {
  if (event.target.closest?.("#message")) return;
  box().replaceChildren();
  box().classList.remove("beside");
}, true);
