// The result of a move before it is played: the board after it, and what changes on it.

import { sentence } from "./elements.js";
import { choices } from "./notation.js";
import { patient } from "./patience.js";
import { gettext } from "./words.js";

export class Preview {
  constructor(chooser, address) {
    this.chooser = chooser;
    this.address = address;
    this.asked = 0;
  }

  /** Return what the server says about a move; null without an answer, and if another was asked for meanwhile. */
  async ask(text) {
    const number = ++this.asked;
    const url = new URL(this.address, location);
    url.searchParams.set("move", text);
    const answer = await patient(url, { headers: { Accept: "application/json" } });
    if (number !== this.asked) return null;
    if (!answer) this.chooser.say(gettext("We can’t reach the server, so we can’t show the result of this move."), true);
    if (!answer?.ok) return null;
    return answer.json();
  }

  /** Show no result, and none that is still on its way. */
  forget() {
    this.asked++;
    this.list([]);
  }

  /** Show the result of a complete move. */
  async show(text) {
    const { chooser } = this;
    const tried = await this.ask(text);
    if (!tried || chooser.closed) return;
    if (!tried.legal) return chooser.say(sentence(tried.said), true);
    const { area, chosen, marks } = chooser;
    const { next } = choices(chooser.moves, chosen);
    const focused = marks.focused();
    marks.look(tried.svg);
    marks.dress(chosen, chosen.length ? next : [], focused);
    this.list(this.effects(tried));
    const values = { move: tried.move };
    const question = tried.label ? `${tried.label}?` : this.question(next.length > 0 && chosen.length > 0, values);
    chooser.say(`${question} ${sentence(tried.said)}`);
    // the next step is to play it, but the focus stays with a player who is writing or choosing
    const here = document.activeElement;
    const chooses = area.contains(here) || document.querySelector("#listed").contains(here);
    if (!chooses && here !== chooser.input) chooser.confirm.focus({ preventScroll: true });
  }

  /** Return the question whether to play the move, or to try it on a board where nothing is played. */
  question(goesOn, values) {
    if ("tries" in this.chooser.panel.dataset) {
      return goesOn ? gettext("Try %(move)s, or continue?", values) : gettext("Try %(move)s?", values);
    }
    return goesOn ? gettext("Play %(move)s, or continue?", values) : gettext("Play %(move)s?", values);
  }

  /** Show the effects that no later choice changes, such as the aging of pieces. */
  async foretell(text, next) {
    const tried = await this.ask(text);
    if (!tried?.legal || this.chooser.closed) return;
    this.list(this.effects(tried).filter((change) => !next.includes(change.place)));
  }

  /** Return the effects of a move on other places than the chosen ones, such as the aging of pieces. */
  effects(tried) {
    return tried.changes.filter(
      (change) => change.kind !== "comes" && !this.chooser.chosen.includes(change.place),
    );
  }

  /** Mark the places that would change, and list them. */
  list(found) {
    this.chooser.marks.changes(found);
    const box = document.querySelector("#changes");
    box.hidden = found.length === 0;
    box.replaceChildren(...found.map((change) => {
      const line = document.createElement("p");
      line.className = change.kind;
      line.textContent = change.now
        ? gettext("%(place)s: %(was)s becomes %(now)s", change)
        : gettext("%(place)s: %(was)s is removed", change);
      return line;
    }));
  }
}
