// The event stream: one connection, for one page or for all pages of a browser.

/** Return the seconds to wait before the next try after `failed` failures. */
export function pause(failed) {
  return Math.min(30, 2 ** Math.max(1, failed));
}

/** A stream that reopens when it breaks; `receive` gets its messages and the time of the next try. */
export class Stream {
  constructor(receive) {
    this.receive = receive;
    this.address = "";
    this.source = null;
    this.failed = 0;
    this.timer = 0;
  }

  /** Open the stream at an address; an empty one closes it. */
  follow(address) {
    if (address === this.address) return;
    this.address = address;
    this.close();
    // wait, because several pages that load together share one connection
    if (address) this.timer = setTimeout(() => this.open(), 50);
  }

  open() {
    this.close();
    this.source = new EventSource(this.address);
    this.source.addEventListener("open", () => {
      this.failed = 0;
      this.receive({ again: 0 });
    });
    this.source.addEventListener("state", (event) => this.receive({ state: JSON.parse(event.data) }));
    this.source.addEventListener("error", () => this.broken());
  }

  broken() {
    this.close();
    // the server ends each stream at some time, so the first try follows soon and is not shown
    const seconds = this.failed ? pause(this.failed) : 0.3;
    if (this.failed) this.receive({ again: Date.now() + 1000 * seconds });
    this.failed += 1;
    this.timer = setTimeout(() => this.open(), 1000 * seconds);
  }

  /** Try now instead of later. */
  retry() {
    if (this.address && this.failed) this.open();
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }
}

/** Return the address of the stream for all that these pages watch; empty for nothing. */
export function address(pages) {
  const boards = new Set(pages.flatMap((page) => page.boards));
  const home = pages.some((page) => page.home);
  const messages = pages.some((page) => page.messages);
  const challenges = pages.some((page) => page.challenges);
  // who has logged in hears how many matches wait, on every page
  const known = pages.some((page) => page.user);
  if (!boards.size && !home && !messages && !challenges && !known) return "";
  const query = new URLSearchParams();
  if (boards.size) query.set("boards", [...boards].sort((a, b) => a - b).slice(-200).join(","));
  if (home) query.set("home", "true");
  if (messages) query.set("messages", "true");
  if (challenges) query.set("challenges", "true");
  // another user needs another stream
  query.set("as", pages.at(-1).user);
  return `/stream?${query}`;
}
