// The event stream: one connection, for one page or for all pages of a browser.

/** Seconds to wait before the next try, after so many that failed. */
export function pause(failed) {
  return Math.min(30, 2 ** Math.max(1, failed));
}

/** A stream that is opened again when it breaks; `tell` gets what comes, and how it stands. */
export class Stream {
  constructor(tell) {
    this.tell = tell;
    this.address = "";
    this.source = null;
    this.failed = 0;
    this.timer = 0;
  }

  /** Follow what is at an address, or nothing. */
  follow(address) {
    if (address === this.address) return;
    this.address = address;
    this.close();
    // pages that come together are one connection
    if (address) this.timer = setTimeout(() => this.open(), 50);
  }

  open() {
    this.close();
    this.source = new EventSource(this.address);
    this.source.addEventListener("open", () => {
      this.failed = 0;
      this.tell({ again: 0 });
    });
    this.source.addEventListener("state", (event) => this.tell({ state: JSON.parse(event.data) }));
    this.source.addEventListener("error", () => this.broken());
  }

  broken() {
    this.close();
    // the server ends each stream some time, so the first try follows soon, and nobody is told
    const seconds = this.failed ? pause(this.failed) : 0.3;
    if (this.failed) this.tell({ again: Date.now() + 1000 * seconds });
    this.failed += 1;
    this.timer = setTimeout(() => this.open(), 1000 * seconds);
  }

  /** Try now what would be tried later. */
  retry() {
    if (this.address && this.failed) this.open();
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }
}

/** Where all is that some pages watch; empty for nothing. */
export function address(pages) {
  const boards = new Set(pages.flatMap((page) => page.boards));
  const home = pages.some((page) => page.home);
  if (!boards.size && !home) return "";
  const query = new URLSearchParams();
  if (boards.size) query.set("boards", [...boards].sort((a, b) => a - b).slice(-200).join(","));
  if (home) query.set("home", "true");
  // somebody else is another stream
  query.set("as", pages.at(-1).user);
  return `/stream?${query}`;
}
