// Going through the moves of a match automatically, from the position that is shown to the last.

import { gettext } from "./words.js";

const PAUSE = 1200; // milliseconds between two positions

export class Runner {
  /** `button` starts and stops it; `steps` has `ply()`, `last()` and `go(ply)`. */
  constructor(button, steps) {
    this.button = button;
    this.steps = steps;
    this.timer = 0;
  }

  async toggle() {
    if (this.timer) return this.stop();
    if (this.steps.ply() === this.steps.last()) await this.steps.go(0);
    this.timer = setInterval(() => this.next(), PAUSE);
    this.show();
  }

  async next() {
    if (this.steps.ply() >= this.steps.last()) this.stop();
    else await this.steps.go(this.steps.ply() + 1);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.show();
  }

  show() {
    this.button.textContent = this.timer ? gettext("Stop") : gettext("Play ▶");
    this.button.setAttribute("aria-pressed", String(this.timer !== 0));
  }
}
