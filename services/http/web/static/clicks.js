// Clicks on places: the second of a double click is not a click of its own.

const DOUBLE_CLICK = 400; // milliseconds within which a second click belongs to a double click

export class Clicks {
  constructor() {
    this.forget();
  }

  forget() {
    this.last = { place: null, at: 0 };
  }

  /** Return whether a click is the second of a double click on a place. */
  isSecond(place) {
    const second = place === this.last.place && performance.now() - this.last.at < DOUBLE_CLICK;
    this.last = { place, at: performance.now() };
    return second;
  }
}
