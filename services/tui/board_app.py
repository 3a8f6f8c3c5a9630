"""The board of a player: its keys, and what they do."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Final
from uuid import uuid4

import httpx
from textual import work
from textual.binding import Binding, BindingType
from textual.widgets import Input

from infra.languages.wording import N_
from services.client import ProblemError
from services.tui.background import AGAIN_SECONDS, in_thread
from services.tui.board_panes import DrawingPane
from services.tui.dialogs import HelpScreen, MenuScreen, QuestionScreen
from services.tui.drawn_board import DIRECTIONS, DrawnBoard
from services.tui.match_api import MatchApi
from services.tui.match_app import AGAIN_CODES, MatchApp, reason_of, sentence
from services.tui.move_choice import MoveChoice, move_with
from services.tui.shown_match import ShownMatch
from services.words.agreements import offer_button, own_offer

_PENDING: Final = "pending"
_PENDING_TIMES: Final = 5
"""How often a command is sent again whose outcome is not known yet."""

_RESUME: Final = "resume"


class BoardApp(MatchApp):
    """A board in the terminal."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "choose", N_("Choose")),
        Binding("escape", "step_back", N_("Back")),
        Binding("left,h", "step('left')", show=False),
        Binding("down,j", "step('down')", show=False),
        Binding("up,k", "step('up')", show=False),
        Binding("right,l", "step('right')", show=False),
        # at once, because the keys of the move may already wait behind this one
        Binding("colon,m", "type", N_("Type"), key_display=":", priority=True),
        Binding("o", "offer", N_("Offer")),
        Binding("a", "accept", show=False),
        Binding("r", "reject", show=False),
        Binding("x", "resign", show=False),
        Binding("n", "next", N_("Next")),
        Binding("left_square_bracket", "look(-1)", show=False),
        Binding("right_square_bracket", "look(1)", show=False),
        Binding("s", "size", show=False),
        Binding("question_mark", "help", N_("Help"), key_display="?"),
        Binding("q,ctrl+c", "quit", N_("Quit"), key_display="q"),
    ]

    @property
    def _watching(self) -> str:
        return self.words.gettext("You watch this match; only its players act in it.")

    def _say_failed(self, said: str) -> None:
        self.say(said, warns=True)

    # --- choosing

    def action_step(self, direction: str) -> None:
        """Move the cursor, or scroll where nothing can be chosen in that direction."""
        board, before = self.shown, self.choice.cursor
        if board and self.targets and self.choice.step(board, direction) != before:
            self.redraw()
        else:
            across, down = DIRECTIONS[direction]
            self.pane.scroll_relative(across * 2, down, animate=False)

    def action_choose(self) -> None:
        """Choose the place under the cursor, or play the move that is shown."""
        if self.looked:
            self._end_look()
        elif self.sending:
            self.say(self.words.gettext("The move is on its way."))
        elif self.choice.preview and not self.choice.cursor:
            self._play(self.choice.preview)
        elif self.choice.cursor:
            self._choose(self.choice.cursor)
        elif self.view is not None:
            self.say(self.view.turn_sentence if self.view.seats else self._watching)

    def on_drawing_pane_character_clicked(self, event: DrawingPane.CharacterClicked) -> None:
        """Choose the place that was clicked."""
        board = self.shown
        place = board.place_at(event.line, event.column) if board else None
        if place is None or self.looked or self.sending:
            return
        if self.view and self.view.may_move:
            self._choose(place)
        else:
            self.action_choose()

    def _choose(self, place: str) -> None:
        if not self.choice.choose(place):
            self.show_preview(move_with(self.choice.moves, self.choice.chosen, place))
            return
        whole = self.choice.found.whole
        self.say(self.choice.sentence(self.words) or self._prompt)
        self.redraw()
        if whole:
            self.show_preview(whole.text)

    @property
    def _prompt(self) -> str:
        return self.drawn.prompt if self.drawn else ""

    @work(exclusive=True, group="preview")
    async def show_preview(self, move: str) -> None:
        """Show the board after a move, or why it can't be played."""
        view, drawn = self.view, self.drawn
        if view is None or drawn is None:
            return
        read = partial(self.source.preview, view.board, view.ply, move, drawn.display)
        try:
            found = await in_thread(read)
        except ProblemError as problem:
            self.say(problem.detail.removeprefix(f"{move}: "), warns=True)
            return
        except httpx.TransportError as error:
            self.say(
                self.words.gettext(
                    "the server can't be reached, so the result can't be shown: %(reason)s",
                    reason=reason_of(error),
                ),
                warns=True,
            )
            return
        if self.view is None or self.view.moves != view.moves:
            return  # another position is on the board meanwhile
        self.choice.show(found)
        self.say(self._question(found))
        self.redraw()

    def _question(self, found: DrawnBoard) -> str:
        _ = self.words.gettext
        after = f" {found.next[:1].upper()}{found.next[1:]}." if found.next else ""
        if self.view is None or not self.view.may_move:
            said = _("After %(move)s, which is not played.", move=found.move)
            return f"{said}{after} " + _("Escape goes back.")
        if self.choice.targets:
            more = _("Enter plays it, Escape goes back; the arrows choose another place.")
        else:
            more = _("Enter plays it, Escape goes back.")
        return _("Play %(move)s?", move=found.move) + f" {more}{after}"

    def action_step_back(self) -> None:
        """Leave the field of a typed move, an earlier position, or the last chosen place."""
        if self.field.display:
            self._close_field()
        elif self.looked:
            self._end_look()
        elif self.choice.is_begun and not self.sending:
            self.workers.cancel_group(self, "preview")
            self.choice.back()
            self.say(self.choice.sentence(self.words) or self._prompt)
            self.redraw()

    # --- a typed move

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys that open the field to the field once it is open, and to a screen above."""
        del parameters
        if action != "type":
            return True
        return len(self.screen_stack) == 1 and not self.field.display

    def action_type(self) -> None:
        """Open the field for a move."""
        self.field.value, self.field.display = "", True
        self.set_focus(self.field)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Show the result of the typed move."""
        self._close_field()
        if event.value.strip():
            self._end_look()
            self.show_preview(event.value.strip())

    def _close_field(self) -> None:
        self.field.display = False
        self.set_focus(None)

    # --- commands

    def _play(self, preview: DrawnBoard) -> None:
        if self.view is None or not self.view.may_move:
            self.say(self.view.turn_sentence if self.view and self.view.seats else self._watching)
            return
        body = {"do": "move", "move": preview.move, "ply": preview.ply - 1}
        self.send_command(body, self.words.gettext("Played %(move)s.", move=preview.move))

    @work(group="send")
    async def send_command(self, body: Mapping[str, Any], done: str) -> None:
        """Send a command until it has an outcome; say `done` if it was accepted.

        It keeps its key, so it is carried out once, however often it has to be sent.
        """
        view = self.view
        if view is None or self.sending:
            return
        key, self.sending = uuid4().hex, True
        self.redraw()
        try:
            refused = await self._send_until_answered(
                partial(self.source.send, view, dict(body), key)
            )
        finally:
            self.sending = False
        if refused:
            self.reload(f"! {sentence(refused)}")
            return
        if self.choice.preview and body["do"] == "move":
            # the move that was shown is played, so it is neither drawn back nor sent a second time
            self.drawn, self.choice = self.choice.preview, MoveChoice()
        self.reload(done)

    async def _send_until_answered(self, request: partial[Any]) -> str:
        """Send a request until it is answered, and return why it was refused; empty if it was not."""
        pending = 0
        while True:
            try:
                await in_thread(request)
            except httpx.TransportError as error:
                self.set_broken(reason_of(error))
                self.say(
                    self.words.gettext("No answer yet. It is sent again, and carried out once.")
                )
            except ProblemError as problem:
                pending += problem.code == _PENDING
                if problem.code not in {*AGAIN_CODES, _PENDING} or pending > _PENDING_TIMES:
                    return problem.detail
                again = self.words.gettext("it is sent again, and carried out once")
                self.say(f"{problem.detail}; {again}", warns=True)
            else:
                return ""
            await asyncio.sleep(AGAIN_SECONDS)

    def action_accept(self) -> None:
        """Accept the open offer, or the match."""
        self._answer("accept", self.words.gettext("Accepted."))

    def action_reject(self) -> None:
        """Reject the open offer, or decline the match."""
        view, _ = self.view, self.words.gettext
        if view and view.waits_for_consent and view.seats and not view.foreign_offer:
            self._ask(_("Decline this match?"), {"do": "decline"}, _("Declined."))
        else:
            self._answer("reject", _("Rejected."))

    def _answer(self, verb: str, done: str) -> None:
        view = self.view
        if view is None or not view.seats:
            self.say(self._watching)
        elif view.foreign_offer or view.asks_to_accept:
            self.send_command({"do": verb}, done)
        else:
            self.say(self.words.gettext("There is no offer to answer."))

    def action_resign(self) -> None:
        """Resign, after a question."""
        if self._acts():
            _ = self.words.gettext
            self._ask(_("Resign this match?"), {"do": "resign"}, _("Resigned."))

    @work(exclusive=True, group="dialog")
    async def _ask(self, question: str, body: Mapping[str, Any], done: str) -> None:
        if await self.push_screen_wait(QuestionScreen(question, self.words)):
            self.send_command(body, done)

    @work(exclusive=True, group="dialog")
    async def action_offer(self) -> None:
        """Propose something, end a pause, or start a rematch."""
        view, _ = self.view, self.words.gettext
        if view is not None and view.may_rematch:
            await self._rematch(view)
            return
        if view is None or not self._acts():
            return
        try:
            kinds = await in_thread(partial(self.source.offers, view))
        except (ProblemError, httpx.TransportError) as error:
            self._say_failed(_("the offers can't be read: %(reason)s", reason=reason_of(error)))
            return
        if not kinds:
            self.say(
                self.words.gettext("Nothing can be proposed before all have accepted the match.")
            )
            return
        lines = {offer_button(kind, self.words): kind for kind in kinds}
        if view.is_paused:
            lines = {_("Resume the match"): _RESUME} | lines
        chosen = await self.push_screen_wait(MenuScreen(_("Propose"), [*lines], self.words))
        kind = lines.get(chosen, "")
        if kind == _RESUME:
            self.send_command({"do": "resume"}, _("The pause is over."))
        elif kind:
            self.send_command({"do": "offer", "kind": kind}, own_offer(kind, self.words))

    async def _rematch(self, view: ShownMatch) -> None:
        _ = self.words.gettext
        question = _("Start a rematch, with the sides exchanged?")
        if not await self.push_screen_wait(QuestionScreen(question, self.words)):
            return
        try:
            board = await in_thread(partial(self.source.rematch, view.board))
        except (ProblemError, httpx.TransportError) as error:
            self._say_failed(
                _("the rematch could not be started: %(reason)s", reason=reason_of(error))
            )
            return
        self.open_board(board)

    def _acts(self) -> bool:
        """Return whether the player can act in this match; say so if not."""
        if self.view is None:
            return False
        if not self.view.seats or self.view.is_over:
            self.say(self.view.turn_sentence if self.view.is_over else self._watching)
            return False
        return True

    # --- other boards

    @work(exclusive=True, group="next")
    async def action_next(self) -> None:
        """Go to the next match that waits for the player."""
        _ = self.words.gettext
        try:
            board = await in_thread(partial(self.source.next_board, self.board))
        except (ProblemError, httpx.TransportError) as error:
            self._say_failed(_("the matches can't be read: %(reason)s", reason=reason_of(error)))
            return
        if board is None:
            self.say(self.words.gettext("No other match is waiting for you."))
        else:
            self.open_board(board)

    @work(exclusive=True, group="look")
    async def action_look(self, by: int) -> None:
        """Look at an earlier position, or go on to the present one."""
        view, shown = self.view, self.looked or self.drawn
        if view is None or shown is None:
            return
        _ = self.words.gettext
        ply = min(max(0, shown.ply + by), view.ply)
        if ply == view.ply:
            self._end_look()
            return
        try:
            self.looked = await self.read_drawing(view, ply)
        except (ProblemError, httpx.TransportError) as error:
            self._say_failed(_("the position can't be read: %(reason)s", reason=reason_of(error)))
            return
        moved = _("%(move)s was played.", move=self.looked.move) if self.looked.move else ""
        where = _("After %(ply)s of %(all)s moves.", ply=ply, all=view.ply)
        self.say(
            " ".join(filter(None, (where, moved, _("] goes on, Escape goes to the present."))))
        )
        self.redraw()

    def _end_look(self) -> None:
        if self.looked:
            self.looked = None
            self.say(self.view.turn_sentence if self.view else "")
            self.redraw()

    def action_size(self) -> None:
        """Draw the board in the next of its displays."""
        if self.drawn is not None:
            displays = self.drawn.displays
            self.display_name = displays[(displays.index(self.drawn.display) + 1) % len(displays)]
            self.choice.restart()
            self.looked = None
            self.reload()

    def action_help(self) -> None:
        """Show the keys."""
        self.push_screen(HelpScreen(self.words))


def board_app(source: MatchApi, board: int) -> BoardApp:
    """Return the app for a match, with the keys at its foot in the player's language."""
    keys = [
        replace(one, description=source.words.gettext(one.description)) if one.description else one
        for one in BoardApp.BINDINGS
        if isinstance(one, Binding)
    ]

    class InLanguage(BoardApp, inherit_bindings=False):
        BINDINGS: ClassVar[list[BindingType]] = [*keys]

    return InLanguage(source, board)
