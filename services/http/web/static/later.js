// Work that nobody waits for: it gives way to the board.

/** Do something when the browser has a moment, after two seconds at the latest. */
export function later(work) {
  if (globalThis.requestIdleCallback) requestIdleCallback(() => work(), { timeout: 2000 });
  else setTimeout(work, 200); // Safari
}
